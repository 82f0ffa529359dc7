"""Automata of monitors from what people write: formulas over propositions, other finite logics, transitions.

Finite logics speak of events, automata of monitors read valuations. A proposition that is true at a timestamp is an
event of that name that happens then; several happen one after the other, in the order in which the events are
declared; if none is true, the machine does not move. The verdict is the first category that the property reports:
true for `match`, `validation` and `succeed`, false for `fail` and `violation`, and for others what `truth` says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from itertools import starmap
from pathlib import Path

import msgspec

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.logics.logic import FormulaError
from mopsus.logics.ltl.determine import Deterministic
from mopsus.logics.ltl.letters import Join, Valuations, Work
from mopsus.logics.ltl.symbolic import SymbolicMonitor, minimise, synthesise
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.machines.compare import NEGATIVE, POSITIVE
from mopsus.logics.temporal.syntax import FUTURE, PAST, Formula, Op, events_of, print_formula
from mopsus.logics.tree import walk
from mopsus.model import UNDECODABLE, Machine, TableMachine

REFERENCE = "@"
"""Begins the name of a monitor in a formula."""


def references_in(formula: Formula) -> frozenset[str]:
    """The ids of the monitors that a formula refers to."""
    return frozenset(name[1:] for name in events_of(formula) if name.startswith(REFERENCE))


def from_formula(formula: Formula | str, *, timeout_s: float | None = None) -> Automaton:
    """The minimal automaton of a formula of linear temporal logic over propositions and references (`@id`).

    `FormulaError` if the formula is wrong, `LogicError` if its automaton is too large or not found in time.
    """
    if isinstance(formula, str):
        formula = parse_over_propositions(formula)
    _check_names([formula])
    return _exported(synthesise(formula, timeout_s=timeout_s))


def from_machine(machine: Machine, truth: Mapping[str, bool] | None = None) -> Automaton:
    """The minimal automaton of a property of a finite logic; `truth` says what categories mean that have no truth
    value of their own."""
    if not isinstance(machine, TableMachine):
        raise DecentralError(
            "the property needs more than finitely many states",
            hint="use a logic with a finite table: fsm, ere, ptltl, ltl, hoa",
            code="DECENTRAL-010",
        )
    meaning = {category: _truth(category, machine, truth or {}) for category in sorted(machine.goal)}
    # Nothing is reported before the first event, unless it holds for good: so there is a state of its own for that.
    verdicts = [
        _verdict(held & machine.goal, meaning) for held in (*machine.categories, machine.final[machine.initial])
    ]
    table = (*machine.table, machine.table[machine.initial])
    letters = Valuations(machine.alphabet, Work())
    return automaton_of(verdicts, _in_order(table, verdicts, letters), letters, len(machine.table))


def from_transitions(
    verdicts: Sequence[bool | None], transitions: Collection[tuple[int, Formula | str, int]]
) -> Automaton:
    """The minimal automaton with these transitions, each from a state under a Boolean condition to a state.

    State 0 is the initial one. Conditions of transitions between the same states are alternatives; where none
    holds, the state stays. `DecentralError` if two states can follow at once.
    """
    read = [
        (source, parse_over_propositions(label) if isinstance(label, str) else label, target)
        for source, label, target in transitions
    ]
    _check_names([label for _, label, _ in read])
    for _, label, _ in read:
        for part in walk(label):
            if part.op in PAST | FUTURE:
                raise FormulaError(f"a condition has no '{part.op.value}'", offset=part.offset, code="LOGIC-015")
    spoken = dict.fromkeys(part.name for _, label, _ in read for part in walk(label) if part.op is Op.ATOM)
    letters = Valuations(tuple(spoken), Work())
    count = len(verdicts)
    unset, conflict = count, count + 1
    steps = [letters.constant(unset)] * count
    for source, label, target in read:
        if verdicts[source] is not None and target != source:
            raise DecentralError(f"state {source} has a verdict, which is final, and is left", code="DECENTRAL-010")

        def taken(before: int, holds: int, target: int = target) -> int:
            return before if not holds else target if before in (unset, target) else conflict

        steps[source] = letters.join(taken, steps[source], _boolean(label, letters), {})
        if conflict in letters.values(steps[source]):
            raise DecentralError(
                f"two states can follow state {source} at once",
                hint="make its conditions exclude each other",
                code="DECENTRAL-010",
            )

    def filled(state: int, step: int) -> int:
        return letters.map(lambda value: state if value == unset else value, step, {})

    return automaton_of(verdicts, list(starmap(filled, enumerate(steps))), letters)


class Cache:
    """Automata of formulas in a folder, so that none is made twice. Files that are damaged are made anew."""

    def __init__(self, folder: Path, *, timeout_s: float | None = None) -> None:
        self._folder = folder
        self._timeout_s = timeout_s

    def automaton(self, formula: Formula | str) -> Automaton:
        """Like `from_formula`."""
        if isinstance(formula, str):
            formula = parse_over_propositions(formula)
        text = print_formula(formula)
        path = self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
        try:
            stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
        except (OSError, *UNDECODABLE):
            stored = None
        if stored is not None and (stored.version, stored.formula) == (_VERSION, text):
            return stored.automaton
        made = from_formula(formula, timeout_s=self._timeout_s)
        self._folder.mkdir(parents=True, exist_ok=True)
        # Others may read or write the same file now.
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_bytes(msgspec.json.encode(_Stored(_VERSION, text, made)))
        draft.replace(path)
        return made


_VERSION = 1


class _Stored(msgspec.Struct, frozen=True):
    version: int
    formula: str
    automaton: Automaton


def _truth(category: str, machine: Machine, given: Mapping[str, bool]) -> bool:
    value = given.get(category, machine.truth.get(category))
    if value is not None:
        return value
    if category in POSITIVE | NEGATIVE:
        return category in POSITIVE
    raise DecentralError(
        f"it is not said whether '{category}' means true or false",
        hint=f"give its truth value: truth = {{ {category} = false }}",
        code="DECENTRAL-011",
    )


def _verdict(held: Collection[str], meaning: Mapping[str, bool]) -> bool | None:
    values = {meaning[category] for category in held}
    if len(values) > 1:
        raise DecentralError(
            f"a state is {' and '.join(sorted(held))} at once, which mean true and false", code="DECENTRAL-011"
        )
    return next(iter(values), None)


def _in_order(table: Sequence[Sequence[int]], verdicts: Sequence[bool | None], letters: Valuations) -> list[int]:
    """Of each state, the diagram of a step in which the true events happen in the order of the alphabet.

    From the last event to the first, so that what follows an event is there when it is looked at.
    """
    after = [letters.constant(state) for state in range(len(table))]
    for letter in reversed(range(len(letters.propositions))):
        after = [
            letters.make(letter, after[state], after[row[letter]]) if verdicts[state] is None else ~state
            for state, row in enumerate(table)
        ]
    return after


def _check_names(formulas: Sequence[Formula]) -> None:
    names = frozenset[str]().union(*map(events_of, formulas))
    for formula in formulas:
        for part in walk(formula):
            if part.op is Op.ATOM and part.name.startswith(REFERENCE) and part.name[1:] in names:
                raise FormulaError(
                    f"'{part.name[1:]}' is the name of a monitor and of a proposition",
                    offset=part.offset,
                    length=len(part.name),
                    hint="rename one of them",
                    code="DECENTRAL-012",
                )


def _boolean(formula: Formula, letters: Valuations) -> int:
    """A formula without temporal operators as a diagram with the values 0 and 1."""
    if formula.op is Op.ATOM:
        return letters.atom(formula.name, 1, 0)
    parts = [_boolean(part, letters) for part in formula.parts]
    match formula.op:
        case Op.TRUE | Op.FALSE:
            return letters.constant(int(formula.op is Op.TRUE))
        case Op.NOT:
            return letters.map(lambda value: 1 - value, parts[0], {})
    result = parts[0]
    for part in parts[1:]:
        result = letters.join(_CONNECTIVES[formula.op], result, part, {})
    return result


_CONNECTIVES: Mapping[Op, Join] = {
    Op.AND: lambda one, other: one & other,
    Op.OR: lambda one, other: one | other,
    Op.XOR: lambda one, other: one ^ other,
    Op.IMPLIES: lambda one, other: (1 - one) | other,
    Op.IFF: lambda one, other: int(one == other),
}


def automaton_of(
    verdicts: Sequence[bool | None], steps: Sequence[int], letters: Valuations, initial: int = 0
) -> Automaton:
    """The minimal automaton of states with these verdicts and diagrams of `letters`; not all need be reachable."""
    order = [initial, *(state for state in range(len(steps)) if state != initial)]
    number = {state: place for place, state in enumerate(order)}
    memo: dict[int, int] = {}
    following = [
        letters.map(number.__getitem__, steps[state], memo) if verdicts[state] is None else ~number[state]
        for state in order
    ]
    return _exported(minimise(Deterministic([verdicts[state] for state in order], following, []), letters))


def _exported(monitor: SymbolicMonitor) -> Automaton:
    """A synthesised monitor as an automaton: only the nodes and inputs that it needs, numbered from its states on."""
    numbers: dict[int, int] = {}
    order: list[int] = []
    stack = [step for step in reversed(monitor.steps) if step >= 0]
    while stack:
        place = stack.pop()
        if place in numbers:
            continue
        numbers[place] = len(order)
        order.append(place)
        stack += [child for child in reversed(monitor.letters.node(place)[1:]) if child >= 0]
    tested = sorted({monitor.letters.node(place)[0] for place in order})
    level = {old: new for new, old in enumerate(tested)}

    def target(place: int) -> int:
        return place if place < 0 else numbers[place]

    return Automaton(
        tuple(monitor.letters.propositions[old].removeprefix(REFERENCE) for old in tested),
        monitor.verdicts,
        tuple((level[test], target(low), target(high)) for test, low, high in map(monitor.letters.node, order)),
        tuple(map(target, monitor.steps)),
    )
