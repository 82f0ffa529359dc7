"""What other processes of a run tell: all that is whole is taken, and nothing that is damaged."""

from __future__ import annotations

import os

import pytest

from mopsus.bus import framed, pack
from mopsus.model import Fault, Severity, Verdict, WitnessEvent
from mopsus.run.children import Counted, Outbox, read_messages
from mopsus.run.sidecar import Judged, LastWord, Sidecar
from mopsus.verdict import Ending

VERDICT = Verdict(
    *("HasNext", "ere", "match", False, True, {"i": b"\xff"}, "app.py:3", 1.5),
    (WitnessEvent("next", {"i": (1, ["a"])}, "app.py:3", 1.5),),
    Severity.WARNING,
)
FAULT = Fault("HasNext", "condition of event next", "a.mop:3", "KeyError")
COUNTED = Counted(7, {"HasNext": {"next": 7}})
DAMAGED = (framed(b"{}"), framed(b"[" * 100_000), framed(b'{"Counted":{"events":"7","seen":{}}}'))


def test_a_process_tells_verdicts_faults_and_counts(tmp_path):
    outbox = Outbox(str(tmp_path))
    outbox.add(VERDICT)
    known: dict[str, int] = {}
    assert list(read_messages(str(tmp_path), known)) == [VERDICT]
    outbox.add_fault(FAULT)
    outbox.add_fault(FAULT)
    outbox.close(7, {"HasNext": {"next": 7}})
    outbox.add(VERDICT)  # after the last word nothing is said
    assert list(read_messages(str(tmp_path), known)) == [FAULT, FAULT, COUNTED]
    assert list(read_messages(str(tmp_path), known)) == []


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_message_of_a_process_is_left_out(tmp_path, damaged):
    (tmp_path / "1-a").write_bytes(framed(pack(VERDICT)) + damaged + framed(pack(COUNTED)))
    assert list(read_messages(str(tmp_path), {})) == [VERDICT, COUNTED]


def test_what_was_cut_off_is_taken_when_it_is_whole(tmp_path):
    whole = framed(pack(VERDICT)) + framed(pack(COUNTED))
    known: dict[str, int] = {}
    found = []
    for end in range(0, len(whole) + 1, 50):
        (tmp_path / "1-a").write_bytes(whole[:end])
        found += read_messages(str(tmp_path), known)
    (tmp_path / "1-a").write_bytes(whole)
    assert [*found, *read_messages(str(tmp_path), known)] == [VERDICT, COUNTED]


def test_a_length_that_cannot_be_meant_ends_what_a_process_tells(tmp_path):
    (tmp_path / "1-a").write_bytes(framed(pack(VERDICT)) + b"\xff" * 100)
    (tmp_path / "2-b").write_bytes(framed(pack(COUNTED)))
    assert list(read_messages(str(tmp_path), {})) == [VERDICT, COUNTED]


@pytest.fixture
def sidecar():
    reading, writing = os.pipe()
    made = Sidecar(0, reading)
    yield made, writing
    os.close(writing)
    made.pipe.close()


def test_a_monitor_process_tells_verdicts_faults_and_its_last_word(sidecar):
    made, writing = sidecar
    stats = {"HasNext": {"events": 3}}
    last = LastWord(stats, 1, ["<0.1.0>"], 1, [("<0.2.0>", 3, "why")], 1, 0, [Ending("a", "b", None, 1, [{"i": 1}])])
    for message in (Judged(VERDICT, {"HasNext": {"events": 2}}), FAULT):
        os.write(writing, framed(pack(message)))
    assert list(made.read()) == [VERDICT, FAULT]
    assert made.stats == {"HasNext": {"events": 2}}
    os.write(writing, framed(pack(last)))
    assert list(made.read()) == []
    assert (made.last, made.stats, made.gone) == (last, stats, False)


@pytest.mark.parametrize("damaged", [*DAMAGED, b"\xff" * 100, framed(pack(COUNTED))])
def test_a_monitor_process_that_tells_what_cannot_be_read_is_broken(sidecar, damaged):
    """It was an internal error once, and the program was left alone."""
    made, writing = sidecar
    os.write(writing, damaged[:60_000])
    if len(damaged) > 60_000:
        assert list(made.read()) == []
        os.write(writing, damaged[60_000:])
    assert list(made.read()) == []
    assert made.gone
    assert made.last is None
