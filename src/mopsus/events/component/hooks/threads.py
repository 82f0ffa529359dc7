"""Stage 4: threads: a fork when one is started, an init when it begins to run, an exit when it has run."""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

from mopsus.events.component import reasons
from mopsus.events.component.address import COMPONENTS, stands_for_address, told_function
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import (
    ERROR,
    SELF,
    Undo,
    advise,
    before,
    hide,
    is_internal,
    put,
    raising,
    returning,
)
from mopsus.events.component.identity import NOBODY, OUTSIDE, Component, current, enter, signature
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid

_forked: WeakKeyDictionary[threading.Thread, tuple[Component, Pid, Function]] = WeakKeyDictionary()
"""Threads that were seen to be started, with their parents."""


def install(hub: Hub) -> Undo:
    """Tell of threads from now on."""
    emit = hub.emit

    def start(thread: threading.Thread) -> None:
        if _is_started(thread) or is_internal(_home(thread)):
            return
        component = COMPONENTS.of(thread, thread.name)
        parent = current()
        function = told_function(_function(thread))
        _forked[thread] = component, OUTSIDE if parent is None else parent.pid, function
        if parent is not None:
            emit(Kind.FORK, parent.pid, component.pid, function)

    def not_started(thread: threading.Thread) -> None:
        if not _is_started(thread) and (known := _forked.pop(thread, None)) is not None:
            emit(Kind.EXIT, known[0].pid, None, reasons.START_FAILED)

    def begin(thread: threading.Thread) -> None:
        known = _forked.get(thread)
        if known is None:
            if is_internal(_home(thread)):
                enter(NOBODY)
            return
        component, parent, function = known
        enter(component)

        def run() -> None:
            attributes.pop("run", None)
            if own is not None:
                attributes["run"] = own
            emit(Kind.INIT, component.pid, parent, function)

        def done() -> None:
            end(reasons.NORMAL)

        def failed(error: BaseException) -> None:
            end(reasons.of_exception(error))

        def end(reason: object) -> None:
            emit(Kind.EXIT, component.pid, None, reason)
            enter(NOBODY)  # what the thread still does, such as telling of an error, comes after the end

        attributes = vars(thread)
        own = attributes.get("run")
        attributes["run"] = advise(thread.run, before(run), returning(done), raising(failed, ERROR))

    stands_for_address(threading.Thread, _address)
    hide(threading.Thread._bootstrap, threading.Thread._bootstrap_inner)  # type: ignore[attr-defined]  # not documented
    return put(
        [
            Advised(threading.Thread, "start", (before(start, SELF), raising(not_started, SELF))),
            Advised(threading.Thread, "_bootstrap_inner", (before(begin, SELF),)),
        ]
    )


def _address(thread: threading.Thread) -> Pid | None:
    component = COMPONENTS.find(thread)
    return None if component is None else component.pid


def _is_started(thread: object) -> bool:
    """Also true of one that can never be started."""
    started = getattr(thread, "_started", None)
    return started is None or bool(started.is_set())


def _home(thread: Any) -> str | None:  # noqa: ANN401 - its attributes are nobody's business
    """The module that says what the thread does."""
    target = getattr(thread, "_target", None)
    if target is not None and type(thread).run is threading.Thread.run:
        return getattr(target, "__module__", None)
    return type(thread).__module__


def _function(thread: Any) -> Function:  # noqa: ANN401 - its attributes are nobody's business
    if type(thread) is threading.Timer:
        return signature(thread.function, tuple(thread.args), thread.kwargs)
    target = getattr(thread, "_target", None)
    if target is not None and type(thread).run is threading.Thread.run:
        return signature(target, tuple(thread._args), thread._kwargs)
    return signature(thread.run)
