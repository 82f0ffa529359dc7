"""The catalogue: which contracts there are, without reading more of them than that takes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.installed import installed_below

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec
    from mopsus.monitor import Monitor

HOME = Path(__file__).parent
GROUPS = {
    "stdlib": {
        "iteration": "Iterators, and the collections that they go over",
        "objects": "Hashes, references and values",
        "files": "Files, buffers and temporary files",
        "threads": "Threads, locks, queues and executors",
        "processes": "Processes, signals and descriptors",
        "asyncio": "Coroutines, tasks and event loops",
        "network": "Sockets, connections and certificates",
        "formats": "Databases, archives and file formats",
        "contexts": "Context managers, warnings, logging and mocks",
    },
    "packages": {"packages": "Well-known packages"},
}
"""By library, its groups, in the order of the documentation, with what each is about."""
STANDARD_LIBRARY = os.path.dirname(os.__file__) + "/"
_IMPORT = re.compile(r"^import ([\w.]+)", re.MULTILINE)
_LIKE = re.compile(r"^# the rule of (\w+)", re.MULTILINE)
_LOOPS = re.compile(r"[:&|(] *(iter|next)\(")


@dataclass(frozen=True, slots=True)
class Contract:
    """One contract: where it stands in the catalogue, and what must be loaded for it to have anything to say."""

    name: str
    group: str
    library: str
    path: Path
    modules: tuple[str, ...]
    """The modules that it imports: it is about one of them. None: about the language itself."""
    like: str = ""
    """The contract whose rule it states for another class, as a comment in its file says; empty if it has its own."""
    loops: frozenset[str] = frozenset()
    """What loops do that it must see, `iter` or `next`: for that, code must be rewritten before it runs."""

    @classmethod
    def read(cls, path: Path, group: str, library: str) -> Contract:
        """What the text of a contract tells about it, without understanding more than that."""
        text = path.read_text(encoding="utf-8")
        like = _LIKE.search(text)
        modules, loops = tuple(_IMPORT.findall(text)), frozenset(_LOOPS.findall(text))
        return cls(path.stem, group, library, path, modules, like[1] if like else "", loops)

    @property
    def violating(self) -> Path:
        """A program that violates it."""
        return self.path.with_name(f"{self.name}_violating.py")

    @property
    def clean(self) -> Path:
        """A program that uses the same things and does not violate it."""
        return self.path.with_name(f"{self.name}_clean.py")

    def folders(self) -> Iterator[str]:
        """Where code lies that is not to blame for what happens in it: that of the library."""
        yield STANDARD_LIBRARY
        if self.library != "stdlib":
            for name in self.modules:
                file = getattr(sys.modules.get(name), "__file__", None)
                if file is not None:
                    yield os.path.dirname(file) + "/"

    def load(self) -> CompiledSpec:
        """The contract as a spec, ready to be monitored. It is read once."""
        return _load(self)

    def was_exercised(self, events: int, monitors: int) -> bool:
        """Was that which it is about used? It had so many events and monitors.

        An event alone need not say so: many who write to a file dump no JSON. What makes a monitor does; where that is
        the violation itself, any event does.
        """
        return monitors > 0 or (events > 0 and self._only_violations_count())

    def _only_violations_count(self) -> bool:
        from mopsus.model import TableMachine

        compiled = self.load()
        first = {event.name for event in compiled.spec.events if event.creation}
        for machine in compiled.machines:
            if not first or not isinstance(machine, TableMachine):
                return False
            row = machine.table[machine.initial]
            reached = [machine.categories[row[machine.alphabet.index(name)]] for name in first]
            if not all(categories & machine.goal for categories in reached):
                return False
        return True


@cache
def catalogue() -> Mapping[str, Contract]:
    """Every contract by name, in the order of the documentation."""
    return {
        path.stem: Contract.read(path, group, library)
        for library, groups in GROUPS.items()
        for group in groups
        for path in sorted((HOME / library / group).glob("*.mop"))
    }


@cache
def _load(contract: Contract) -> CompiledSpec:
    from mopsus.contracts.compiled import CompiledContracts

    kept, path, text = CompiledContracts(), str(contract.path), contract.path.read_bytes()
    found = kept.load(path, text)
    if found is None:
        found = _compile(contract)
        kept.store(path, text, found)
    return found


def _compile(contract: Contract) -> CompiledSpec:
    from mopsus.logics import compile_spec
    from mopsus.spec import load_file

    read = load_file(contract.path)
    return compile_spec(read.specs[contract.name], read.source)


def loops_of(contracts: Iterable[Contract]) -> frozenset[str]:
    """What loops do that one of the contracts must see, `iter` or `next`, even if it is not wanted before some module
    is loaded: the code that loads it is running then."""
    return frozenset[str]().union(*(contract.loops for contract in contracts))


def by_module(
    contracts: Iterable[Contract], make: Callable[[CompiledSpec], Monitor]
) -> dict[str, Callable[[], dict[str, Monitor]]]:
    """What makes the monitors of contracts, by the module that must be loaded for each; none is made twice.

    What happens within the standard library, or in the package that a contract is about, is located where the program
    has called it.
    """
    waiting: dict[str, list[Contract]] = {}
    for contract in contracts:
        for module in contract.modules or ("builtins",):
            waiting.setdefault(module, []).append(contract)
    made: set[str] = set()

    def make_all(module: str) -> dict[str, Monitor]:
        wanted = [contract for contract in waiting[module] if contract.name not in made]
        made.update(contract.name for contract in wanted)
        monitors = {contract.name: make(contract.load()) for contract in wanted}
        for contract in wanted:
            for folder in contract.folders():
                monitors[contract.name].look_beyond(folder, installed_below(folder))
        return monitors

    return {module: partial(make_all, module) for module in waiting}
