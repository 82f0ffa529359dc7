"""Importing under the hook: rewriting against plain compilation, and imports of cached and of untouched modules.

The modules are files of the standard library, copied to where programs have theirs.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import TypeVar

from harness import Goal, Row, Side, measure, quotients

from mopsus.events.weave import hook as hooks
from mopsus.events.weave.cache import CodeCache
from mopsus.events.weave.compiling import compile_beside
from mopsus.events.weave.hook import Hook
from mopsus.events.weave.joinpoints import From, Moment, Operation, Rewrite, Source, Tap
from mopsus.events.weave.rewrite import Plan

FILES = ("argparse", "ast", "csv", "difflib", "heapq", "optparse", "pprint", "statistics", "textwrap", "uuid")

T = TypeVar("T")


class Asked:
    """What a property of iterators asks of the hook, or one that no module has to do with."""

    definitions: frozenset[str] = frozenset()

    def __init__(self, operation: Operation, names: frozenset[str] = frozenset()) -> None:
        tap = Tap("S", "e", Moment.BEFORE, lambda _: None, (Source(From.TARGET),), (None,))
        self.rewrites = (Rewrite(operation, tap, names),)

    def defined(self, member: T) -> T:
        """What is defined stays as it is."""
        return member

    def module_loaded(self, module: ModuleType) -> None:
        """Nothing is placed."""


@contextmanager
def modules() -> Iterator[list[str]]:
    """Copies of the files, by the names under which they can be imported."""
    with tempfile.TemporaryDirectory() as folder:
        names = [f"imported_{name}" for name in FILES]
        for name, new in zip(FILES, names, strict=True):
            shutil.copy(str(importlib.import_module(name).__file__), Path(folder, new + ".py"))
        sys.path.insert(0, folder)
        cache, hooks._FINDER.cache = hooks._FINDER.cache, CodeCache(Path(folder, "cache"))
        writing, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:
            yield names
        finally:
            hooks._FINDER.cache = cache
            sys.dont_write_bytecode = writing
            sys.path.remove(folder)


def import_all(names: list[str]) -> int:
    """Import modules anew."""
    for name in names:
        sys.modules.pop(name, None)
    for name in names:
        importlib.import_module(name)
    return len(names)


class Switch:
    """The hook that is installed at the moment, if any."""

    def __init__(self) -> None:
        self._hook: Hook | None = None

    def to(self, asked: Asked | None) -> None:
        """Have this one only."""
        if self._hook is not None:
            self._hook.remove()
        self._hook = None if asked is None else Hook(asked)
        if self._hook is not None:
            self._hook.install()


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    rounds = max(3, int(15 * scale))
    with modules() as names:
        sources = {name: Path(sys.path[0], name + ".py").read_bytes() for name in names}
        loops = Asked(Operation.NEXT)
        nobody = Asked(Operation.GET, frozenset({"no_such_attribute_anywhere"}))
        plan = Plan.of(loops.rewrites)

        def compile_all() -> int:
            return len([original(name) for name in sources])

        def original(name: str) -> CodeType:
            return compile(sources[name], name, "exec", dont_inherit=True)

        def rewrite_all() -> int:
            made = [compile_beside(original(name), source, name, plan) for name, source in sources.items()]
            return len([each for each in made if each.rewritten is not None])

        switch = Switch()

        def importing(asked: Asked | None) -> Side:
            return Side(lambda _: import_all(names), lambda: switch.to(asked))

        cases: dict[str, tuple[Side, Side, str, Goal]] = {
            "rewritten and compiled, once": (
                Side(lambda _: rewrite_all()),
                Side(lambda _: compile_all()),
                "plain compilation",
                Goal("≤", 4),
            ),
            "import of rewritten modules, cached": (
                importing(loops),
                importing(None),
                "plain import",
                Goal("≤", 1.1),
            ),
            "import of modules without a candidate": (
                importing(nobody),
                importing(None),
                "plain import",
                Goal("≤", 1.1),
            ),
        }
        result = []
        for case, (ours, theirs, base, goal) in cases.items():
            timings = measure({"ours": ours, base: theirs}, rounds=rounds)
            per_module = {side: min(timing.seconds) / len(names) * 1e6 for side, timing in timings.items()}
            ratio = quotients(timings["ours"].seconds, timings[base].seconds)
            result.append(Row(case, "µs per module", per_module["ours"], base, per_module[base], ratio, goal))
        switch.to(None)
    return result
