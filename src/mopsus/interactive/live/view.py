"""The process that shows pictures, as a debugger sees it: how it is started, and the line to it.

It is nobody's child, because a program must not find children that it does not know. It hears nothing of Ctrl-C. It
ends when the line does. Whatever becomes of it, the debugger goes on: what cannot be sent at once is left out, as long
as nothing depends on it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mopsus.bus.channel import Channel
from mopsus.bus.codec import pack, unpack
from mopsus.bus.messages import BusError
from mopsus.interactive.live.wire import Failed, FromDebugger, FromView, Ready, Request
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
        self._channel = Channel(line)
        self._heard: list[FromView] = []

    @property
    def gone(self) -> bool:
        """Whether nobody looks any more, as far as is known."""
        return self._channel.gone

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
        return self._channel.fileno()

    def send(self, message: FromDebugger, *, surely: bool = False) -> None:
        """Send it if the line has room for it; `surely`: wait until it has, and give the view up if it never has."""
        if self.gone or (self._channel.pending and not surely and not self._channel.flush()):
            return
        self._channel.put(pack(message))
        if not self._channel.flush(_PATIENCE_S if surely else 0.0) and surely:
            self.end()

    def requests(self) -> list[Request]:
        """What the view has asked for since the last call."""
        return self._requests(0.0)

    def wait(self) -> list[Request]:
        """What the view asks for next; nothing: it is gone."""
        found: list[Request] = []
        while not found and not self.gone:
            found = self._requests(None)
        return found

    def end(self) -> None:
        """Have the view end."""
        self._channel.shut()

    def close(self) -> None:
        """Leave the view to other processes that have this line, if there are any."""
        self._channel.close()

    # ---- how it works

    def _first(self) -> FromView | None:
        """The first that it says; None if it is gone or takes too long."""
        until = time.monotonic() + _START_S
        while not self._heard and not self.gone and (left := until - time.monotonic()) > 0:
            self._hear(left)
        return self._heard.pop(0) if self._heard else None

    def _requests(self, patience_s: float | None) -> list[Request]:
        self._hear(patience_s)
        heard, self._heard = self._heard, []
        return [message for message in heard if isinstance(message, Request)]

    def _hear(self, patience_s: float | None) -> None:
        try:
            self._heard += [unpack(Ready | Failed | Request, body) for body in self._channel.arrived(patience_s)]
        except BusError:  # nothing that it says can be relied on
            self.end()


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
