"""What is known about the specs of a run: those of files at once, contracts when they matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mopsus.late import late_function
from mopsus.report import Options

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec
    from mopsus.model import Diagnostic, Machine, Spec

_draw_svg = late_function("mopsus.report.picture", "draw_svg")  # few reports draw, and Graphviz may be missing


class KnownSpecs:
    """Specs and their machines; `options` sees what is learned later, too."""

    def __init__(self, compiled: Iterable[CompiledSpec]) -> None:
        self.specs: dict[str, Spec] = {}
        self.compiled: dict[str, CompiledSpec] = {}
        self._machines: dict[tuple[str, str], Machine] = {}
        for each in compiled:
            self.take(each)
        self.own = frozenset(self.specs)
        """Names of the specs that were given as files."""
        self.options = Options(specs=self.specs, machines=self._machines, draw=_draw_svg)

    def take(self, compiled: CompiledSpec) -> None:
        """Know of a spec, too."""
        spec = compiled.spec
        self.specs[spec.name] = spec
        self.compiled[spec.name] = compiled
        for prop, machine in zip(spec.properties, compiled.machines, strict=True):
            self._machines[spec.name, prop.name] = machine

    def learn(self, name: str) -> None:
        """There is something to say about a spec of that name: it may be a contract that nobody has loaded here."""
        from mopsus.contracts import catalogue

        if name in catalogue() and name not in self.specs:
            self.take(catalogue()[name].load())

    def stopped(self, counts: Mapping[str, tuple[int, Mapping[str, int]]]) -> Iterator[Diagnostic]:
        """What there is to say of patterns in files that have mostly stopped before they could match.

        `counts` are by spec: how many slices were made, and how many fell, by the event that they fell at.
        """
        from mopsus.verdict.stopped import stopped_early

        for name in counts:
            if name in self.own:
                compiled = self.compiled[name]
                if (found := stopped_early(compiled.spec, compiled.machines, *counts[name])) is not None:
                    yield found
