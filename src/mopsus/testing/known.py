"""What is known about specs when their verdicts are shown: those of files at once, contracts when they matter."""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.cli.reporting import can_draw, draw_svg
from mopsus.contracts import catalogue
from mopsus.logics import CompiledSpec
from mopsus.model import Machine, Spec
from mopsus.report import Options


class Known:
    """Specs and their machines; `options` sees what is learned later, too."""

    def __init__(self, compiled: Iterable[CompiledSpec]) -> None:
        self._specs: dict[str, Spec] = {}
        self._machines: dict[tuple[str, str], Machine] = {}
        for each in compiled:
            self._add(each)
        self.own = frozenset(self._specs)
        """Names of the specs that were given as files."""
        self.options = Options(specs=self._specs, machines=self._machines, draw=draw_svg if can_draw() else None)

    def learn(self, name: str) -> None:
        """There is something to say about a spec of that name: it may be a contract that nobody has loaded here."""
        if name in catalogue() and name not in self._specs:
            self._add(catalogue()[name].load())

    def _add(self, compiled: CompiledSpec) -> None:
        self._specs[compiled.spec.name] = compiled.spec
        for prop, machine in zip(compiled.spec.properties, compiled.machines, strict=True):
            self._machines[compiled.spec.name, prop.name] = machine
