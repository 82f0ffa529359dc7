"""Stage 5: what to make of the end of a trace, for whoever had no verdict by then.

A verdict is what no continuation can change; a trace that ends has none. Then a property that is
still undecided is *presumably* true or false: what it would be if nothing more happened. That is no
verdict, and it counts as no violation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from mopsus.logics import CompiledSpec
from mopsus.model import BindingMode, Spec, TableMachine, Value

EXAMPLES = 3

Instance: TypeAlias = "tuple[Mapping[str, Value], Sequence[int | bool | None]]"
"""A live instance: its values, and where it stands by property, as `Monitor.instances` gives it."""


@dataclass(frozen=True, slots=True)
class Presumption:
    """A property undecided for one instance at the end: presumably true, presumably false, or (None) unknown."""

    spec: str
    property: str
    binding: Mapping[str, Value]
    truth: bool | None


@dataclass(slots=True)
class Ending:
    """How many instances of a property ended the same way, with the first few of them."""

    spec: str
    property: str
    truth: bool | None
    count: int = 0
    examples: list[Mapping[str, Value]] = field(default_factory=list)


class Endings:
    """Presumptions counted by property; iteration gives properties in order, `false` first."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, bool | None], Ending] = {}

    def add(self, presumption: Presumption) -> None:
        """Count one."""
        key = (presumption.spec, presumption.property, presumption.truth)
        ending = self._found.setdefault(key, Ending(*key))
        ending.count += 1
        if len(ending.examples) < EXAMPLES:
            ending.examples.append(presumption.binding)

    def include(self, other: Ending) -> None:
        """Count what was counted elsewhere."""
        key = (other.spec, other.property, other.truth)
        ending = self._found.setdefault(key, Ending(*key))
        ending.count += other.count
        ending.examples += other.examples[: EXAMPLES - len(ending.examples)]

    def __iter__(self) -> Iterator[Ending]:
        order = {name: at for at, name in enumerate(dict.fromkeys(key[:2] for key in self._found))}
        rank = {False: 0, True: 1, None: 2}
        return iter(sorted(self._found.values(), key=lambda e: (order[e.spec, e.property], rank[e.truth])))


def presume(compiled: CompiledSpec, instances: Iterable[Instance]) -> Iterator[Presumption]:
    """What to presume of each instance and property that is undecided.

    `compiled` is the spec of the monitor, compiled with `at_end`. A property whose logic has no such notion is
    unknown as long as an instance of it can still report. Instances that may not report, because they bind too
    few parameters, are left out.
    """
    spec = compiled.spec
    for binding, standings in _reporting(spec, list(instances)):
        for prop, machine, standing in zip(spec.properties, compiled.machines, standings, strict=True):
            truth = standing if isinstance(standing, bool) else None
            if isinstance(machine, TableMachine) and standing is not None:
                truth = machine.presumed[standing] if machine.presumed else None
                if truth is None and (machine.presumed or not machine.alive[standing]):
                    continue  # decided
            yield Presumption(spec.name, prop.name, binding, truth)


def _reporting(spec: Spec, instances: list[Instance]) -> Iterator[Instance]:
    mode = spec.modifiers.binding
    if mode is BindingMode.ANY:
        yield from instances
        return
    extended: set[frozenset[tuple[str, type, Value]]] = set()
    if mode is BindingMode.MAXIMAL:
        for binding, _ in instances:
            items = binding_key(binding)
            extended.update(frozenset(part) for size in range(len(items)) for part in combinations(items, size))
    for binding, states in instances:
        full = len(binding) == len(spec.parameters)
        if full if mode is BindingMode.FULL else binding_key(binding) not in extended:
            yield binding, states


def binding_key(binding: Mapping[str, Value]) -> frozenset[tuple[str, type, Value]]:
    """Equal for equal values of the same types."""
    return frozenset((name, type(value), value) for name, value in binding.items())
