"""Stage 4: the main program of a process that `multiprocessing` begins anew, woven as that of the first process is.

Such a process executes the main program once more, under another name and by means of `runpy`: the code that it gets
there is ours.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from multiprocessing import spawn
from types import CodeType, ModuleType
from typing import Protocol

from mopsus import _core
from mopsus.events.weave.joinpoints import Advised, From, Moment, Source, Tap
from mopsus.events.weave.place import Placements


class Weaver(Protocol):
    """Who weaves it."""

    def main_code(self, source: bytes, path: str) -> CodeType:
        """The code of a main program, woven."""

    def module_loaded(self, module: ModuleType) -> None:
        """A module has been executed."""


def watch_main(weaver: Weaver, placements: Placements) -> None:
    """Weave the main program as soon as this process has been told which it is."""
    woven: list[str] = []

    def told(data: Mapping[str, str]) -> None:
        if "init_main_from_path" in data:
            _put(placements, runpy, "_get_code_from_file", from_file, Source(From.ARGUMENT, -1, "fname"))
        elif name := data.get("init_main_from_name"):
            sources = Source(From.TARGET), Source(From.ARGUMENT, 0)
            _put(
                placements,
                SourceFileLoader,
                "get_code",
                lambda loader, asked: from_loader(loader, asked, name),
                *sources,
            )

    def from_file(path: str) -> None:
        if not path.endswith(".pyc"):
            with open(path, "rb") as file:
                code = weaver.main_code(file.read(), path)
            woven.append(path)
            _core.skip(code if sys.version_info >= (3, 13) else (code, path))

    def from_loader(loader: SourceFileLoader, asked: str, name: str) -> None:
        if asked == name:
            woven.append(name)
            _core.skip(weaver.main_code(loader.get_data(loader.path), loader.path))

    def loaded() -> None:
        module = sys.modules.get("__mp_main__")
        if module is not None and not woven:
            weaver.module_loaded(module)

    before = Tap("", "prepare", Moment.BEFORE, told, (Source(From.ARGUMENT, 0),), (None,))
    placements.put([Advised(spawn, "prepare", (before, Tap("", "main", Moment.RETURNING, loaded)))])


def _put(placements: Placements, holder: object, name: str, instead: Callable[..., None], *sources: Source) -> None:
    placements.put([Advised(holder, name, (Tap("", "main", Moment.AROUND, instead, sources, (None,) * len(sources)),))])
