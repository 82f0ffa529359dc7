"""A terminal that the editor shows, for a program that people type to.

The editor is asked to run a keeper there (`keeper.py`), which comes to a socket in a folder that only this user can
look into, says a token that is in a file there, and sends the descriptor of its terminal. That is what the program
reads and writes. Of all that comes later only the names of a few signals are heeded.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path

from mopsus.interactive.dap import keeper
from mopsus.interactive.dap.channel import Message
from mopsus.interactive.dap.console import Console, Streams
from mopsus.interactive.debugger import DebuggerError
from mopsus.model import UNDECODABLE

HANG_UP = "SIGHUP"
"""The signal that tells a program that its terminal is gone."""
SIGNALS = frozenset({HANG_UP, *(each.name for each in keeper.PASSED_ON)})
"""Those that a program gets from its terminal, by name."""
SIGNAL = "mopsus/signal"
"""The request of our own by which a debugger is told to give the program one of them, by its `name`."""

PATIENCE_S = 30.0
"""For a terminal to appear: an editor may have to start a program, and that a shell with much to read."""
_HELLO_S = 2.0
_LONGEST = 4096
_HINT = "let the program read a file, by `stdin`, or leave `console` out"


class TerminalError(DebuggerError):
    """There is no terminal for the program."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint=_HINT)


class Terminal(Console):
    """From the moment when it is asked for."""

    def __init__(self, on_signal: Callable[[str], None]) -> None:
        """`on_signal` is given the name of a signal that the program has to get, in another thread; the last one is
        `HANG_UP`, if the terminal ends before the program does."""
        self._on_signal = on_signal
        self._folder = tempfile.TemporaryDirectory(prefix="mopsus-terminal-")  # which nobody else can look into
        self._token = secrets.token_hex()
        Path(self._folder.name, keeper.TOKEN).write_text(self._token)
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._door.bind(str(Path(self._folder.name, keeper.DOOR)))
        self._door.listen()
        self._bell, self._ear = socket.socketpair()
        self._given_up: str | None = None
        """Why nobody waits any more, which a bell has rung for."""
        self._line: socket.socket | None = None
        self._finished = False

    def request(self, kind: str, title: str, folder: str) -> Message:
        """The arguments of `runInTerminal`. The environment of the program is none of the keeper's business."""
        words = [sys.executable, "-I", keeper.__file__, self._folder.name]
        return {"kind": kind, "title": title, "cwd": folder, "args": words}

    def answered(self, answer: Message) -> None:
        """What the editor says to that."""
        if answer.get("success") is not True:
            said = answer.get("message")
            self.give_up(f"the editor opens no terminal{f': {said}' if isinstance(said, str) and said else ''}")

    def open(self) -> Streams:
        try:
            line, terminal = self._await(time.monotonic() + PATIENCE_S)
        finally:
            for each in (self._door, self._bell, self._ear):
                each.close()
            self._folder.cleanup()
        self._line = line
        threading.Thread(target=self._listen, args=(line,), daemon=True).start()
        return terminal, terminal, terminal

    def give_up(self, why: str) -> None:
        self._given_up = why
        with suppress(OSError):  # nobody waits any more
            self._bell.send(b"!")

    def serve(self, session: int) -> None:
        self._tell_keeper(str(session).encode())

    def keep(self) -> None:
        self._tell_keeper(keeper.STAY)

    def finish(self) -> None:
        self._finished = True
        if self._line is not None:
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)

    def _tell_keeper(self, word: bytes) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.send(word)

    def _await(self, last: float) -> tuple[socket.socket, int]:
        """A keeper, with its terminal; it must come before a time."""
        while True:
            left = max(0.0, last - time.monotonic())
            ready, _, _ = select.select([self._door, self._ear], [], [], left)
            if self._given_up is not None:
                raise TerminalError(self._given_up)
            if not ready:
                raise TerminalError("the editor has opened no terminal in time")
            line, _ = self._door.accept()
            if (terminal := self._welcome(line)) is not None:
                return line, terminal
            line.close()

    def _welcome(self, line: socket.socket) -> int | None:
        """The terminal that a keeper brings; None if this is no keeper of ours."""
        line.settimeout(_HELLO_S)
        try:
            data, descriptors, _, _ = socket.recv_fds(line, _LONGEST, 1)
        except OSError:
            return None
        environment = self._read(data)
        if environment is None:
            for each in descriptors:
                os.close(each)
            return None
        if not descriptors or not os.isatty(descriptors[0]):
            for each in descriptors:
                os.close(each)
            line.close()
            raise TerminalError("what the editor has opened is no terminal, or was closed at once")
        line.settimeout(None)
        self.environment = environment
        return descriptors[0]

    def _read(self, hello: bytes) -> dict[str, str] | None:
        """What is known of a terminal; None if the one who tells does not know the token."""
        try:
            said = json.loads(hello)
            if not compare_digest(said["token"].encode(), self._token.encode()):
                return None
            told = said["environment"]
            return {name: told[name] for name in keeper.TOLD if isinstance(told.get(name), str)}
        except (*UNDECODABLE, KeyError, AttributeError, TypeError):
            return None

    def _listen(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            while word := line.recv(_LONGEST):
                if (name := word.decode(errors="replace")) in SIGNALS:
                    self._on_signal(name)
        if not self._finished:
            self._on_signal(HANG_UP)
