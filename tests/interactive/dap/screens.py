"""Terminals that a scripted editor opens: somebody looks at them, and types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import Self

from interactive.dap.client import PATIENCE_S, Client, Message

_OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
"""Have the terminal as one's own, and become something else."""


class Screen:
    """A terminal with a command in it."""

    def __init__(self, arguments: Message) -> None:
        self._master, self._slave = pty.openpty()  # both are kept, to look at them when all others are gone
        self.modes = termios.tcgetattr(self._slave)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OWN, *arguments["args"]],
            cwd=arguments["cwd"],
            env={**os.environ, "TERM": "screen-of-a-test"},
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
        )
        self.text = ""
        self._end = os.pipe()
        self._news = threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, text: str) -> None:
        """Wait until this is to be seen."""
        with self._news:
            assert self._news.wait_for(lambda: text in self.text, PATIENCE_S), self.text

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def is_as_before(self) -> bool:
        """Does it work as it did before anything ran in it?"""
        return termios.tcgetattr(self._slave) == self.modes

    def await_raw(self) -> None:
        """Until somebody reads it key by key."""
        deadline = time.monotonic() + PATIENCE_S
        while termios.tcgetattr(self._slave)[3] & termios.ICANON:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def ended(self) -> int:
        """The status of the command, when it has ended."""
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """As somebody does who clicks it away."""
        if self._reading.is_alive():
            os.write(self._end[1], b"!")
            self._reading.join(PATIENCE_S)
            for each in (self._master, self._slave, *self._end):
                os.close(each)

    def _read(self) -> None:
        while self._end[0] not in (ready := select.select([self._master, self._end[0]], [], [])[0]):
            assert ready
            data = os.read(self._master, 4096)
            with self._news:
                self.text += data.decode(errors="replace")
                self._news.notify_all()


class Desk:
    """An editor that opens terminals, and who sits before it."""

    def __init__(self) -> None:
        self.editor = Client()
        self.editor.abilities |= {"supportsRunInTerminalRequest": True}
        self.editor.run_in_terminal = self._run
        self.asked: list[Message] = []
        self.screens: list[Screen] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.editor.__exit__(kind, *rest)
        for screen in self.screens:
            screen.close()
            screen.process.kill()
            screen.ended()

    @property
    def screen(self) -> Screen:
        """The latest one."""
        return self.screens[-1]

    def _run(self, arguments: Message) -> Message:
        self.asked.append(arguments)
        self.screens.append(Screen(arguments))
        return {"processId": self.screen.process.pid}
