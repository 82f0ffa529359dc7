"""Stage 3: the slices of a monitor as others see them, and which events can matter to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mopsus import _core
from mopsus.model import GuardedMachine, Machine, TableMachine

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """An instance of a property: which values it is about, and where it stands."""

    property: str
    binding: dict[str, Any]
    state: str
    environment: dict[str, Any]
    """Its variables. Of a guarded machine they are the very ones: what is changed here is changed there."""
    parent: Slice | None = None
    """The one that it began as a copy of, if that is still there."""
    reference: _core.Instance = field(default=(0, 0, 0, 0), repr=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where all slices are, without making any of them: of very many, few are looked at one by one."""

    places: dict[Hashable, Hashable]
    """By slice, in the order in which they were made."""
    states: Callable[[Any], Sequence[tuple[str, str]]]
    """What a place means: names of properties, and of their states."""
    take: Callable[[Collection[Hashable]], Mapping[Hashable, Sequence[Slice]]]
    """Make some of the slices; where one stands for all properties, one for each."""


class Reader:
    """Slices, from what the core says of them."""

    def __init__(
        self,
        core: _core.Monitor,
        properties: tuple[str, ...],
        machines: tuple[Machine, ...],
        parameters: tuple[str, ...],
    ) -> None:
        self._core = core
        self._properties, self._machines, self._parameters = properties, machines, parameters
        self._guarded = isinstance(machines[0], GuardedMachine)

    def slices(self) -> list[Slice]:
        """All of them; of other machines than guarded ones, the instances that can still report."""
        return self._read_guarded(self._core.slices()) if self._guarded else self._read(self._core.instances())

    def standing(self) -> Standing:
        """The same, for a glance."""
        rows: list[Any]
        if self._guarded:
            rows, which, where = self._core.slices(), itemgetter(6), itemgetter(0, 1)
            places = dict(zip(map(which, rows), map(where, rows), strict=True))
            return Standing(
                places,
                lambda place: [(self._properties[place[0]], _state(self._machines[place[0]], place[1]))],
                lambda wanted: {
                    each.reference: [each] for each in self._read_guarded(row for row in rows if which(row) in wanted)
                },
            )
        rows, which = self._core.instances(), itemgetter(2)
        return Standing(
            {serials: states for _, _, serials, states, _ in rows},
            lambda states: list(zip(self._properties, map(_state, self._machines, states), strict=True)),
            lambda wanted: {which(row): self._read([row]) for row in rows if which(row) in wanted},
        )

    def _read_guarded(self, rows: Iterable[_core.Slice]) -> list[Slice]:
        """Parents come first, if they are among them."""
        known: dict[_core.Instance, Slice] = {}
        for number, state, variables, values, kinds, _, reference, parent in rows:
            known[reference] = Slice(
                self._properties[number],
                read_binding(self._parameters, values, kinds),
                _state(self._machines[number], state),
                variables if variables is not None else {},
                known.get(parent) if parent is not None else None,
                reference,
            )
        return list(known.values())

    def _read(self, rows: Iterable[Any]) -> list[Slice]:
        return [
            Slice(name, read_binding(self._parameters, values, kinds), _state(machine, state), {})
            for values, kinds, _, states, _ in rows
            for name, machine, state in zip(self._properties, self._machines, states, strict=True)
        ]


def read_binding(parameters: tuple[str, ...], values: tuple[Any, ...], kinds: str) -> dict[str, Any]:
    """The values of an instance by name; of an object that is no longer there, None."""
    return {
        name: value if kind != "d" else None
        for name, value, kind in zip(parameters, values, kinds, strict=True)
        if kind != "u"
    }


class Needs:
    """Which events can change a monitor, or make it report, where it stands now."""

    def __init__(self, compiled: CompiledSpec) -> None:
        spec, machines = compiled.spec, compiled.machines
        self._everything = frozenset(event.name for event in spec.events)
        self._always = frozenset(event.name for event in spec.events if event.condition or event.action)
        self._by_state: list[tuple[frozenset[str], ...]] = []
        for machine in machines:
            if isinstance(machine, GuardedMachine):
                self._by_state.append(tuple(state.events() for state in machine.states))
            elif isinstance(machine, TableMachine):
                self._by_state.append(tuple(map(_heeded, [machine] * len(machine.table), range(len(machine.table)))))
        if len(self._by_state) != len(machines):
            self._by_state = []
        # An event that comes first may begin an instance.
        declared = frozenset(event.name for event in spec.events if event.creation)
        for machine in machines:
            if not isinstance(machine, GuardedMachine):
                self._always |= declared or machine.creation
        self._known: dict[tuple[bytes, ...], frozenset[str]] = {}

    def of(self, occupied: tuple[bytes, ...]) -> frozenset[str]:
        """Those that matter when instances stand in these states; all, if that is not known."""
        if not occupied or not self._by_state:
            return self._everything
        found = self._known.get(occupied)
        if found is None:
            found = self._always.union(
                *(
                    events
                    for states, by_state in zip(occupied, self._by_state, strict=True)
                    for here, events in zip(states, by_state, strict=True)
                    if here
                )
            )
            self._known[occupied] = found
        return found

    def states_of(self, event: str) -> tuple[bytes, ...] | None:
        """By property, a byte for each state that tells whether the event matters there; None if states do not tell."""
        if not self._by_state or event in self._always:
            return None
        return tuple(bytes(event in events for events in by_state) for by_state in self._by_state)


def _heeded(machine: TableMachine, state: int) -> frozenset[str]:
    """The events that change a state, or that are reported there."""
    return frozenset(
        event
        for event, target in zip(machine.alphabet, machine.table[state], strict=True)
        if target != state or machine.categories[target] & machine.goal
    )


def _state(machine: Machine, state: int | bool | None) -> str:
    """Where an instance stands, in words."""
    if isinstance(machine, GuardedMachine) and state is not None:
        return machine.states[state].name
    if isinstance(machine, TableMachine) and state is not None:
        return machine.names[state]
    return "" if state is None else "holds" if state else "does not hold"
