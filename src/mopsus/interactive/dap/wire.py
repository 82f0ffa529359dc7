"""The editor's end: messages of the Debug Adapter Protocol as bytes, each after a header with its length."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from typing import IO

from mopsus.interactive.dap.arguments import RequestError
from mopsus.interactive.dap.channel import Message
from mopsus.model import UNDECODABLE

_HEADER = b"content-length"
_MOST = 64 * 1024 * 1024
"""A message that claims to be longer is no message."""


class Wire:
    """Reads messages, and writes them with numbers of their own. Any thread may write; only one reads."""

    def __init__(self, source: IO[bytes], target: IO[bytes], log: IO[str] | None = None) -> None:
        self._source, self._target, self._log = source, target, log
        self._writing = threading.Lock()
        self._written = 0

    def read(self) -> Message | None:
        """The next message; None if the editor is gone. `RequestError` if what comes is none: nothing after it can be
        relied on."""
        length = self._length()
        if length is None:
            return None
        data = self._source.read(length)
        if len(data) < length:
            return None
        try:
            message = json.loads(data)
        except UNDECODABLE as error:
            raise RequestError(f"a message is no JSON: {error}") from error
        if not isinstance(message, dict):
            raise RequestError("a message is no object")
        self._note("<-", message)
        return message

    def write(self, message: Message) -> int:
        """Send it; nothing happens if the editor is gone. The number that it has."""
        with self._writing:
            self._written += 1
            number = self._written
            numbered = {"seq": number} | message
            self._note("->", numbered)
            data = json.dumps(numbered).encode()
            with suppress(OSError, ValueError):  # whoever reads learns of it
                self._target.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
                self._target.flush()
            return number

    def note(self, text: str) -> None:
        """A line for the log."""
        if self._log is not None:
            self._log.write(f"{time.strftime('%H:%M:%S')} {text}\n")
            self._log.flush()

    def _note(self, mark: str, message: Message) -> None:
        if self._log is not None:
            self.note(f"{mark} {json.dumps(message)}")

    def _length(self) -> int | None:
        """Of the next message: all header lines are read, up to the empty one."""
        length = None
        while line := self._source.readline(1024):
            if not line.strip():
                if length is None:
                    raise RequestError("a message has no Content-Length")
                return length
            name, _, value = line.partition(b":")
            if name.strip().lower() == _HEADER:
                if not value.strip().isdigit() or int(value) > _MOST:
                    raise RequestError("a message has no usable Content-Length")
                length = int(value)
        return None
