"""What runs in a terminal that an editor has opened for a program: it hands the terminal over, and keeps it meanwhile.

The program itself runs elsewhere, under its debugger, so the keys that make signals reach the keeper, and it passes
them on. It ends with the session, after the program: what that does to the terminal as it dies must come before the
terminal is put right. If the program is let go, the keeper stays for as long as it runs.

An editor runs this file by itself, whatever its environment: nothing of ours can be imported.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

DOOR = "door"
"""The socket in the folder that is given to a keeper, where it is expected."""
TOKEN = "token"
"""The file there with what it has to say first."""
TOLD = ("TERM", "COLORTERM")
"""Variables of the environment by which programs know what a terminal can do."""
PASSED_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH)
"""Signals that a terminal makes for the program in it."""
STAY = b"stay"
"""The word that the program is let go. Any other word is the number of the session of processes that it runs in."""

_LOOK_S = 0.05
_DYING_S = 5.0
"""How long a program that is being ended is waited for."""
_LONGEST = 64


def keep(folder: str) -> None:
    """Give this terminal to who waits in a folder, until the session there is over."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(str(Path(folder, DOOR)))
        hello = {
            "token": Path(folder, TOKEN).read_text(),
            "environment": {name: os.environ[name] for name in TOLD if name in os.environ},
        }
        if not os.isatty(0):
            socket.send_fds(line, [json.dumps(hello).encode()], [])
            return
        modes = termios.tcgetattr(0)
        for each in (signal.SIGTSTP, signal.SIGTTOU):
            signal.signal(each, signal.SIG_IGN)  # the shell must not have the terminal before we are done

        def tell(number: int, _: FrameType | None) -> None:
            with suppress(OSError):
                line.send(signal.Signals(number).name.encode(), socket.MSG_DONTWAIT)

        for each in PASSED_ON:
            signal.signal(each, tell)
        socket.send_fds(line, [json.dumps(hello).encode()], [0])
        session, stays = 0, False
        with suppress(OSError):
            while word := line.recv(_LONGEST):
                if word == STAY:
                    stays = True
                else:
                    session = int(word)
    if stays:
        _pass_on_to(session)
    last = time.monotonic() + _DYING_S
    while session and (stays or time.monotonic() < last) and _processes(session):
        time.sleep(_LOOK_S)
    with suppress(termios.error):
        # What was typed and nobody has read was for the program: a shell must not take it for a command.
        termios.tcsetattr(0, termios.TCSAFLUSH, modes)


def _pass_on_to(session: int) -> None:
    """Give the processes of a session the signals that the terminal makes, and its end."""

    def pass_on(number: int, _: FrameType | None) -> None:
        for process in _processes(session):
            with suppress(OSError):
                os.kill(process, number)

    for each in (*PASSED_ON, signal.SIGHUP):
        signal.signal(each, pass_on)


def _processes(session: int) -> list[int]:
    """The processes of a session that have not ended, whether or not somebody has asked for their status."""
    found = []
    for process in (name for name in os.listdir("/proc") if name.isdecimal()):
        with suppress(OSError):
            state, _, _, its_session = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(int(process))
    return found


if __name__ == "__main__":
    keep(sys.argv[1])
