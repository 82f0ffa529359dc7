"""Stage 4: sockets: a send for every message handed to one, a recv for every message that came from it.

An end of an IP connection has an address that both sides know without asking: `<ip.port.1>`, the number of its host and
its port. Any other socket is a channel. Whoever handles a connection is a thread or task, and is a component as such,
which may handle many, one after the other. So the connection that a program accepts is a component of its own. Its
parent is who has accepted it, and it ends when the peer has closed it. It is known by the address of the peer, because
all that one server accepts have the same address on its side.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any, Final
from weakref import WeakKeyDictionary

from mopsus.events.component import reasons
from mopsus.events.component.address import MAILBOXES, stands_for_address
from mopsus.events.component.codec import Decoder, new_decoders
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import (
    ERROR,
    RESULT,
    SELF,
    Emit,
    Undo,
    argument,
    before,
    called_internally,
    hide,
    put,
    raising,
    returning,
)
from mopsus.events.component.identity import current
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid

_DATA: Final = argument(0, "data")
_SENDS: Final = ("send", "sendall")
_TAKES: Final = ("recv", "recvfrom", "recv_into")


def install(hub: Hub) -> Undo:
    """Tell of messages that go through sockets from now on."""
    emit = hub.emit
    wires, accepted = Wires(emit), _Accepted(emit)

    def sent(connection: socket.socket, data: Any, count: object) -> None:  # noqa: ANN401 - any buffer
        if not called_internally():
            whole = bytes(data)
            wires.sent(connection, whole[:count] if isinstance(count, int) else whole, peer_of(connection))

    def sent_to(connection: socket.socket, data: Any, address: Any) -> None:  # noqa: ANN401 - any buffer, any address
        if not called_internally():
            wires.sent(connection, bytes(data), ip_address(address) or MAILBOXES.of(connection).address())

    def received(connection: socket.socket, wanted: int, data: bytes) -> None:
        if not called_internally():
            wires.received(connection, data)
            if wanted and not data:
                accepted.end(connection)

    def received_from(connection: socket.socket, result: tuple[bytes, Any]) -> None:
        if not called_internally():
            wires.received(connection, result[0])

    def received_into(connection: socket.socket, buffer: Any, count: int) -> None:  # noqa: ANN401 - any buffer
        if not called_internally():
            wires.received(connection, bytes(memoryview(buffer).cast("B")[:count]))
            if not count and memoryview(buffer).nbytes:
                accepted.end(connection)

    def begin(result: tuple[socket.socket, Any]) -> None:
        if not called_internally():
            accepted.begin(*result)

    def paired(result: tuple[socket.socket, socket.socket]) -> None:
        one, other = result
        MAILBOXES.add(other, MAILBOXES.of(one))

    stands_for_address(socket.socket, _own_address)
    kind = socket.socket
    return put(
        [
            Advised(kind, "accept", (returning(begin, RESULT),)),
            Advised(kind, "_real_close", (before(accepted.end, SELF),)),
            *(Advised(kind, name, (raising(accepted.fail, SELF, ERROR),)) for name in (*_SENDS, *_TAKES)),
            *(Advised(kind, name, (returning(sent, SELF, _DATA, RESULT),)) for name in _SENDS),
            Advised(kind, "sendto", (returning(sent_to, SELF, _DATA, argument(1, "address")),)),
            Advised(kind, "recv", (returning(received, SELF, argument(0, "bufsize"), RESULT),)),
            Advised(kind, "recvfrom", (returning(received_from, SELF, RESULT),)),
            Advised(kind, "recv_into", (returning(received_into, SELF, argument(0, "buffer"), RESULT),)),
            Advised(socket, "socketpair", (returning(paired, RESULT),)),
        ]
    )


class _Accepted:
    """Tells of connections that the program accepts, from then until they are over."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._open: WeakKeyDictionary[socket.socket, tuple[Pid, int]] = WeakKeyDictionary()
        """With the process that has accepted each: those that are forked from it do not tell of its end again."""

    def begin(self, connection: socket.socket, peer: object) -> None:
        """A connection is there."""
        component, pid = current(), ip_address(peer)
        if component is not None and pid is not None:
            self._open[connection] = pid, os.getpid()
            function = Function("socket", "accept", (_own_address(connection),))
            self._emit(Kind.FORK, component.pid, pid, function)
            self._emit(Kind.INIT, pid, component.pid, function)

    def end(self, connection: socket.socket, reason: object = reasons.NORMAL) -> None:
        """The peer has closed a connection, or this side has."""
        found = self._open.pop(connection, None)
        if found is not None and found[1] == os.getpid():
            self._emit(Kind.EXIT, found[0], None, reason)

    def fail(self, connection: socket.socket, error: BaseException) -> None:
        """Something could not be done; if the connection was reset, that is its end."""
        if isinstance(error, ConnectionError):
            self.end(connection, reasons.of_exception(error))


class Wires:
    """Tells of messages in what goes through connections, of whatever kind."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._decoders: WeakKeyDictionary[Any, tuple[Decoder, Decoder]] = WeakKeyDictionary()

    def sent(self, connection: object, data: bytes, receiver: Pid) -> None:
        """Bytes were handed to a connection."""
        component = current()
        if component is not None and data:
            for message in self._decoder(connection, 0)(data):
                self._emit(Kind.SEND, component.pid, receiver, message)

    def received(self, connection: object, data: bytes) -> None:
        """Bytes came from a connection; none are its end, which is no message."""
        component = current()
        if component is not None and data:
            for message in self._decoder(connection, 1)(data):
                self._emit(Kind.RECV, component.pid, None, message)

    def _decoder(self, connection: object, direction: int) -> Decoder:
        found = self._decoders.get(connection)
        if found is None:
            make = new_decoders()
            found = self._decoders[connection] = (make(), make())
        return found[direction]


def peer_of(connection: socket.socket) -> Pid:
    """The address of the other end of a connection."""
    try:
        found = ip_address(connection.getpeername())
    except OSError:
        found = None
    return found or MAILBOXES.of(connection).address()


def ip_address(address: object) -> Pid | None:
    """The identifier of an end of an IP connection."""
    match address:
        case (str(host), int(port), *_):
            try:
                return Pid(f"<{int(ipaddress.ip_address(host.partition('%')[0]))}.{port}.1>")
            except ValueError:
                return None
    return None


def _own_address(connection: socket.socket) -> Pid:
    try:
        found = ip_address(connection.getsockname())
    except OSError:
        found = None
    return found or MAILBOXES.of(connection).address()


hide(Wires.sent, Wires.received, _Accepted.begin, _Accepted.end, _Accepted.fail)
