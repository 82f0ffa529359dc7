"""Stage 4: hooks on the libraries that run components, one module for each, and the one place where they are put.

A library is hooked when the program loads it, so that nobody pays for one that is not used. However many listen, the
hooks are put once: a component has one identifier, whoever asks.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, Final, TypeAlias, TypeVar

from mopsus import _core
from mopsus.events.component.hooks.wiring import Emit, Undo
from mopsus.events.component.identity import current
from mopsus.events.component.occurrence import Kind
from mopsus.events.weave.hook import Hook
from mopsus.events.weave.joinpoints import Rewrite
from mopsus.model.term import Pid

T = TypeVar("T")
Keep: TypeAlias = "Callable[[Any], object]"
"""Says whether a message is one to be told of."""

_log = logging.getLogger("mopsus")

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


class _Hub:
    """What everybody is told, and the hooks that stand while anybody listens. Is what an import hook serves."""

    rewrites: tuple[Rewrite, ...] = ()
    definitions: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._lock = RLock()
        self._listeners: tuple[Emit, ...] = ()
        self._undo: dict[str, Undo] = {}
        self._imports: Hook | None = None
        self._known_faults: set[str] = set()
        self.faults = 0
        """Errors in listeners."""

    def emit(self, kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        """Tell everybody what happened."""
        for listener in self._listeners:
            try:
                listener(kind, subject, other, data)
            except Exception as error:
                self._fault(error)

    def add(self, listener: Emit) -> None:
        with self._lock:
            self._listeners = (*self._listeners, listener)
            if self._imports is None:
                current()  # whoever begins to listen is the first component
                for name in LIBRARIES:
                    if name in sys.modules:
                        self._install(name)
                self._imports = Hook(self)
                self._imports.install()

    def remove(self, listener: Emit) -> None:
        with self._lock:
            self._listeners = tuple(each for each in self._listeners if each is not listener)
            if not self._listeners and self._imports is not None:
                self._imports.remove()
                self._imports = None
                for undo in self._undo.values():
                    undo()
                self._undo.clear()

    def defined(self, made: T) -> T:
        """Nothing is done with what a program defines."""
        return made

    def module_loaded(self, module: ModuleType) -> None:
        """Hook a library that was just loaded."""
        name = getattr(module, "__name__", None)
        if name in LIBRARIES:
            with self._lock:
                if self._imports is not None and name not in self._undo:
                    _core.unobserved(self._install, name)

    def _install(self, library: str) -> None:
        home, function = LIBRARIES[library]
        try:
            self._undo[library] = getattr(import_module(f"{__name__}.{home}"), function)(self.emit)
        except Exception as error:  # the program goes on, unobserved
            self._fault(error)

    def _fault(self, error: Exception) -> None:
        self.faults += 1
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f"{type(error).__name__} {trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno)}"
        if where not in self._known_faults:
            self._known_faults.add(where)
            _log.error("fault in watching components", exc_info=error)


_hub = _Hub()
_core.hide(_Hub.emit.__code__)


def install(listener: Emit, *, keep: Keep | None = None) -> Undo:
    """Tell of everything that components of this process do from now on; gives what ends it.

    The listener is called where it happens, in the component. An error in it is logged once, and counted, and never
    reaches the program. With `keep`, messages of which it says False are not told of.
    """
    told = listener if keep is None else _keeping(listener, keep)
    _hub.add(told)

    def undo() -> None:
        _hub.remove(told)

    return undo


def emit(kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
    """Tell everybody of something that no hook sees."""
    _hub.emit(kind, subject, other, data)


def faults() -> int:
    """How many errors there were in listeners."""
    return _hub.faults


def _keeping(listener: Emit, keep: Keep) -> Emit:
    def told(kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        if (kind is not Kind.SEND and kind is not Kind.RECV) or keep(data):
            listener(kind, subject, other, data)

    return told
