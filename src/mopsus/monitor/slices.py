"""Stage 3: the slices of a monitor as others see them, and which events can matter to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
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


def read_slices(
    rows: Iterable[_core.Slice], properties: tuple[str, ...], machines: tuple[Machine, ...], parameters: tuple[str, ...]
) -> Iterator[Slice]:
    """The slices of guarded machines, from what the core says of them; parents come first."""
    known: dict[_core.Instance, Slice] = {}
    for number, state, variables, values, kinds, _, reference, parent in rows:
        machine = machines[number]
        assert isinstance(machine, GuardedMachine)
        known[reference] = Slice(
            properties[number],
            read_binding(parameters, values, kinds),
            machine.states[state].name,
            variables if variables is not None else {},
            known[parent] if parent is not None else None,
            reference,
        )
        yield known[reference]


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


def _heeded(machine: TableMachine, state: int) -> frozenset[str]:
    """The events that change a state, or that are reported there."""
    return frozenset(
        event
        for event, target in zip(machine.alphabet, machine.table[state], strict=True)
        if target != state or machine.categories[target] & machine.goal
    )


def table_state(machine: Machine, state: int | bool | None) -> str:
    """Where an instance of another machine stands, in words."""
    if isinstance(machine, TableMachine) and state is not None:
        return machine.names[state]
    return "" if state is None else "holds" if state else "does not hold"
