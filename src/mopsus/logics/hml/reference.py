"""Stage 2: the meaning of formulas with data, written from the definitions, slow and simple.

Three readings. *First match*: of the necessities of a conjunction the first that an event fits goes on alone. *Sets*:
every necessity that it fits goes on; one that it does not fit is dropped. *Linear*: a formula speaks of the trace, so a
necessity that an event does not fit is satisfied and a possibility violated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.formula import Formula, Junction, Maximum, Modality, Truth, Variable, Whole
from mopsus.logics.hml.matching import Environment, Happening, fits
from mopsus.model.symbolic import ACCEPTANCE, INCONCLUSIVE, REJECTION

Fixed: TypeAlias = "Mapping[str, Closure]"


@dataclass(frozen=True, eq=False)
class Closure:
    """A formula, and what its names mean."""

    formula: Formula
    environment: Environment
    fixed: Fixed


def categories_after(
    reading: Reading, whole: Whole, alphabet: tuple[str, ...], word: Sequence[str | Happening]
) -> frozenset[str]:
    """What is reported after a word of events; those given by name alone carry no data."""
    for each in word:
        if (each if isinstance(each, str) else each[0]) not in alphabet:
            raise ValueError(f"'{each}' is not an event")
    verdict = verdicts(reading, whole, [(each, ()) if isinstance(each, str) else each for each in word])[-1]
    return frozenset() if verdict is None else frozenset({verdict})


def verdicts(
    reading: Reading, whole: Whole, word: Sequence[Happening], *, first_match: bool = False
) -> list[str | None]:
    """The verdict before any event and after each; None: none yet, or not targeted at all."""
    environment: Environment = {}
    before: list[str | None] = []
    if whole.selection is not None:
        if not word:
            return [None]
        selected = fits(whole.selection, word[0], {})
        if selected is None:
            return [None] * (1 + len(word))
        environment, word, before = selected, word[1:], [None]
    start = Closure(whole.formula, environment, {})
    run = _linear if reading.linear else _first_match if first_match else _sets
    return [*before, *run(start, word)]


def _unfolded(closure: Closure) -> Closure:
    """The closure without fixed points on top."""
    formula, environment, fixed = closure.formula, closure.environment, closure.fixed
    match formula:
        case Maximum(name, body):
            # The binding of the name must know itself, so it is made first and filled in then.
            inner = dict(fixed)
            inner[name] = Closure(body, environment, inner)
            return _unfolded(inner[name])
        case Variable(name):
            return _unfolded(fixed[name])
    return closure


def _within(closure: Closure, formula: Formula) -> Closure:
    return Closure(formula, closure.environment, closure.fixed)


def _after(modality: Modality, closure: Closure, event: Happening) -> Closure | None:
    """What must hold after an event that fits the modality."""
    environment = fits(modality.action, event, closure.environment)
    return None if environment is None else Closure(modality.then, environment, closure.fixed)


# ---- first match -------------------------------------------------------------------------------


def _first_match(start: Closure, word: Sequence[Happening]) -> Iterator[str | None]:
    state: str | list[Closure] = _clauses(start)
    yield state if isinstance(state, str) else None
    for event in word:
        if not isinstance(state, str):
            state = _first_step(state, event)
        yield state if isinstance(state, str) else None


def _clauses(closure: Closure) -> str | list[Closure]:
    """The necessities of a conjunction in order, or the verdict that it is."""
    closure = _unfolded(closure)
    match closure.formula:
        case Truth(value):
            return INCONCLUSIVE if value else REJECTION
        case Modality():
            return [closure]
        case Junction(_, parts):
            found: list[Closure] = []
            for part in parts:
                inner = _clauses(_within(closure, part))
                if inner == REJECTION:
                    return REJECTION
                found += [] if isinstance(inner, str) else inner
            return found or INCONCLUSIVE
    raise AssertionError(closure)


def _first_step(clauses: list[Closure], event: Happening) -> str | list[Closure]:
    for clause in clauses:
        assert isinstance(clause.formula, Modality)
        after = _after(clause.formula, clause, event)
        if after is not None:
            return _clauses(after)
    return INCONCLUSIVE


# ---- sets --------------------------------------------------------------------------------------


def _sets(start: Closure, word: Sequence[Happening]) -> Iterator[str | None]:
    state: str | list[Closure] = _clauses(start)
    yield state if isinstance(state, str) else None
    for event in word:
        if not isinstance(state, str):
            state = _set_step(state, event)
        yield state if isinstance(state, str) else None


def _set_step(obligations: list[Closure], event: Happening) -> str | list[Closure]:
    kept: list[Closure] = []
    for obligation in obligations:
        assert isinstance(obligation.formula, Modality)
        after = _after(obligation.formula, obligation, event)
        inner = INCONCLUSIVE if after is None else _clauses(after)
        if inner == REJECTION:
            return REJECTION
        kept += [] if isinstance(inner, str) else inner
    return kept or INCONCLUSIVE


# ---- linear ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Both:
    """Monitors side by side: all must accept, or else one."""

    conjunction: bool
    parts: tuple[Monitor, ...]


Monitor: TypeAlias = "bool | Closure | Both"
"""A verdict, a modality that waits for an event, or several side by side."""


def _linear(start: Closure, word: Sequence[Happening]) -> Iterator[str | None]:
    state = _normal(start)
    yield _verdict(state)
    for event in word:
        state = _linear_step(state, event)
        yield _verdict(state)


def _verdict(state: Monitor) -> str | None:
    return (ACCEPTANCE if state else REJECTION) if isinstance(state, bool) else None


def _normal(closure: Closure) -> Monitor:
    closure = _unfolded(closure)
    match closure.formula:
        case Truth(value):
            return value
        case Junction(conjunction, parts):
            return _joined(conjunction, [_normal(_within(closure, part)) for part in parts])
    return closure


def _joined(conjunction: bool, parts: Sequence[Monitor]) -> Monitor:
    """No operand decides alone unless it is `ff` of an `and` or `tt` of an `or`; the opposite one says nothing."""
    if any(part is (not conjunction) for part in parts):
        return not conjunction
    left = [part for part in parts if part is not conjunction]
    if not left:
        return conjunction
    return left[0] if len(left) == 1 else Both(conjunction, tuple(left))


def _linear_step(state: Monitor, event: Happening) -> Monitor:
    match state:
        case Both(conjunction, parts):
            return _joined(conjunction, [_linear_step(part, event) for part in parts])
        case Closure(Modality() as modality):
            after = _after(modality, state, event)
            return modality.necessity if after is None else _normal(after)
    return state
