"""Stage 4: executors: a call that is submitted is a component that lives as long as the call.

The threads and processes of a pool serve many calls and are no components themselves: properties pick components by
the function that they run.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from mopsus.events.component import reasons
from mopsus.events.component.address import COMPONENTS, stands_for_address, told_function
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import (
    ERROR,
    RESULT,
    SELF,
    Emit,
    Undo,
    advise,
    argument,
    before,
    put,
    raising,
    returning,
)
from mopsus.events.component.identity import ELSEWHERE, OUTSIDE, Component, current, enter, new_component, signature
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid


class _Call(NamedTuple):
    """A call that was submitted."""

    component: Component
    parent: Pid
    function: Function


class _Calls:
    """The calls that have not begun."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self._waiting: WeakKeyDictionary[Future[Any], _Call] = WeakKeyDictionary()

    def submit(self, item: Any, *, elsewhere: bool = False) -> _Call:  # noqa: ANN401 - an item of an executor
        """A call was submitted."""
        parent = current()
        function = told_function(_signature(item.fn, item.args, item.kwargs))
        call = _Call(new_component(function.name), OUTSIDE if parent is None else parent.pid, function)
        self._waiting[item.future] = call
        COMPONENTS.add(item.future, call.component)
        if elsewhere:
            ELSEWHERE.add(call.component.pid)
            weakref.finalize(item.future, ELSEWHERE.discard, call.component.pid)
        if parent is not None:
            self.emit(Kind.FORK, parent.pid, call.component.pid, function)
        return call

    def begin(self, future: Future[Any]) -> _Call | None:
        """A call begins, if it still may."""
        return self._waiting.pop(future, None)

    def cancelled(self, future: Future[Any], cancelled: bool) -> None:
        """Somebody wanted a call not to begin."""
        if cancelled and (call := self._waiting.pop(future, None)) is not None:
            self.emit(Kind.EXIT, call.component.pid, None, reasons.CANCELLED)

    def broken(self, future: Future[Any], error: BaseException | None) -> None:
        """A call has failed, maybe because those who should make it are gone."""
        call = self._waiting.pop(future, None)
        if call is not None and isinstance(error, BrokenExecutor):
            self.emit(Kind.EXIT, call.component.pid, None, reasons.of_exception(error))


def install_threads(hub: Hub) -> Undo:
    """Tell of calls that threads of an executor make, from now on."""
    emit = hub.emit
    from concurrent.futures import thread

    calls = _Calls(emit)
    running: dict[int, tuple[_Call, Component | None]] = {}

    def submit(item: object) -> None:
        calls.submit(item)

    def run(item: Any) -> None:  # noqa: ANN401 - an item of an executor
        call = calls.begin(item.future)
        if call is not None:
            running[id(item)] = call, enter(call.component)
            emit(Kind.INIT, call.component.pid, call.parent, call.function)

    def ran(item: Any) -> None:  # noqa: ANN401 - an item of an executor
        found = running.pop(id(item), None)
        if found is not None:
            error = item.future.exception(0)
            reason = reasons.NORMAL if error is None else reasons.of_exception(error)
            emit(Kind.EXIT, found[0].component.pid, None, reason)
            enter(found[1])

    stands_for_address(Future, _address)
    kind = thread._WorkItem
    return put(
        [
            Advised(kind, "__init__", (returning(submit, SELF),)),
            Advised(kind, "run", (before(run, SELF), returning(ran, SELF))),
            Advised(Future, "cancel", (returning(calls.cancelled, SELF, RESULT),)),
        ]
    )


def install_processes(hub: Hub) -> Undo:
    """Tell of calls that processes of an executor make, from now on."""
    emit = hub.emit
    from concurrent.futures import process

    calls = _Calls(emit)

    def submit(item: Any) -> None:  # noqa: ANN401 - an item of an executor
        item.fn = _Carried(item.fn, calls.submit(item, elsewhere=True))

    stands_for_address(Future, _address)
    return put(
        [
            Advised(process._WorkItem, "__init__", (returning(submit, SELF),)),
            Advised(Future, "cancel", (returning(calls.cancelled, SELF, RESULT),)),
            Advised(Future, "set_exception", (before(calls.broken, SELF, argument(0, "exception")),)),
        ]
    )


class _Carried:
    """A function on its way to the process that will call it, where it becomes itself again."""

    __slots__ = ("_call", "_function")

    def __init__(self, function: Callable[..., Any], call: _Call) -> None:
        self._function, self._call = function, call

    def __reduce__(self) -> tuple[Any, ...]:
        component, parent, function = self._call
        return _arrived, (self._function, component.pid, component.name, parent, function)


def _arrived(function: Callable[..., Any], pid: Pid, name: str, parent: Pid, runs: Function) -> Callable[..., Any]:
    """A function that was carried here, the call of which is a component."""
    from mopsus.events.component.hooks import emit

    entered: list[Component | None] = []

    def begin() -> None:
        ELSEWHERE.discard(pid)
        entered.append(enter(Component(pid, name)))
        emit(Kind.INIT, pid, parent, runs)

    def done() -> None:
        emit(Kind.EXIT, pid, None, reasons.NORMAL)
        enter(entered.pop())

    def failed(error: BaseException) -> None:
        emit(Kind.EXIT, pid, None, reasons.of_exception(error))
        enter(entered.pop())

    return advise(function, before(begin), returning(done), raising(failed, ERROR))


def _signature(function: object, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Function:
    found = signature(function, arguments, keywords)
    if found.module == "concurrent.futures.process" and found.name == "_process_chunk":
        return signature(found.arguments[0], found.arguments[1:])  # several calls of a `map` at once
    return found


def _address(future: Future[Any]) -> Pid | None:
    component = COMPONENTS.find(future)
    return None if component is None else component.pid
