"""The parts of parametric monitoring, each taken out of a monitor by itself, for `ablations`.

Nearly all that sets the algorithms apart is data that the engine is given: which events create instances, which
extend them (enable sets), and what keeps them (coenable sets, by state). So a variant is the same engine with
other data, and a comparison says what the part is worth, not how well somebody wrote the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import mopsus
from mopsus.logics import CompiledSpec
from mopsus.model import BindingMode, TableMachine, Verdict

Change: TypeAlias = "Callable[[CompiledSpec], CompiledSpec]"


def without_enable_sets(compiled: CompiledSpec) -> CompiledSpec:
    """Algorithm C: every event extends every instance that is compatible with it."""
    return _each_table(compiled, lambda table: replace(table, enable={goal: {} for goal in table.goal}))


def without_creation_events(compiled: CompiledSpec) -> CompiledSpec:
    """Algorithm B: every combination of values that occurs has an instance, from its first event on.

    What comes before a creation event still does not count: until then the instance waits in a state of its own.
    """
    declared = frozenset(event.name for event in compiled.spec.events if event.creation)
    creation = declared or frozenset[str]().union(*(machine.creation for machine in compiled.machines))

    def waiting(table: TableMachine) -> TableMachine:
        start, wait = table.initial, len(table.table)
        begun = zip(table.alphabet, table.table[start], strict=True)
        return replace(
            table,
            initial=wait,
            table=(*table.table, tuple(target if event in creation else wait for event, target in begun)),
            categories=(*table.categories, frozenset[str]()),
            final=(*table.final, table.final[start]),
            names=(*table.names, "waiting"),
            alive=(*table.alive, table.alive[start]),
            creation=frozenset(table.alphabet),
        )

    changed = _each_table(without_enable_sets(compiled), waiting)
    events = tuple(replace(event, creation=False) for event in changed.spec.events)
    return replace(changed, spec=replace(changed.spec, events=events))


def without_coenable_sets(compiled: CompiledSpec) -> CompiledSpec:
    """Nothing is known of what an instance still needs, so it stays, whatever dies."""
    unknown = frozenset({frozenset[str]()})
    return _each_table(compiled, lambda table: replace(table, alive=(unknown,) * len(table.alive)))


def decentralized(compiled: CompiledSpec) -> CompiledSpec:
    """Objects lead to what is known of them by their own weak references, not by a hash table."""
    modifiers = replace(compiled.spec.modifiers, decentralized=True)
    return replace(compiled, spec=replace(compiled.spec, modifiers=modifiers))


def fully_bound(compiled: CompiledSpec) -> CompiledSpec:
    """Only instances that bind every parameter report."""
    modifiers = replace(compiled.spec.modifiers, binding=BindingMode.FULL)
    return replace(compiled, spec=replace(compiled.spec, modifiers=modifiers))


def _each_table(compiled: CompiledSpec, change: Callable[[TableMachine], TableMachine]) -> CompiledSpec:
    tables = [machine for machine in compiled.machines if isinstance(machine, TableMachine)]
    assert len(tables) == len(compiled.machines), "only tables are given all they need as data"
    return replace(compiled, machines=tuple(map(change, tables)))


@dataclass(frozen=True)
class Variant:
    """A monitor with something taken out of it, or put into it."""

    name: str
    changes: tuple[Change, ...] = ()
    history: int = 32
    caching: bool = True

    def monitor(self, compiled: CompiledSpec, on_verdict: Callable[[Verdict], object] | None = None) -> mopsus.Monitor:
        """A new monitor of this kind."""
        for change in self.changes:
            compiled = change(compiled)
        monitor = mopsus.Monitor(compiled, on_verdict, history=self.history)
        core, _ = monitor.inside()
        core.caching = self.caching
        return monitor


DEFAULT = Variant("default")
WITHOUT_COENABLE_SETS = Variant("no coenable sets", (without_coenable_sets,))
INDEXES = (
    Variant("no index cache", caching=False),
    Variant("no history", history=0),
    Variant("no history, no index cache", history=0, caching=False),
    Variant("decentralized index", (decentralized,)),
)
PARTS = (WITHOUT_COENABLE_SETS, *INDEXES, Variant("full binding", (fully_bound,)))
ALGORITHMS = (
    Variant("Algorithm C", (without_enable_sets,)),
    Variant("Algorithm C, no coenable sets", (without_enable_sets, without_coenable_sets)),
    Variant("Algorithm B", (without_creation_events,)),
    Variant("Algorithm B, no coenable sets", (without_creation_events, without_coenable_sets)),
)
