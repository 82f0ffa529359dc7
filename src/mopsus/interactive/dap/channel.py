"""The line between the process that speaks with the editor and the one of the debugger: messages over a socket.

Nothing is read ahead. A Python program that goes back to a checkpoint goes on in another process, which has to find the
next message where the first one left off.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import Any

Message = dict[str, Any]
"""A message of the Debug Adapter Protocol, whose number is none of ours."""

_LENGTH = 4


class Channel:
    """One end of it. Any thread may send; only one receives."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._sending = threading.Lock()

    @classmethod
    def of_descriptor(cls, descriptor: int) -> Channel:
        """The end that was handed down to this process, and is not for programs that it starts."""
        os.set_inheritable(descriptor, False)
        return cls(socket.socket(fileno=descriptor))

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        ours, theirs = socket.socketpair()
        return cls(ours), cls(theirs)

    def fileno(self) -> int:
        return self._line.fileno()

    def send(self, message: Message) -> None:
        """Nothing happens if nobody is there any more: whoever receives next learns of it."""
        data = json.dumps(message, default=str).encode()
        try:
            with self._sending:
                self._line.sendall(len(data).to_bytes(_LENGTH, "little") + data)
        except OSError:
            return

    def receive(self) -> Message | None:
        """The next message, when it comes; None if the other end is gone."""
        length = self._exactly(_LENGTH)
        data = None if length is None else self._exactly(int.from_bytes(length, "little"))
        if data is None:
            return None
        message: Message = json.loads(data)
        return message

    def close(self) -> None:
        self._line.close()

    def shut(self) -> None:
        """The other end learns that we are gone, and so does a thread of ours that receives."""
        try:
            self._line.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it was gone before

    def _exactly(self, length: int) -> bytes | None:
        data = bytearray()
        while len(data) < length:
            try:
                part = self._line.recv(length - len(data))
            except OSError:
                return None
            if not part:
                return None
            data += part
        return bytes(data)
