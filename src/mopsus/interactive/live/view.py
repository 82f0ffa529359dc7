"""The process that shows pictures, as a debugger sees it: how it is started, and the line to it.

It is nobody's child, because a program must not find children that it does not know. It hears nothing of Ctrl-C. It
ends when the line does. Whatever becomes of it, the debugger goes on: what cannot be sent at once is left out, as long
as nothing depends on it.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mopsus.interactive.live.wire import Failed, FromDebugger, FromView, Ready, Request, read_from_view, write_line
from mopsus.interactive.messages import ViewError

_START_S = 60.0
"""A machine that is busy may take long to load a page's libraries."""
_PATIENCE_S = 1.0
"""How long a picture of a stop may take to get through: a view that is that slow is lost."""
_BUFFER = 1 << 20
_HINT = "`verde show-graph text` draws it here"


class View:
    """The line to a view. One thread may read from it while another sends."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._rest = b""
        self._heard = b""
        self.gone = False

    @classmethod
    def start(cls, python: str) -> tuple[View, str]:
        """Start a view, which takes a moment; its address. `ViewError` says why there can be none."""
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        view = cls(ours)
        words = [python, "-P", "-m", "mopsus.ui.live", str(theirs.fileno()), *(["--open"] if _has_display() else [])]
        with tempfile.TemporaryFile() as log:
            with theirs:
                _start_away(words, theirs.fileno(), log.fileno())
            match view._first():
                case Ready(address):
                    return view, address
                case Failed(why):
                    pass
                case _:
                    log.seek(0)
                    last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
                    why = f"the live view did not start: {last or 'it said nothing'}"
        view.close()
        raise ViewError(why, hint=_HINT)

    def fileno(self) -> int:
        return self._line.fileno()

    def send(self, message: FromDebugger, *, surely: bool = False) -> None:
        """Send it if the line has room for it; `surely`: wait until it has, and give the view up if it never has."""
        if self.gone or (self._rest and not surely and not self._flush(0.0)):
            return
        self._rest += write_line(message)
        if not self._flush(_PATIENCE_S if surely else 0.0) and surely:
            self.end()

    def requests(self) -> list[Request]:
        """What the view has asked for since the last call."""
        self._receive(0.0)
        return list(self._read())

    def wait(self) -> list[Request]:
        """What the view asks for next; nothing: it is gone."""
        found: list[Request] = []
        while not found and not self.gone:
            self._receive(None)
            found = list(self._read())
        return found

    def end(self) -> None:
        """Have the view end."""
        self.gone = True
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Leave the view to other processes that have this line, if there are any."""
        self.gone = True
        self._line.close()

    # ---- how it works

    def _first(self) -> FromView | None:
        while b"\n" not in self._heard and not self.gone:
            self._receive(_START_S)
        line, _, self._heard = self._heard.partition(b"\n")
        return read_from_view(line) if line else None

    def _flush(self, patience: float) -> bool:
        """Is everything on its way? The rest is kept."""
        until = time.monotonic() + patience
        while self._rest and not self.gone:
            try:
                sent = self._line.send(self._rest, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                self._rest = self._rest[sent:]
            except BlockingIOError:
                if not self._ready(select.POLLOUT, max(0.0, until - time.monotonic())):
                    return False
            except OSError:
                self.gone = True
        return not self._rest

    def _receive(self, patience: float | None) -> None:
        """Hear what there is; nothing for so long, which only ends a view that has not begun."""
        if self._ready(select.POLLIN, patience):
            try:
                data = self._line.recv(65536, socket.MSG_DONTWAIT)
            except OSError:
                data = b""
            self._heard += data
            self.gone |= not data
        elif patience:
            self.gone = True

    def _ready(self, what: int, patience: float | None) -> bool:
        poll = select.poll()
        poll.register(self._line, what)
        return bool(poll.poll(None if patience is None else patience * 1000))

    def _read(self) -> Iterator[Request]:
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            message = read_from_view(line)
            if isinstance(message, Request):
                yield message


def find_python() -> str:
    """An interpreter that may have the view's libraries: this one, if it is one, else that of the `mopsus` command."""
    if Path(sys.executable).name.startswith("python") and Path(sys.prefix, "pyvenv.cfg").exists():
        return sys.executable
    command = shutil.which("mopsus")
    if command is not None:
        with open(command, "rb") as file:
            first = file.readline().decode(errors="replace").strip()
        if first.startswith("#!") and Path(first[2:]).exists():
            return first[2:]
    return sys.executable or "python3"


def _start_away(words: list[str], line: int, log: int) -> None:
    """Start a process that is no child of ours, in a session of its own."""
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", *words],
        pass_fds=(line,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        start_new_session=True,
        check=True,
    )


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
