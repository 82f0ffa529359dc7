"""Stage 4: sockets: a send for every message handed to one, a recv for every message that came from it.

An end of an IP connection has an address that both sides know without asking: `<ip.port.1>`, the number of its host and
its port. Any other socket is a channel. Whoever handles a connection is a thread or task, and is a component as such.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Any, Final
from weakref import WeakKeyDictionary

from mopsus.events.component.address import MAILBOXES, stands_for_address
from mopsus.events.component.codec import Decoder, new_decoders
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import (
    RESULT,
    SELF,
    Emit,
    Undo,
    argument,
    called_internally,
    hide,
    put,
    returning,
)
from mopsus.events.component.identity import current
from mopsus.events.component.occurrence import Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid

_DATA: Final = argument(0, "data")


def install(hub: Hub) -> Undo:
    """Tell of messages that go through sockets from now on."""
    emit = hub.emit
    wires = Wires(emit)

    def sent(connection: socket.socket, data: Any, count: object) -> None:  # noqa: ANN401 - any buffer
        if not called_internally():
            whole = bytes(data)
            wires.sent(connection, whole[:count] if isinstance(count, int) else whole, peer_of(connection))

    def sent_to(connection: socket.socket, data: Any, address: Any) -> None:  # noqa: ANN401 - any buffer, any address
        if not called_internally():
            wires.sent(connection, bytes(data), ip_address(address) or MAILBOXES.of(connection).address())

    def received(connection: socket.socket, data: bytes) -> None:
        if not called_internally():
            wires.received(connection, data)

    def received_from(connection: socket.socket, result: tuple[bytes, Any]) -> None:
        if not called_internally():
            wires.received(connection, result[0])

    def received_into(connection: socket.socket, buffer: Any, count: int) -> None:  # noqa: ANN401 - any buffer
        if not called_internally():
            wires.received(connection, bytes(memoryview(buffer).cast("B")[:count]))

    def paired(result: tuple[socket.socket, socket.socket]) -> None:
        one, other = result
        MAILBOXES.add(other, MAILBOXES.of(one))

    stands_for_address(socket.socket, _own_address)
    kind = socket.socket
    return put(
        [
            Advised(kind, "send", (returning(sent, SELF, _DATA, RESULT),)),
            Advised(kind, "sendall", (returning(sent, SELF, _DATA, RESULT),)),
            Advised(kind, "sendto", (returning(sent_to, SELF, _DATA, argument(1, "address")),)),
            Advised(kind, "recv", (returning(received, SELF, RESULT),)),
            Advised(kind, "recvfrom", (returning(received_from, SELF, RESULT),)),
            Advised(kind, "recv_into", (returning(received_into, SELF, argument(0, "buffer"), RESULT),)),
            Advised(socket, "socketpair", (returning(paired, RESULT),)),
        ]
    )


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


hide(Wires.sent, Wires.received)
