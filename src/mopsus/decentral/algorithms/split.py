"""The setup of a choreography: a formula split into monitors, each on the component that most of it is about.

A formula goes to the component that observes most of the propositions in it. Where an operand is mostly about another
component, a monitor there takes it over, and a reference stands in its place. Each monitor runs anew from every
timestamp at which its verdict may be asked for, so formulas must be about the future only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from mopsus.decentral.analysis.monitorability import depths
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Monitor, Specification
from mopsus.decentral.synthesis import REFERENCE, from_formula, references_in
from mopsus.decentral.system import System
from mopsus.logics.temporal.syntax import ASSOCIATIVE, PAST, Formula, Op, combine
from mopsus.logics.text import suggestion
from mopsus.logics.tree import MAX_DEPTH, walk


@dataclass(frozen=True, slots=True)
class Part:
    """A monitor of a choreography."""

    monitor: Monitor
    receivers: frozenset[str]
    """The monitors that it tells its verdicts."""
    respawns: bool
    """Its verdict may be asked for at other timestamps than the first."""

    @property
    def senders(self) -> frozenset[str]:
        """The monitors that tell it their verdicts."""
        return self.monitor.references


@dataclass(frozen=True, slots=True)
class Choreography:
    """Monitors by id, the root being `m0`."""

    parts: Mapping[str, Part]

    @property
    def specification(self) -> Specification:
        """The monitors as a decentralized specification."""
        return Specification({name: part.monitor for name, part in self.parts.items()}, _name(0))

    @property
    def depth(self) -> float:
        """How many rounds the root's verdict takes at least; infinity if some monitor is not monitorable."""
        return depths(self.specification)[_name(0)]


def split_formula(
    formula: Formula, system: System, synthesis: Callable[[Formula], Automaton] = from_formula
) -> Choreography:
    """The choreography of a formula over propositions of the system.

    `DecentralError` if it is about the past or reads what nobody observes; errors of `synthesis` are passed on.
    """
    splitter = _Splitter(system)
    splitter.split(_binary(formula))
    formulas, places = _compacted(splitter.formulas, splitter.places)
    monitors = {
        name: Monitor(name, synthesis(each), references_in(each), places[name], each) for name, each in formulas.items()
    }
    return Choreography(_connected(monitors))


class _Splitter:
    """Gives parts of a formula to components. `formulas` are what is left of them there, with references."""

    def __init__(self, system: System) -> None:
        self._owners = system.owners
        self.formulas: dict[str, Formula] = {}
        self.places: dict[str, str] = {}

    def split(self, formula: Formula) -> None:
        for part in walk(formula):
            self._check(part)
        scores = self._scores(formula)
        self._assign(formula, self._choose(scores) if scores else min(self._owners.values(), default=""))

    def _assign(self, formula: Formula, component: str) -> None:
        """Make a monitor of a formula."""
        self._fill(self._begin(component), formula)

    def _begin(self, component: str) -> str:
        """A monitor on a component, of which only the name is known."""
        name = _name(len(self.places))
        self.places[name] = component
        self.formulas[name] = Formula(Op.TRUE)
        return name

    def _fill(self, name: str, formula: Formula) -> Formula:
        """Give a monitor its formula; what stands for it elsewhere."""
        self.formulas[name] = self._kept(formula, self.places[name])
        return Formula(Op.ATOM, name=REFERENCE + name)

    def _kept(self, formula: Formula, here: str) -> Formula:
        """What is left of a formula on a component that observes a proposition of it."""
        if not formula.parts:
            return formula
        goes = self._leaving(*formula.parts, here) if len(formula.parts) == 2 else (here,)
        # An operand that moves has a number before the monitors that are made inside of both.
        moved = [None if component == here else self._begin(component) for component in goes]
        parts = tuple(
            self._kept(part, here) if name is None else self._fill(name, part)
            for part, name in zip(formula.parts, moved, strict=True)
        )
        return combine(formula.op, parts, interval=formula.interval, offset=formula.offset)

    def _leaving(self, left: Formula, right: Formula, here: str) -> tuple[str, str]:
        """Where both operands go; one of them stays, and then it is about this component too."""
        left_scores, right_scores = self._scores(left), self._scores(right)
        # A constant is about nothing and stays.
        one = self._choose(left_scores) if left_scores else here
        other = self._choose(right_scores) if right_scores else here
        if one == other == here:
            return here, here
        if one != here and (other == here or right_scores[here] > left_scores[here]):
            return one, here
        return here, other

    def _scores(self, formula: Formula) -> Counter[str]:
        """How often a formula speaks of propositions of each component."""
        return Counter(self._owners[part.name] for part in walk(formula) if part.op is Op.ATOM)

    def _choose(self, scores: Counter[str]) -> str:
        return min(scores, key=lambda component: (-scores[component], component))

    def _check(self, part: Formula) -> None:
        if part.op in PAST:
            raise DecentralError(
                f"a choreography cannot split a formula about the past: '{part.op.value}'", code="DECENTRAL-010"
            )
        if part.op is Op.ATOM and part.name not in self._owners:
            raise DecentralError(
                f"no component observes '{part.name}'",
                hint=suggestion(part.name, self._owners),
                code="DECENTRAL-022",
            )


def _name(number: int) -> str:
    return f"m{number}"


def _binary(formula: Formula) -> Formula:
    """The formula with two operands to each operator, taken together from the left, and without implications."""

    def joined(one: Formula, other: Formula) -> Formula:
        return replace(formula, parts=(one, other))

    parts = [_binary(part) for part in formula.parts]
    if formula.op is Op.IMPLIES:
        return replace(formula, op=Op.OR, parts=(combine(Op.NOT, (parts[0],)), parts[1]))
    if formula.op in ASSOCIATIVE:
        while len(parts) > MAX_DEPTH:  # so that no text exhausts the stack
            pairs = [parts[number : number + 2] for number in range(0, len(parts), 2)]
            parts = [reduce(joined, pair) for pair in pairs]
        return reduce(joined, parts)
    return replace(formula, parts=tuple(parts))


def _compacted(formulas: Mapping[str, Formula], places: Mapping[str, str]) -> tuple[dict[str, Formula], dict[str, str]]:
    """Monitors of the same formula made one, the last of them; ids without gaps, in the same order.

    So every monitor still comes after those that it sends to.
    """
    instead: dict[str, str] = {}
    kept: dict[tuple[str, Formula], str] = {}
    # Operands have higher numbers than what they are operands of, so their names are settled first.
    for name in reversed(list(formulas)):
        renamed = _renamed(formulas[name], instead)
        instead[name] = kept.setdefault((places[name], renamed), name)
    order = [name for name in formulas if instead[name] == name]
    names = {name: _name(order.index(instead[name])) for name in formulas}
    return (
        {names[name]: _renamed(formulas[name], names) for name in order},
        {names[name]: places[name] for name in order},
    )


def _renamed(formula: Formula, names: Mapping[str, str]) -> Formula:
    """The formula with other names of monitors."""
    if formula.op is Op.ATOM and formula.name.startswith(REFERENCE):
        return replace(formula, name=REFERENCE + names.get(formula.name[1:], formula.name[1:]))
    return replace(formula, parts=tuple(_renamed(part, names) for part in formula.parts))


def _connected(monitors: Mapping[str, Monitor]) -> dict[str, Part]:
    """Who tells whom, and who is asked again: by a monitor that is, or in a state that is not only the first."""
    parts: dict[str, Part] = {}
    for name, monitor in monitors.items():
        receivers = frozenset(other for other, its in monitors.items() if name in its.references)
        respawns = any(parts[other].respawns or _read_later(monitors[other].automaton, name) for other in receivers)
        parts[name] = Part(monitor, receivers, respawns)
    return parts


def _read_later(automaton: Automaton, name: str) -> bool:
    """Is an input read in a step that is not the first?"""
    later = {target for state in automaton.states for target in automaton.targets(state)}
    return any(name in automaton.missing(state, {}) for state in later)
