"""A view without a page: it is started as the real one is, and a test sees what it gets and says what it asks for."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path

from mopsus.bus import Channel, pack, unpack
from mopsus.interactive.live.picture import Course, Picture
from mopsus.interactive.live.wire import FromDebugger, FromView, Ready, Refused, Request, Wish

ADDRESS = "http://127.0.0.1:1/?token=none"
PATIENCE_S = 120.0

_SCRIPT = """#!{python}
import os, socket, sys, threading
line = socket.socket(fileno=int(sys.argv[4]))
test = socket.socket(socket.AF_UNIX)
test.connect({door!r})

def pass_on(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)

threading.Thread(target=pass_on, args=(test, line), daemon=True).start()
pass_on(line, test)
"""


class StandIn:
    """In a folder of its own. `python` is what to give a session as the interpreter of its view."""

    def __init__(self, folder: Path) -> None:
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / "door"))
        self._door.listen()
        self._door.settimeout(PATIENCE_S)
        script = folder / "python"
        script.write_text(_SCRIPT.format(python=sys.executable, door=str(folder / "door")))
        script.chmod(0o755)
        self.python = str(script)
        self.pictures: list[Picture] = []
        self._line: Channel | None = None

    def start(self, first: FromView | None = None) -> None:
        """The debugger has started it; this is what it answers, if not that it is ready."""
        self.close_line()
        line = self._door.accept()[0]
        line.settimeout(PATIENCE_S)
        self._line = Channel(line)
        self.say(first or Ready(ADDRESS))

    def say(self, message: FromView) -> None:
        assert self._line is not None
        self._line.send(pack(message))

    def ask(self, wish: Wish, number: int | None = None) -> None:
        self.say(Request(wish, number))

    def hear(self) -> FromDebugger | None:
        """The next message; None: the debugger is gone."""
        assert self._line is not None
        body = self._line.receive()
        if body is None:
            return None
        message: FromDebugger = unpack(Picture | Refused, body)
        if isinstance(message, Picture):
            self.pictures.append(message)
        return message

    def see(self, wanted: Callable[[Picture], bool]) -> Picture:
        """The next picture that is like this."""
        while True:
            message = self.hear()
            assert message is not None, f"the debugger is gone after {self.pictures[-1:]}"
            if isinstance(message, Picture) and wanted(message):
                return message

    def see_stop(self, reason: str = "") -> Picture:
        return self.see(lambda picture: picture.program.course is Course.STOPPED and reason in picture.program.reason)

    def refused(self) -> Refused:
        while True:
            message = self.hear()
            assert message is not None
            if isinstance(message, Refused):
                return message

    def rest(self) -> list[Picture]:
        """All pictures until the debugger is gone."""
        before = len(self.pictures)
        while self.hear() is not None:
            pass
        return self.pictures[before:]

    def end(self) -> None:
        """The view dies."""
        assert self._line is not None
        self._line.shut()

    def close_line(self) -> None:
        if self._line is not None:
            self._line.close()

    def close(self) -> None:
        self.close_line()
        self._door.close()
