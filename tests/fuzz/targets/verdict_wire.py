"""Verdicts as plain data: any of them, packed, sent as MessagePack or JSON and unpacked, is the same."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
from fuzz.choices import Choices

from mopsus.interactive.outcome import Outcome
from mopsus.model import Fault, ObjectRef, Severity, Step, Verdict, WitnessEvent
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.model.value import Address
from mopsus.report.json import json_verdict
from mopsus.verdict.wire import pack_fault, pack_verdict, unpack_fault, unpack_verdict

TEXTS = ("", "a", "é", "x\0", "\u2028", "<0.1.0>", "0x10", "nan", "-")
NUMBERS = (0, 1, -1, 2**30, 2**31, -(2**31), 2**63, 2**64, -(10**25), True, False, 0.5, -0.0, 1e300, math.inf, None)


def one(data: bytes) -> None:
    choices = Choices(data)
    verdict = made(choices)
    packed = pack_verdict(verdict)
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(packed), type=dict[str, Any])
    assert repr(unpack_verdict(sent)) == repr(unpack_verdict(packed)) == repr(verdict)
    json.dumps(json_verdict(verdict), allow_nan=False)
    fault = Fault(*(choices.pick(TEXTS) for _ in range(4)))
    assert unpack_fault(msgspec.msgpack.decode(msgspec.msgpack.encode(pack_fault(fault)))) == fault
    outcome = Outcome(verdicts=(verdict,), faults=(fault,), status=3)
    Outcome.from_json(outcome.to_json())


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
