"""Stage 4: tasks of asyncio: a fork when one is made, an init at its first step, an exit when it is done.

Messages go through its queues and streams. Tasks that the library makes for its own purposes, such as the one in which
`wait_for` takes from a queue, do what they do for the task that wanted it.
"""

from __future__ import annotations

import asyncio
from asyncio import base_events
from typing import Any

from mopsus import _core
from mopsus.events.component import reasons
from mopsus.events.component.address import COMPONENTS, MAILBOXES, stands_for_address, told_function
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.messages import mail
from mopsus.events.component.hooks.sockets import Wires, ip_address
from mopsus.events.component.hooks.wiring import (
    RESULT,
    SELF,
    Emit,
    Undo,
    argument,
    before,
    called_internally,
    getting,
    giving,
    hide,
    is_internal,
    put,
    returning,
)
from mopsus.events.component.identity import Component, coroutine_signature, current, new_component
from mopsus.events.component.occurrence import Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid

_READS = ("read", "readline", "readexactly", "readuntil")


def install(hub: Hub) -> Undo:
    """Tell of tasks, and of what goes through their queues and streams, from now on."""
    stands_for_address(asyncio.Task, _address)
    stands_for_address(asyncio.Queue, _mailbox_address)
    tasks, messages, streams = _Tasks(hub.emit), mail(hub, shared=False), _Streams(hub.emit)
    taken = before(messages.awaited, SELF)
    hide(asyncio.Queue.put, asyncio.Queue.get)
    return put(
        [
            Advised(
                base_events.BaseEventLoop,
                "create_task",
                (giving(tasks.fork, argument(0, "coro")), returning(tasks.made, RESULT)),
            ),
            Advised(asyncio.Task, "get_coro", (getting(_core.coroutine_of, RESULT),)),
            # What waits calls what does not, when it has waited.
            Advised(asyncio.Queue, "put_nowait", (returning(messages.sent, SELF, argument(0, "item")),)),
            Advised(asyncio.Queue, "get_nowait", (taken, returning(messages.received, RESULT))),
            Advised(asyncio.Queue, "get", (taken,)),
            Advised(asyncio.StreamWriter, "write", (returning(streams.sent, SELF, argument(0, "data")),)),
            *(Advised(asyncio.StreamReader, name, (getting(streams.receiving, SELF, RESULT),)) for name in _READS),
        ]
    )


class _Tasks:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def fork(self, coroutine: object) -> object:
        """What a task shall run instead of a coroutine."""
        parent = current()
        function = told_function(coroutine_signature(coroutine))
        if parent is None or is_internal(function.module) or function.module == "builtins":
            return _core.Steps(coroutine, parent, None, None) if parent is not None else coroutine
        component = new_component(function.name)
        self._emit(Kind.FORK, parent.pid, component.pid, function)

        def begin() -> None:
            self._emit(Kind.INIT, component.pid, parent.pid, function)

        def end(_result: object, error: BaseException | None) -> None:
            reason = reasons.NORMAL if error is None else reasons.of_exception(error)
            self._emit(Kind.EXIT, component.pid, None, reason)

        for told_of in (begin, end):
            _core.hide(told_of.__code__)
        return _core.Steps(coroutine, component, begin, end)

    def made(self, task: Any) -> None:  # noqa: ANN401 - a factory may make anything
        """A task has been made; an eager one may be done by now, and then has no coroutine (to ask crashes 3.12.1)."""
        component = None if task.done() else _component(task)
        if component is not None:
            component.name = task.get_name()
            COMPONENTS.add(task, component)


class _Streams:
    def __init__(self, emit: Emit) -> None:
        self._wires = Wires(emit)

    def sent(self, writer: asyncio.StreamWriter, data: Any) -> None:  # noqa: ANN401 - any buffer
        """Bytes were handed to a stream."""
        peer = ip_address(writer.get_extra_info("peername"))
        self._wires.sent(writer, bytes(data), peer or MAILBOXES.of(writer.transport).address())

    def receiving(self, reader: asyncio.StreamReader, reading: object) -> object:
        """What a task shall await instead of a coroutine that reads from a stream."""
        if called_internally():
            return reading

        def end(result: Any, error: BaseException | None) -> None:  # noqa: ANN401 - what was read
            if error is None:
                self._wires.received(reader, result)

        _core.hide(end.__code__)
        return _core.Steps(reading, None, None, end)


def _component(task: asyncio.Task[Any]) -> Component | None:
    found = _core.component_of(task.get_coro())
    return found if isinstance(found, Component) else None


def _address(task: asyncio.Task[Any]) -> Pid | None:
    component = COMPONENTS.find(task)
    return None if component is None else component.pid


def _mailbox_address(queue: object) -> Pid:
    return MAILBOXES.of(queue).address()
