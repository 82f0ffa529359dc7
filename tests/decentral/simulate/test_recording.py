"""Recordings in files: what was saved is read again, and what is no recording is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from ui.recordings import light, recordings

from mopsus.decentral.simulate.recording import RecordingError, load_recording, save_recording


@given(recording=recordings())
def test_what_is_saved_is_read_again(tmp_path_factory, recording):
    path = tmp_path_factory.getbasetemp() / "recording.json"
    save_recording(path, recording)
    assert load_recording(path) == recording


def changed(tmp_path, **fields):
    path = tmp_path / "recording.json"
    save_recording(path, light())
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    return path


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"version": 2}, "has version 2, and only version 1 can be read"),
        ({"rounds": "six"}, "Expected `int`, got `str` - at `$.rounds`"),
        ({"monitors": [{"name": "m", "place": "attic", "kind": "python"}]}, "'m' is on 'attic', which is not there"),
        (
            {"messages": [{"sent": 1, "delivered": 2, "source": "main", "target": "who", "kind": "Kill"}]},
            "called 'who'",
        ),
        ({"findings": [{"round": 1, "monitor": "who", "time": 1, "verdict": True}]}, "nothing is called 'who'"),
        ({"observations": [{"time": 1, "component": "attic", "values": {}}]}, "nothing is called 'attic'"),
        ({"steps": [{"round": 1, "monitor": "main", "states": [3]}]}, r"'main' has no state \[3\]"),
        ({"steps": [{"round": 1, "monitor": "lamp", "states": [0]}]}, r"'lamp' has no state \[0\]"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path, fields, words):
    with pytest.raises(RecordingError, match=words.replace("$", r"\$")) as caught:
        load_recording(changed(tmp_path, **fields))
    assert caught.value.code == "DECENTRAL-060"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b'{"version": 1}', b'{"version": "1"}', b'{"x":' + b"[" * 100_000]
)
def test_what_is_no_recording_is_refused(tmp_path, data):
    path = tmp_path / "recording.json"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match="is not a recording"):
        load_recording(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RecordingError, match=r"none\.json: No such file"):
        load_recording(tmp_path / "none.json")
