"""Stage 1: one end of a line between two processes, which carries messages: a stream socket of any kind, or a pipe.

There are two ways to use an end. `send` and `receive` wait, and read nothing ahead, so that another process can go on
reading where this one left off. `put`, `flush` and `arrived` never wait longer than they are told. Whatever the other
end does, nothing is raised but `BusError`, for bytes that cannot be messages.
"""

from __future__ import annotations

import os
import select
import socket
import stat
import threading
import time
from typing import Self

from mopsus.bus.frames import PIECE, Frames, framed, read_frame
from mopsus.bus.messages import BusError

_NOW = socket.MSG_DONTWAIT
_QUIETLY = socket.MSG_NOSIGNAL
_AT_ONCE = select.PIPE_BUF
"""So much fits into a pipe that has room."""


class Channel:
    """One end. Any thread may `send`; only one takes what comes, and only one uses `put` and `flush`."""

    def __init__(self, line: socket.socket | int) -> None:
        """`line` is a connected stream socket, or the descriptor of an end of a pipe. It belongs to the channel."""
        self._line = line
        self._sending = threading.Lock()
        self._frames = Frames()
        self._out = bytearray()
        self.gone = False
        """Whether an end has gone, as far as this one has noticed, or what came is damaged."""

    @classmethod
    def of_descriptor(cls, descriptor: int) -> Self:
        """The end that was handed down to this process, and is not for programs that it starts."""
        os.set_inheritable(descriptor, False)
        is_socket = stat.S_ISSOCK(os.fstat(descriptor).st_mode)
        return cls(socket.socket(fileno=descriptor) if is_socket else descriptor)

    @classmethod
    def pair(cls) -> tuple[Self, Self]:
        """Both ends of a new line that goes both ways."""
        ours, theirs = socket.socketpair()
        return cls(ours), cls(theirs)

    def fileno(self) -> int:
        """The descriptor, to wait for several at once."""
        return self._line if isinstance(self._line, int) else self._line.fileno()

    # ---- with waiting

    def send(self, body: bytes) -> bool:
        """Send a message; wait until the line has taken it. Return whether it has: False if nobody is there any
        more."""
        left = memoryview(framed(body))
        with self._sending:
            try:
                while left:
                    left = left[self._write(left) :]
            except OSError:
                self.gone = True
        return not left

    def receive(self) -> bytes | None:
        """Wait for the next message, and read nothing beyond it. None if the other end is gone."""
        try:
            body = read_frame(self._read)
        except OSError:
            body = None
        self.gone |= body is None
        return body

    # ---- without

    @property
    def pending(self) -> bool:
        """Whether something that was `put` is still here."""
        return bool(self._out)

    def put(self, body: bytes) -> None:
        """Send a message as soon as the line has room for it, from here on with every `flush`."""
        if not self.gone:
            self._out += framed(body)

    def flush(self, patience_s: float = 0.0) -> bool:
        """Send what was put, wait at most so long for room. Return whether nothing is left to send. What is left when
        the other end has gone is dropped."""
        until = time.monotonic() + patience_s
        while self._out and not self.gone:
            try:
                del self._out[: self._write_now()]
            except BlockingIOError:
                if not self._is_ready(select.POLLOUT, max(0.0, until - time.monotonic())):
                    return False
            except OSError:
                self.gone = True
        self._out.clear()
        return True

    def arrived(self, patience_s: float | None = 0.0) -> list[bytes]:
        """The messages that have come; if there is nothing to read, wait at most so long, with None for as long as it
        takes. `BusError` if they cannot be messages: the channel is of no use then."""
        if self.gone or (patience_s != 0 and not self._is_ready(select.POLLIN, patience_s)):
            return []
        try:
            data = self._read_now()
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        self.gone |= not data
        try:
            return self._frames.feed(data)
        except BusError:
            self.gone = True
            raise

    # ---- the end

    def close(self) -> None:
        """Leave the line to other processes that have this end, if there are any."""
        self.gone = True
        if isinstance(self._line, int):
            os.close(self._line)
        else:
            self._line.close()

    def shut(self) -> None:
        """The other end learns that we are gone, and so does a thread of ours that receives."""
        self.gone = True
        if isinstance(self._line, int):
            return  # a pipe has no more than its descriptors
        try:
            self._line.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it was gone before

    # ---- sockets and pipes

    def _write(self, data: memoryview) -> int:
        return os.write(self._line, data) if isinstance(self._line, int) else self._line.send(data, _QUIETLY)

    def _read(self, most: int) -> bytes:
        return os.read(self._line, most) if isinstance(self._line, int) else self._line.recv(most)

    def _write_now(self) -> int:
        if not isinstance(self._line, int):
            return self._line.send(self._out, _NOW | _QUIETLY)
        if not self._is_ready(select.POLLOUT, 0.0):
            raise BlockingIOError
        return os.write(self._line, self._out[:_AT_ONCE])

    def _read_now(self) -> bytes:
        if not isinstance(self._line, int):
            return self._line.recv(PIECE, _NOW)
        if not self._is_ready(select.POLLIN, 0.0):
            raise BlockingIOError
        return os.read(self._line, PIECE)

    def _is_ready(self, what: int, patience_s: float | None) -> bool:
        poll = select.poll()
        poll.register(self.fileno(), what)
        return bool(poll.poll(None if patience_s is None else patience_s * 1000))
