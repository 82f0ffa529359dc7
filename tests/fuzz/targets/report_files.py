"""Files that reports read back: baselines, recordings of runs, kept automata, journals of verdicts.

The first byte says which; most are a good file with a few changes.
"""

from __future__ import annotations

import json
from typing import Any

from fuzz.choices import Choices
from fuzz.errors import check_error
from fuzz.files import file_of, folder

from mopsus.decentral.simulate.recording import load_recording
from mopsus.decentral.synthesis import Cache
from mopsus.model import MopsusError
from mopsus.report.baseline import read_baseline, write_baseline
from mopsus.report.journal import Journal

BASELINE = {"version": 1, "accepted": [{"spec": "S", "property": "ere", "category": "match", "place": "a.py::f"}]}
AUTOMATON = {"inputs": ["a"], "verdicts": [None, True], "roots": [0, -2], "nodes": [[0, -1, -2]]}
RECORDING: dict[str, Any] = {
    **{"version": 1, "title": "t", "algorithm": "orch", "components": {"A": ["a"], "B": []}, "rounds": 2, "length": 1},
    "monitors": [
        {"name": "m", "place": "A", "kind": "orchestrator", "automaton": AUTOMATON},
        {"name": "n", "place": "B", "kind": "forwarder"},
    ],
    "observations": [{"time": 1, "component": "A", "values": {"a": True}}],
    "steps": [{"round": 1, "monitor": "m", "start": 0, "end": 1, "entries": 2, "nodes": 3, "states": [0, 1]}],
    "messages": [{"sent": 1, "delivered": 2, "source": "n", "target": "m", "kind": "obs", "data": 1}],
    "findings": [{"round": 2, "monitor": "m", "time": 1, "verdict": True}],
    "faults": [{"round": 1, "kind": "crash", "who": ["n"]}],
}
FORMULA = "a U b"
LINE = {"number": 1, "spec": "S", "category": "match", "witness": []}
CACHE = Cache(folder() / "automata")
CACHE.automaton(FORMULA)
(KEPT,) = (folder() / "automata").iterdir()
STORED = json.loads(KEPT.read_bytes())


def one(data: bytes) -> None:
    choices = Choices(data)
    which, raw = choices.below(4), choices.flag()
    good = (BASELINE, RECORDING, STORED, LINE)[which]
    content = choices.rest() if raw else json.dumps(choices.damaged(good)).encode()
    try:
        (baseline, recording, automaton, journal)[which](content)
    except MopsusError as error:
        check_error(error)


def baseline(content: bytes) -> None:
    accepted = read_baseline(file_of("baseline.json", content))
    path = folder() / "again.json"
    write_baseline(path, (each.fingerprint for each in accepted), accepted)
    again = read_baseline(path)
    assert {each.fingerprint for each in again} == {each.fingerprint for each in accepted}


def recording(content: bytes) -> None:
    load_recording(file_of("recording.json", content))


def automaton(content: bytes) -> None:
    """What is damaged is made anew; what is not, but says something else, is somebody's own doing."""
    KEPT.write_bytes(content)
    CACHE.automaton(FORMULA)


def journal(content: bytes) -> None:
    path = folder() / "verdicts.jsonl"
    path.write_bytes(content if content.endswith(b"\n") else content + b"\n")
    read = Journal(path)
    try:
        read.restore({"size": 0, "numbers": {}, "known": {}})
    finally:
        read.close()
