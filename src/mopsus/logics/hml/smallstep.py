"""Stage 2: the linear reading in small steps, with the names of their rules, as detectEr explains its verdicts.

Silent steps are taken until there are none, before the first event and after each. On top of a monitor the rules for
verdicts come first, in a fixed order, then unfolding, then the left operand, then the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from mopsus.logics.hml.formula import Junction, Maximum, Modality, Truth, Variable, Whole
from mopsus.logics.hml.matching import Happening, fits
from mopsus.logics.hml.reference import Closure


@dataclass(frozen=True, eq=False)
class Pair:
    """Two monitors side by side."""

    conjunction: bool
    left: Monitor
    right: Monitor


Monitor: TypeAlias = "bool | Closure | Pair"
"""A verdict, a formula that waits for an event or for being unfolded, or two monitors side by side."""


@dataclass(frozen=True)
class Derivation:
    """A step: the rule that it is by, and the steps of operands that it rests on."""

    rule: str
    premises: tuple[Derivation, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule}({', '.join(map(str, self.premises))})" if self.premises else self.rule


def derivations(whole: Whole, word: Sequence[Happening]) -> tuple[list[Derivation], bool | None]:
    """Every step over a word, and the verdict after it; None: none yet.

    Of a form, the first event is the start of a component that it is about.
    """
    environment = {} if whole.selection is None else fits(whole.selection, word[0], {})
    if environment is None:
        return [], None
    found: list[Derivation] = []
    state = _settled(_monitor(Closure(whole.formula, environment, {})), found)
    for event in word if whole.selection is None else word[1:]:
        step, state = _event_step(state, event)
        found.append(step)
        state = _settled(state, found)
    return found, state if isinstance(state, bool) else None


def _monitor(closure: Closure) -> Monitor:
    match closure.formula:
        case Truth(value):
            return value
        case Junction(conjunction, parts):
            monitors = [_monitor(Closure(part, closure.environment, closure.fixed)) for part in parts]
            return reduce(lambda left, right: Pair(conjunction, left, right), monitors)
    return closure


def _settled(state: Monitor, found: list[Derivation]) -> Monitor:
    """The monitor after all silent steps, which are added to `found`."""
    while (step := _silent_step(state)) is not None:
        found.append(step[0])
        state = step[1]
    return state


def _silent_step(state: Monitor) -> tuple[Derivation, Monitor] | None:
    match state:
        case Pair(conjunction, left, right):
            for rule, result in _verdict_rules(conjunction, left, right):
                return Derivation(rule), result
            if (step := _silent_step(left)) is not None:
                return Derivation("mTauL", (step[0],)), Pair(conjunction, step[1], right)
            if (step := _silent_step(right)) is not None:
                return Derivation("mTauR", (step[0],)), Pair(conjunction, left, step[1])
        case Closure(Maximum(name, body), environment, fixed):
            inner = dict(fixed)
            inner[name] = Closure(body, environment, inner)
            return Derivation("mRec"), _monitor(inner[name])
        case Closure(Variable(name), _, fixed):
            return Derivation("mRec"), _monitor(fixed[name])
    return None


def _verdict_rules(conjunction: bool, left: Monitor, right: Monitor) -> Iterator[tuple[str, Monitor]]:
    """The rules for a pair with a verdict in it that apply, in their order."""
    word = "Con" if conjunction else "Dis"
    for verdict, letter in ((True, "Y"), (False, "N")):
        decides = verdict is not conjunction
        if left is verdict:
            yield f"m{word}{letter}L", verdict if decides else right
        if right is verdict:
            yield f"m{word}{letter}R", verdict if decides else left


def _event_step(state: Monitor, event: Happening) -> tuple[Derivation, Monitor]:
    match state:
        case Pair(conjunction, left, right):
            first, left = _event_step(left, event)
            second, right = _event_step(right, event)
            return Derivation("mPar", (first, second)), Pair(conjunction, left, right)
        case Closure(Modality(necessity, action, then), environment, fixed):
            inner = fits(action, event, environment)
            if inner is None:
                return Derivation("mChsR", (Derivation("mAct"),)), necessity
            return Derivation("mChsL", (Derivation("mAct"),)), _monitor(Closure(then, inner, fixed))
    return Derivation("mVrd"), state
