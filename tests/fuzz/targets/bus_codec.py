"""Messages between processes: any verdict arrives as it was, and of damaged bytes nothing is made but what fits."""

from __future__ import annotations

import json
import math
from typing import Any

from fuzz.choices import Choices
from fuzz.errors import check_error

from mopsus.bus import BusError, pack, unpack
from mopsus.interactive.follow import Child
from mopsus.interactive.gdb.holding import Held, Legacy
from mopsus.interactive.gdb.order import GdbOrder
from mopsus.interactive.live.picture import (
    Automaton,
    Course,
    Happened,
    Monitor,
    Node,
    Now,
    Picture,
    Place,
    Program,
    Said,
    Saved,
    Slice,
    Source,
)
from mopsus.interactive.live.wire import Ready, Refused, Request, Wish
from mopsus.interactive.outcome import Doubt, Outcome, Stop
from mopsus.interactive.setup import Setup, Watched
from mopsus.model import Acceptance, Diagnostic, Fault, ObjectRef, Severity, Span, Step, Unseen, Verdict, WitnessEvent
from mopsus.model.drawing import Edge
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.model.value import Address
from mopsus.report.json import json_verdict
from mopsus.run.children import Counted
from mopsus.run.sidecar import Judged, LastWord
from mopsus.testing.wire import Caused, Finished, Seen
from mopsus.verdict import Ending

TEXTS = ("", "a", "é", "x\0", "\u2028", "<0.1.0>", "0x10", "nan", "-")
NUMBERS = (0, 1, -1, 2**30, 2**31, -(2**31), 2**63, 2**64, -(10**25), True, False, 0.5, -0.0, 1e300, math.inf, None)


FAULT = Fault("Files", "condition of event open", "files.mop:3", "KeyError", count=2)
UNSEEN = Unseen("Files", "open", span=Span("files.mop", 1, 2, 3, 4))
SETUP = Setup((Watched("q.prop", "s.scn", quiet=True),), ("./queue", "-x"), process=3, outcome="o")


def one(data: bytes) -> None:
    choices = Choices(data)
    if choices.flag():
        read(choices.pick(KINDS), choices.rest())
        return
    verdict = made(choices)
    assert repr(unpack(Verdict, pack(verdict))) == repr(verdict)
    json.dumps(json_verdict(verdict), allow_nan=False)
    message = choices.pick(messages(verdict))
    arrived = unpack(type(message), pack(message))
    assert repr(arrived) == repr(message)
    read(type(message), json.dumps(choices.damaged(json.loads(pack(message)))).encode())


def read(kind: type, data: bytes) -> None:
    try:
        found = unpack(kind, data)
    except BusError as error:
        check_error(error)
        return
    assert type(found) is kind
    assert repr(unpack(kind, pack(found))) == repr(found)


def messages(verdict: Verdict) -> list[object]:
    """One of each class that travels."""
    stats = {"Files": {"events": 3, "seen": {"open": 3}}}
    seen = Seen((verdict,), 3, "late")
    return [
        FAULT,
        Counted(3, {"Files": {"open": 3}}),
        Judged(verdict, stats),
        LastWord(stats, 1, ["<0.1.0>"], 1, [("<0.1.0>", 2, "why")], 1, endings=[Ending("a", "b", None, 2, [{"i": 1}])]),
        SETUP,
        GdbOrder(SETUP, (7, 8), 3),
        Legacy(3, Held("00", "01", "02", "03"), ({"monitor": "x"}, None)),
        Outcome(
            *((verdict,), stats, 3, Stop("why", None, ("main",)), "error", ("odd",), (FAULT,), (UNSEEN,)),
            *((Child(3, None, "why"),), (Doubt("a", "b", "why"),), 1),
        ),
        picture(),
        Refused(Wish.RESTORE, "why"),
        Request(Wish.RESTORE, 2),
        Ready("http://127.0.0.1:1/"),
        Caused((seen,)),
        Finished((seen,), {"Files": {"events": 3}}, {}, (FAULT,), (UNSEEN,), 1, 2, (Diagnostic("A-001", "odd"),)),
    ]


def picture() -> Picture:
    place = Place("a.py", 3, "main", "MainThread")
    automaton = Automaton("p", (Node("x", "", Acceptance.ACCEPTING),), (Edge(0, "e", 0),), 0, "one state", ("odd",))
    now, piece = Now("p", {0: 2}, (0,), (0,)), Slice("p", {"i": "1"}, "x", 0, None, 0, {"n": "2"})
    said = Said("p: match", True, "match", {"i": "1"}, place, ("first", "then"))
    return Picture(
        *(3, "gdb", Program(Course.STOPPED, "a", "why", ("so",), place, None), Source("a.py", 1, ("pass",), 1)),
        monitors=(Monitor(1, "p", (automaton,), (now,), (piece,), 1, 3, (said,), 1),),
        events=(Happened(1, 1, "e", {"i": "1"}, place, 0.5),),
        checkpoints=(Saved(1, place, "x"),),
    )


KINDS = [Verdict, *(type(each) for each in messages(Verdict("", "", "", None, False, {}, None, None, ())))]


def made(choices: Choices) -> Verdict:
    return Verdict(
        spec=choices.pick(TEXTS),
        property=choices.pick(TEXTS),
        category=choices.pick(TEXTS),
        truth=choices.pick((None, True, False)),
        final=choices.flag(),
        severity=choices.pick(list(Severity)),
        binding=binding(choices),
        witness=tuple(choices.some(3, lambda: witness(choices))),
        location=choices.pick((None, "a.py:3")),
        time=choices.pick((None, 0, 1.5, 2**70)),
        row=choices.pick((None, 1, 2**40)),
        steps=tuple(choices.some(2, lambda: step(choices))),
        remarks=tuple(choices.some(2, lambda: choices.pick(TEXTS))),
    )


def witness(choices: Choices) -> WitnessEvent:
    return WitnessEvent(
        event=choices.pick(TEXTS), binding=binding(choices), location=None, time=choices.pick((None, 2)), row=None
    )


def step(choices: Choices) -> Step:
    return Step(
        modality=choices.pick(TEXTS),
        event=choices.pick(TEXTS),
        data=tuple(choices.some(3, lambda: value(choices, 3))),
        fitted=choices.flag(),
        binding=binding(choices),
        unfolded=tuple(choices.some(2, lambda: choices.pick(TEXTS))),
        location=None,
        time=None,
        row=None,
    )


def binding(choices: Choices) -> dict[str, Any]:
    return {choices.pick(TEXTS): value(choices, 3) for _ in range(choices.below(3))}


def value(choices: Choices, depth: int) -> Any:
    kind = choices.below(10 if depth else 7)
    match kind:
        case 0 | 1:
            return choices.pick(NUMBERS)
        case 2:
            return choices.pick(TEXTS)
        case 3:
            return choices.piece()
        case 4:
            return choices.pick((Atom, Pid, Reference, String))(choices.pick(TEXTS))
        case 5:
            return Address(choices.below(1000))
        case 6:
            return ObjectRef(choices.pick(TEXTS), choices.below(9), choices.pick(TEXTS))
        case 7:
            return tuple(choices.some(3, lambda: value(choices, depth - 1)))
        case 8:
            return choices.some(3, lambda: value(choices, depth - 1))
    return {scalar(choices): value(choices, depth - 1) for _ in range(choices.below(3))}


def scalar(choices: Choices) -> Any:
    return choices.pick(TEXTS) if choices.flag() else choices.pick(NUMBERS)
