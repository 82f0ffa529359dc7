"""Stage 4: hooks on the libraries that run components, one module for each, and the one place where they are put.

A library is hooked when the program loads it, so that nobody pays for one that is not used. However many listen, the
hooks are put once: a component has one identifier, whoever asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, Final, TypeAlias, TypeVar

from mopsus import _core
from mopsus.events.component.hooks.hub import Hub, Subjects
from mopsus.events.component.hooks.wiring import Emit, Undo, hide
from mopsus.events.component.identity import current
from mopsus.events.component.occurrence import Kind
from mopsus.events.weave.hook import Hook
from mopsus.events.weave.joinpoints import Rewrite
from mopsus.model.term import Pid

T = TypeVar("T")
Keep: TypeAlias = "Callable[[Any], object]"
"""Says whether a message is one to be told of."""

LIBRARIES: Final = {
    "threading": ("threads", "install"),
    "queue": ("queues", "install"),
    "concurrent.futures.thread": ("futures", "install_threads"),
    "concurrent.futures.process": ("futures", "install_processes"),
    "asyncio": ("tasks", "install"),
    "multiprocessing.process": ("processes", "install"),
    "multiprocessing.queues": ("processes", "install_queues"),
    "multiprocessing.connection": ("processes", "install_pipes"),
    "socket": ("sockets", "install"),
    "pykka": ("pykka", "install"),
}
"""By module of a library, what hooks it when it is loaded."""
_CHANNELS: Final[tuple[str, ...]] = ("queue", "multiprocessing.queues", "multiprocessing.connection")
"""Those whose messages may be taken before it is told that they were sent."""


class _Hooks:
    """The hooks, which stand while anybody listens. Is what an import hook serves."""

    rewrites: tuple[Rewrite, ...] = ()
    definitions: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.hub = Hub()
        self._lock = RLock()
        self._undo: dict[str, Undo] = {}
        self._imports: Hook | None = None
        self._loaded: list[str] = []
        """Libraries that the program, or what hooks another one, has loaded and that are not hooked yet."""
        self._installing = False

    def add(self, listener: Emit, subjects: Subjects | None, envelopes: bool) -> None:
        """Let somebody listen. What one asks for of the order of messages, all get until nobody listens."""
        with self._lock:
            if envelopes and not self.hub.envelopes:
                self.hub.envelopes = True
                for name in [each for each in _CHANNELS if each in self._undo]:
                    self._undo.pop(name)()
                    self._install(name)
            self.hub.listeners.append((listener, subjects))
            if self._imports is None:
                current()  # whoever begins to listen is the first component
                self._imports = Hook(self)
                self._imports.install()
                self._loaded += [name for name in LIBRARIES if name in sys.modules]
                self._install_loaded()

    def remove(self, listener: Emit) -> None:
        """Let somebody listen no more. Safe to call twice."""
        with self._lock:
            self.hub.listeners[:] = [each for each in self.hub.listeners if each[0] is not listener]
            if not self.hub.listeners and self._imports is not None:
                self._imports.remove()
                self._imports = None
                for undo in self._undo.values():
                    undo()
                self._undo.clear()
                self.hub.envelopes = False

    def defined(self, made: T) -> T:
        """Nothing is done with what a program defines."""
        return made

    def module_loaded(self, module: ModuleType) -> None:
        """Hook a library that was just loaded."""
        name = getattr(module, "__name__", None)
        if name in LIBRARIES:
            with self._lock:
                self._loaded.append(name)
                # What hooks one library may be loading another, which is hooked afterwards.
                if not self._installing:
                    _core.unobserved(self._install_loaded)

    def _install_loaded(self) -> None:
        self._installing = True
        try:
            while self._loaded:
                name = self._loaded.pop(0)
                if self._imports is not None and name not in self._undo:
                    self._install(name)
        finally:
            self._installing = False

    def _install(self, library: str) -> None:
        home, function = LIBRARIES[library]
        try:
            self._undo[library] = getattr(import_module(f"{__name__}.{home}"), function)(self.hub)
        except Exception as error:  # the program goes on, unobserved
            self.hub.fault(error)


_hooks = _Hooks()


def install(
    listener: Emit, *, keep: Keep | None = None, subjects: Subjects | None = None, envelopes: bool = False
) -> Undo:
    """Tell of everything that components of this process do from now on; gives what ends it.

    The listener is called where it happens, in the component. An error in it is logged once, and counted, and never
    reaches the program. With `keep`, messages of which it says False are not told of; with `subjects`, only messages
    that these components send or receive are. With `envelopes`, a send is told before its message can be taken.
    """

    def told(kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        if (kind is not Kind.SEND and kind is not Kind.RECV) or (keep is not None and keep(data)):
            listener(kind, subject, other, data)

    hide(told)
    heard = listener if keep is None else told
    _hooks.add(heard, subjects, envelopes)

    def undo() -> None:
        _hooks.remove(heard)

    return undo


def emit(kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
    """Tell everybody of something that no hook sees."""
    _hooks.hub.emit(kind, subject, other, data)


def faults() -> int:
    """How many errors there were in listeners."""
    return _hooks.hub.faults
