"""Stage 2: a formula of ptcaret made into steps over bits, equal parts computed once."""

from __future__ import annotations

from mopsus.logics.logic import Request
from mopsus.logics.ptcaret.syntax import Caret, print_caret
from mopsus.logics.temporal.syntax import Formula, Op
from mopsus.model import CaretMachine, CaretStep
from mopsus.model.machine import EXHAUSTED


def compile_caret(caret: Caret, request: Request) -> CaretMachine:
    """The machine of the formula; it reports at every event."""
    goal = request.goal | {EXHAUSTED}
    unknown = {event: frozenset({frozenset[str]()}) for event in request.alphabet}
    return CaretMachine(
        alphabet=request.alphabet,
        goal=goal,
        creation=frozenset(request.alphabet),
        enable={category: {} for category in goal},
        coenable=dict.fromkeys(goal, unknown),
        truth={"validation": True, "violation": False},
        roles=tuple(caret.role.get(event, "") for event in request.alphabet),
        steps=_Steps(caret, request.alphabet).all(),
        text=print_caret(caret),
        alive=frozenset(frozenset({event}) for event in request.alphabet),
        restart=goal if request.interrupted else request.restart,
    )


class _Steps:
    """The steps of a formula, operands before operators."""

    def __init__(self, caret: Caret, alphabet: tuple[str, ...]) -> None:
        self._caret = caret
        self._alphabet = alphabet
        self._numbers: dict[CaretStep, int] = {}

    def all(self) -> tuple[CaretStep, ...]:
        result = self._formula(self._caret.formula)
        steps = tuple(self._numbers)
        # The formula may be a part of itself that was met before: its value is that of the last step.
        return steps if result == len(steps) - 1 else (*steps, CaretStep("or", result, result))

    def _add(self, step: CaretStep) -> int:
        return self._numbers.setdefault(step, len(self._numbers))

    def _not(self, value: int) -> int:
        return self._add(CaretStep("not", value))

    def _formula(self, formula: Formula) -> int:
        parts = [self._formula(part) for part in formula.parts]
        match formula.op:
            case Op.TRUE:
                return self._add(CaretStep("true"))
            case Op.FALSE:
                return self._not(self._add(CaretStep("true")))
            case Op.ATOM:
                return self._add(CaretStep("event", self._alphabet.index(formula.name)))
            case Op.NOT:
                return self._not(parts[0])
            case Op.AND | Op.OR | Op.XOR:
                value = parts[0]
                for part in parts[1:]:
                    value = self._add(CaretStep(formula.op.value, value, part))
                return value
            case Op.IMPLIES:
                return self._add(CaretStep("or", self._not(parts[0]), parts[1]))
            case Op.IFF:
                return self._not(self._add(CaretStep("xor", parts[0], parts[1])))
            case Op.AT:
                return self._at(formula.mode, parts[0])
        return self._temporal(formula, parts)

    def _at(self, mode: str, value: int) -> int:
        found = self._add(CaretStep("at", value, memory="stack", kinds=self._caret.opened_by(mode)))
        if mode == "c" and "begin" in self._caret.role.values():
            # The current method is the one that has begun last; what it was called from was settled then.
            return self._add(CaretStep("at", found, memory="stack", kinds=("begin",)))
        return found

    def _temporal(self, formula: Formula, parts: list[int]) -> int:
        memory = {"": "plain", "a": "abstract"}.get(formula.mode, "stack")
        kinds = self._caret.opened_by(formula.mode) if memory == "stack" else ()
        match formula.op:
            case Op.PREVIOUS | Op.WEAK_PREVIOUS:
                weak = formula.op is Op.WEAK_PREVIOUS
                return self._add(CaretStep("previous", parts[0], memory=memory, initial=weak))
            case Op.ONCE:
                always = self._add(CaretStep("true"))
                return self._add(CaretStep("since", always, parts[0], memory, False, kinds))
            case Op.HISTORICALLY:
                never = self._not(self._add(CaretStep("true")))
                return self._add(CaretStep("trigger", never, parts[0], memory, True, kinds))
            case Op.SINCE:
                return self._add(CaretStep("since", parts[0], parts[1], memory, False, kinds))
            case Op.TRIGGER:
                return self._add(CaretStep("trigger", parts[0], parts[1], memory, True, kinds))
        raise ValueError(f"not an operator of ptcaret: {formula.op}")
