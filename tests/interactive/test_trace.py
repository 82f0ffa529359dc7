"""What a session records is what `mopsus check` reads, with the same verdicts."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.sessions import make
from interactive.test_rules import random_program
from interactive.test_session import TWICE, counting
from interactive.toy import ToyDebugger

import mopsus
from mopsus.interactive.debugger import Where
from mopsus.interactive.session import Session
from mopsus.interactive.trace import Recorder
from mopsus.model import Unavailable, Verdict

SLICED = """
P(x) {
    event read before(x; y, line) : line("0") && value(x = x, y = y, line = {1})
    event write before(x; y, line) : line("1") && value(x = x, y = y, line = {2})
    event other before(; y, line) : line("2") && value(y = y, line = {3})
    efsm:
        initialization { total = 0 }
        state init {
            transition { event read { return y < 4 } success { total += y } on failure bad }
            transition { event other success { total += line } }
        }
        state on accepting {
            transition { event write { return None if total % 2 else y > 2 } success { total += 1 } init failure bad }
            transition { event other success { return "bad" if total > 9 else "on" } }
        }
        state bad non-accepting { transition { event read success init } }
}
"""


def check(spec: str, trace, folder) -> list[tuple[str, object]]:
    """The verdicts of `mopsus check` on a recorded trace."""
    file = folder / "p.mop"
    file.write_text(spec)
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", "check", "--json", str(file), str(trace)], capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    return [(each["category"], each["binding"]) for each in json.loads(done.stdout)["verdicts"]]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_record_gives_the_same_verdicts(tmp_path, suffix):
    record = tmp_path / f"record.{suffix}"
    session, debugger = make(counting(), TWICE, record=str(record))
    session.start()
    debugger.cont()
    debugger.cont()
    session.close()
    assert debugger.ended
    found = check(TWICE, record, tmp_path)
    assert found == [(verdict.category, verdict.binding) for verdict in session.verdicts] == [("bad", {})] * 1


def test_each_of_several_properties_has_its_own_record(tmp_path):
    session, _ = make(counting(), TWICE, TWICE.replace("Twice", "Again"), TWICE, record=str(tmp_path / "r.csv"))
    session.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.Again.csv", "r.Twice.csv", "r.csv"]


def test_a_restored_checkpoint_cuts_off_what_came_after_it(tmp_path):
    record = tmp_path / "r.csv"
    session, debugger = make(counting(), TWICE, record=str(record))
    session.start()
    debugger.step()
    session.checkpoint()
    debugger.step()
    debugger.step()
    debugger.step()
    assert len(record.read_text().splitlines()) == 3
    session.restore(0)
    assert len(record.read_text().splitlines()) == 1
    debugger.cont()
    assert [line.split(",")[:2] for line in record.read_text().splitlines()] == [
        ["event", "seen"],
        *[["turn", str(x)] for x in range(3)],
    ]
    session.close()


def test_a_record_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(mopsus.MopsusError, match="cannot write the record"):
        make(counting(), TWICE, record=str(tmp_path / "none" / "r.csv"))


def essence(verdict: Verdict) -> tuple[object, ...]:
    """All but the data that a session remembers of the events of a witness."""
    events = [(item.event, item.location, item.time) for item in verdict.witness]
    return verdict.property, verdict.category, verdict.binding, verdict.location, verdict.time, events


@settings(max_examples=200, deadline=None)
@given(draw=st.randoms(use_true_random=False))
def test_the_verdicts_of_a_session_are_those_of_its_trace(draw: random.Random, tmp_path_factory):
    record = tmp_path_factory.mktemp("record") / "r.jsonl"
    program = random_program(draw)
    debugger = ToyDebugger(program, 80)
    session = debugger.driver = Session(debugger, record=str(record))
    spec = mopsus.parse(SLICED)["P"]
    session.add(spec, quiet=True)
    session.start()
    while not debugger.ended and debugger.fuel:
        debugger.cont()
    session.close()
    with spec.monitor() as monitor:
        for line in record.read_text().splitlines():
            row = json.loads(line)
            monitor.row(row["event"], row, time=row["time"], thread=row["thread"], location=row["location"])
    assert list(map(essence, monitor.verdicts)) == list(map(essence, session.verdicts))


class Thing:
    """An object of a program."""


def test_what_a_trace_cannot_say_has_a_name(tmp_path):
    spec = mopsus.parse("P(p) { event e(p; a, b, c, d) efsm: state init }")["P"]
    recorder = Recorder(tmp_path / "r.jsonl", spec)
    thing, other = Thing(), Thing()
    where = Where("f.c:1", "f", 1, 0.5)
    recorder.write("e", {"p": None, "a": thing, "b": other, "c": b"raw", "d": Unavailable("gone")}, where)
    recorder.write("e", {"p": 7, "a": thing, "b": None, "c": [1], "d": 1.5}, where)
    recorder.close()
    place = {"time": 0.5, "thread": 1, "location": "f.c:1", "event": "e"}
    assert [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()] == [
        {**place, "p": "None", "a": "Thing#1", "b": "Thing#2", "c": "raw"},
        {**place, "p": 7, "a": "Thing#1", "c": "list#3", "d": 1.5},
    ]
