"""Stage 4: what components of any system tell over a local socket, a line for each event.

For producers that cannot write to a ring, in any language. A producer connects, says the token in its first line, and
then writes lines as logs have them. Nobody from another machine can: the socket is a file of the user's, or a port of
the loopback interface.
"""

from __future__ import annotations

import hmac
import os
import secrets
import selectors
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_PIECE = 1 << 16
_LONGEST = 1 << 24
"""Bytes of a line; who sends a longer one is not listened to any more."""
_LOOPBACK = "127.0.0.1"


class Producer:
    """Somebody who has connected."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.trusted = False
        self.cut = False
        """Was it gone, or not listened to any more, in the midst of a line?"""
        self._rest = b""

    def read(self, token: bytes) -> bytes | None:
        """The lines that have become complete; None if nothing more will come, or nothing that is to be trusted."""
        try:
            data = self.connection.recv(_PIECE)
        except OSError:
            data = b""
        if not data:
            self.cut = bool(self._rest)  # no event
            return None
        lines, end, self._rest = (self._rest + data).rpartition(b"\n")
        if not self.trusted and end:
            first, _, lines = (lines + end).partition(b"\n")
            if not hmac.compare_digest(first.strip(), token):
                return None
            self.trusted, end = True, b""
        if len(self._rest) > _LONGEST:
            self.cut = True
            return None
        return lines + end


class Listener:
    """A local socket, while this is entered. With a `path` it is a file, else a port of the loopback interface."""

    def __init__(self, path: str | None = None, port: int = 0, token: str | None = None) -> None:
        self.token = token or secrets.token_hex(16)
        self.refused = 0
        """How many had no token."""
        self.cut = 0
        """How many of the others ended in the midst of a line."""
        self._path = path
        if path is None:
            self._socket = socket.create_server((_LOOPBACK, port))
            self.address = "{}:{}".format(*self._socket.getsockname())
        else:
            self._socket = socket.socket(socket.AF_UNIX)
            before = os.umask(0o177)
            try:
                self._socket.bind(path)
            finally:
                os.umask(before)
            self._socket.listen()
            self.address = path

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        if self._path is not None:
            Path(self._path).unlink(missing_ok=True)

    def pieces(self) -> Iterator[bytes]:
        """Whole lines, as they come, until everybody who had the token has gone."""
        token, trusted = self.token.encode(), 0
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while trusted != -1:
                for key, _ in selector.select():
                    producer = key.data
                    if producer is None:
                        connection, _ = self._socket.accept()
                        selector.register(connection, selectors.EVENT_READ, Producer(connection))
                        continue
                    before = producer.trusted
                    lines = producer.read(token)
                    trusted += producer.trusted and not before
                    if lines:
                        yield lines
                    if lines is None:
                        selector.unregister(producer.connection)
                        producer.connection.close()
                        self.refused += not producer.trusted
                        self.cut += producer.trusted and producer.cut
                        if producer.trusted:
                            trusted = trusted - 1 or -1
