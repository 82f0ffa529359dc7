"""Trace files, folders and lines: read, written, refused."""

from __future__ import annotations

import os
import random

import pytest
from decentral.support import OWN, traces
from hypothesis import given
from oracle.damage import damage

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.traces import (
    component_letter,
    default_components,
    format_event,
    parse_event,
    parse_trace,
    read_run,
    read_trace,
    system_of,
    write_run,
    write_trace,
)


@given(trace=traces())
def test_events_as_text(trace):
    for events in trace:
        for event in events.values():
            assert parse_event(format_event(event)) == event
    whole = [events["A"] for events in trace]
    assert parse_trace(">".join(map(format_event, whole))) == tuple(whole)


def test_lines():
    assert parse_event("a0:t, a1:f") == {"a0": True, "a1": False}
    assert parse_event("  ") == {}
    assert parse_event("a:t,a:t") == {"a": True}
    assert parse_trace("a:t> >a:f") == ({"a": True}, {}, {"a": False})
    assert parse_trace("") == ()


@pytest.mark.parametrize("text", ["a", "a:x", ":t", "a:t,", "a:t,a:f", "a b:t", "1:t"])
def test_bad_events(text, tmp_path):
    with pytest.raises(ValueError, match=r"no observation|both"):
        parse_event(text)
    with pytest.raises(DecentralError) as caught:
        parse_trace(f"b:t>{text}")
    assert (caught.value.code, caught.value.place.column) == ("DECENTRAL-041", 5)
    file = tmp_path / "x.trace"
    file.write_text(f"b:t\n\n{text}\n")
    with pytest.raises(DecentralError) as caught:
        list(read_trace(file))
    assert (caught.value.place.file, caught.value.place.line) == (str(file), 3)


def test_folders(tmp_path):
    run = {"A": ({"a0": True}, {}, {"a0": False}), "B": ({"b0": False},)}
    write_run(tmp_path / "traces", 3, run)
    assert sorted(path.name for path in (tmp_path / "traces").iterdir()) == ["3-a.trace", "3-b.trace"]
    assert read_run(tmp_path / "traces", 3, 2) == run
    assert read_run(tmp_path / "traces", 3, 1) == {"A": run["A"]}
    assert system_of(run).components == {"A": ("a0",), "B": ("b0",)}
    with pytest.raises(DecentralError, match=r"3-c\.trace does not exist") as caught:
        read_run(tmp_path / "traces", 3, 4)
    assert caught.value.code == "DECENTRAL-040"
    assert "3-d.trace" in caught.value.hint
    with pytest.raises(DecentralError) as caught:
        system_of({"A": ({"a": True},), "B": ({"a": True},)})
    assert caught.value.code == "DECENTRAL-020"


def test_unreadable_files(tmp_path):
    (tmp_path / "x").write_bytes(b"a:t\n\xff")
    for path in (tmp_path / "nothing", tmp_path, tmp_path / "x"):
        with pytest.raises(DecentralError) as caught:
            list(read_trace(path))
        assert caught.value.code == "DECENTRAL-040"


def test_names():
    assert [component_letter(number) for number in (0, 25, 26, 27, 52, 702)] == ["a", "z", "aa", "ab", "ba", "aaa"]
    assert default_components(2, 2) == {"A": ("a0", "a1"), "B": ("b0", "b1")}
    assert set(OWN) <= set(default_components(3, 2))


def test_damaged_files_are_read_or_refused(tmp_path):
    source = random.Random(3)
    file = tmp_path / "x.trace"
    write_trace(file, [{"a0": True, "a1": False}, {}, {"a0": False}] * 5)
    text, codes = file.read_text(), set()
    for _ in range(int(os.environ.get("MOPSUS_CASES", "3000")) // 10):
        file.write_text(damage(text, source, [":", ",", "t", "\n", ">", "é", "\0", "a0:t"]))
        try:
            list(read_trace(file))
        except DecentralError as error:
            codes.add(error.code)
    assert codes == {"DECENTRAL-041"}
