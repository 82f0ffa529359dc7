"""Stage 4: processes of multiprocessing: a fork when one is started, an init when it begins to run, an exit in the end.

A process that is killed cannot say so: its parent tells of its exit when it learns of it. Queues and pipes between
processes are channels, unless their owner was declared, because nobody knows all who take from them. Their identifiers
are given by who makes them, and go with the processes that inherit them.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import process
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from mopsus.events.component import reasons
from mopsus.events.component.address import COMPONENTS, MAILBOXES, Mailbox, stands_for_address, told, told_function
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.messages import sending
from mopsus.events.component.hooks.queues import gives_up
from mopsus.events.component.hooks.wiring import (
    ERROR,
    RESULT,
    SELF,
    Emit,
    Undo,
    advise,
    argument,
    before,
    called_internally,
    put,
    raising,
    returning,
)
from mopsus.events.component.identity import ELSEWHERE, NOBODY, become, current, enter, new_pid, signature
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.events.weave.place import Placements
from mopsus.model.term import Pid

_KEY = "mopsus"
"""Under which a process finds, in its configuration, what it inherits."""


class _Legacy(NamedTuple):
    """What a process inherits from its parent."""

    pid: str
    name: str
    parent: str
    ends: str
    """The file in which processes note that they have told of their exits."""
    channels: dict[str, tuple[str, str]]
    """By key, where messages for this end of a channel go, and those for the other end."""


# ---- processes


def install(hub: Hub) -> Undo:
    """Tell of processes from now on."""
    emit = hub.emit
    watched: WeakKeyDictionary[Any, Pid] = WeakKeyDictionary()
    polls = Placements()

    def start(child: BaseProcess) -> None:
        if getattr(child, "_popen", None) is not None or not hasattr(child, "_config"):
            return  # it cannot be started
        parent = current()
        if parent is None or _is_pooled(child):
            _config(child).pop(_KEY, None)
            return
        component = COMPONENTS.of(child, child.name)
        legacy = _Legacy(component.pid, component.name, parent.pid, _ends.path(), _channels.bequeathed())
        _config(child)[_KEY] = tuple(legacy)
        ELSEWHERE.add(component.pid)
        emit(Kind.FORK, parent.pid, component.pid, told_function(_function(child)))

    def started(child: Any) -> None:  # noqa: ANN401 - its attributes are nobody's business
        component = COMPONENTS.find(child)
        if component is not None and _KEY in _config(child):
            watched[child._popen] = component.pid
            polls.put([Advised(type(child._popen), "poll", (returning(polled, SELF, RESULT),))])

    def not_started(child: Any) -> None:  # noqa: ANN401 - its attributes are nobody's business
        component = COMPONENTS.find(child)
        if component is not None and getattr(child, "_popen", None) is None and _config(child).pop(_KEY, None):
            ELSEWHERE.discard(component.pid)  # all that it did is known here
            emit(Kind.EXIT, component.pid, None, reasons.START_FAILED)

    def polled(popen: object, status: int | None) -> None:
        if status is None or (pid := watched.pop(popen, None)) is None:
            return
        if pid not in _ends.noted():
            emit(Kind.EXIT, pid, None, reasons.of_status(status))
        ELSEWHERE.discard(pid)

    def begin(child: Any) -> None:  # noqa: ANN401 - its attributes are nobody's business
        _begin(child, emit)

    stands_for_address(BaseProcess, _address)
    undo = put(
        [
            Advised(BaseProcess, "start", (before(start, SELF), returning(started, SELF), raising(not_started, SELF))),
            Advised(BaseProcess, "_bootstrap", (before(begin, SELF),)),
        ]
    )

    def undo_all() -> None:
        undo()
        polls.undo()
        _ends.remove()

    return undo_all


def _begin(child: Any, emit: Emit) -> None:  # noqa: ANN401 - its attributes are nobody's business
    """In the process that was started: become the component that the parent has announced."""
    given = _config(child).pop(_KEY, None)
    if given is None:
        enter(NOBODY if _is_pooled(child) else None)
        return
    legacy = _Legacy(*given)
    component = become(Pid(legacy.pid), legacy.name)
    COMPONENTS.add(child, component)
    _ends.inherit(legacy.ends)
    _channels.inherit(legacy.channels)
    function = told_function(_function(child))
    attributes = vars(child)
    own = attributes.get("run")

    def run() -> None:
        attributes.pop("run", None)
        if own is not None:
            attributes["run"] = own
        emit(Kind.INIT, component.pid, Pid(legacy.parent), function)

    def done() -> None:
        _end(reasons.NORMAL)

    def failed(error: BaseException) -> None:
        _end(reasons.of_exception(error))

    def _end(reason: object) -> None:
        emit(Kind.EXIT, component.pid, None, reason)
        _ends.note(component.pid)

    attributes["run"] = advise(child.run, before(run), returning(done), raising(failed, ERROR))


def _config(child: Any) -> dict[str, Any]:  # noqa: ANN401 - its attributes are nobody's business
    """What a process takes with it, and gives to its children."""
    return cast("dict[str, Any]", child._config)


def _is_pooled(child: Any) -> bool:  # noqa: ANN401 - its attributes are nobody's business
    """Does it serve an executor, the calls of which are the components?"""
    return getattr(getattr(child, "_target", None), "__module__", None) == "concurrent.futures.process"


def _function(child: Any) -> Function:  # noqa: ANN401 - its attributes are nobody's business
    target = getattr(child, "_target", None)
    if target is not None and type(child).run is process.BaseProcess.run:
        return signature(target, tuple(child._args), child._kwargs)
    return signature(child.run)


def _address(child: BaseProcess) -> Pid | None:
    component = COMPONENTS.find(child)
    return None if component is None else component.pid


class _Ends:
    """Notes of processes that have told of their exits, for parents that learn how they ended."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._maker = 0

    def path(self) -> str:
        if self._path is None:
            handle, self._path = tempfile.mkstemp(prefix="mopsus-ends-")
            os.close(handle)
            self._maker = os.getpid()
        return self._path

    def inherit(self, path: str) -> None:
        self._path = path

    def note(self, pid: Pid) -> None:
        with suppress(OSError):  # nobody listens any more
            handle = os.open(self.path(), os.O_WRONLY | os.O_APPEND)
            os.write(handle, f"{pid}\n".encode())
            os.close(handle)

    def noted(self) -> set[str]:
        try:
            with open(self.path(), encoding="ascii") as file:
                return set(file.read().split())
        except OSError:
            return set()

    def remove(self) -> None:
        """Remove the file, in the process that has made it."""
        path, self._path = self._path, None
        if path is not None and self._maker == os.getpid():
            with suppress(OSError):
                os.unlink(path)


_ends = _Ends()
atexit.register(_ends.remove)


# ---- queues and pipes


class _Channels:
    """The channels between processes, by what their ends have in common wherever they are."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, tuple[str, Mailbox, Mailbox]] = WeakKeyDictionary()
        self._inherited: dict[str, tuple[str, str]] = {}

    def add(self, end: object, key: str, own: Mailbox, other: Mailbox) -> None:
        """There is an end of a channel. Messages for it go to one mailbox, those that are put there to another."""
        self._known[end] = key, own, other
        MAILBOXES.add(end, own)

    def of(self, end: object) -> tuple[Mailbox, Mailbox]:
        """The mailboxes of an end: for messages to it, and for messages that are put there."""
        if end not in self._known:
            key = _key(end)
            own, other = self._inherited.get(key) or [new_pid()] * 2
            box = MAILBOXES.find(end) or Mailbox("channel", Pid(own))
            self.add(end, key, box, box if own == other else Mailbox("channel", Pid(other)))
        _, mine, others = self._known[end]
        return mine, others

    def bequeathed(self) -> dict[str, tuple[str, str]]:
        """What a process that begins needs to know them."""
        made = {key: (str(own.address()), str(other.address())) for key, own, other in self._known.values()}
        return {**self._inherited, **made}

    def inherit(self, channels: dict[str, tuple[str, str]]) -> None:
        self._inherited = dict(channels)


_channels = _Channels()


def _key(end: Any) -> str:  # noqa: ANN401 - any channel
    """What is the same for an end of a channel in all processes."""
    lock = getattr(end, "_rlock", None)
    if lock is not None:
        return str(lock._semlock.name)
    return f"file {os.fstat(end.fileno()).st_ino}"


class _Messages:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def sent(self, end: object, message: object) -> None:
        component = current()
        if component is not None and not called_internally():
            self._emit(Kind.SEND, component.pid, _channels.of(end)[1].address(), told(message))

    def received(self, message: object) -> None:
        component = current()
        if component is not None and not called_internally():
            self._emit(Kind.RECV, component.pid, None, told(message))


def install_queues(hub: Hub) -> Undo:
    """Tell of messages in queues between processes from now on."""
    emit = hub.emit
    from multiprocessing import queues

    messages = _Messages(emit)

    def made(queue: object) -> None:
        box = Mailbox("queue", new_pid())
        _channels.add(queue, _key(queue), box, box)

    kinds = (queues.Queue, queues.SimpleQueue)
    for kind in kinds:
        stands_for_address(kind, _channel_address)
    item, received = argument(0, "obj"), returning(messages.received, RESULT)
    sent = tuple(sending(hub, messages.sent, SELF, item, may_fail=_may_be_full))
    return put(
        [
            *(Advised(kind, "__init__", (returning(made, SELF),)) for kind in kinds),
            *(Advised(kind, "put", sent) for kind in (queues.Queue, queues.JoinableQueue)),
            Advised(queues.SimpleQueue, "put", tuple(sending(hub, messages.sent, SELF, item))),
            *(Advised(kind, "get", (received,)) for kind in kinds),
        ]
    )


def _may_be_full(given: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """May `put` raise `Full`? A queue that was given no size has the largest possible."""
    from multiprocessing.synchronize import SEM_VALUE_MAX  # type: ignore[attr-defined]  # not in its stubs

    return given[0]._maxsize < SEM_VALUE_MAX and gives_up(given[2:], named)


def install_pipes(hub: Hub) -> Undo:
    """Tell of messages in pipes between processes from now on."""
    emit = hub.emit
    from multiprocessing import connection

    messages = _Messages(emit)

    def made(ends: tuple[Any, Any]) -> None:
        if called_internally(but="multiprocessing.context"):  # which is the program's way there
            return
        one, other = ends
        mine, others = Mailbox("pipe", new_pid()), Mailbox("pipe", new_pid())
        if not one.writable:
            others = mine  # only one end takes messages
        _channels.add(one, _key(one), mine, others)
        _channels.add(other, _key(other), others, mine)

    stands_for_address(connection._ConnectionBase, _channel_address)
    kind = connection._ConnectionBase
    received = returning(messages.received, RESULT)
    return put(
        [
            Advised(connection, "Pipe", (returning(made, RESULT),)),
            Advised(kind, "send", tuple(sending(hub, messages.sent, SELF, argument(0, "obj")))),
            Advised(kind, "send_bytes", tuple(sending(hub, messages.sent, SELF, argument(0, "buf")))),
            Advised(kind, "recv", (received,)),
            Advised(kind, "recv_bytes", (received,)),
        ]
    )


def _channel_address(end: object) -> Pid:
    return _channels.of(end)[0].address()
