"""A command in a terminal of its own, typed to and read from as a person does."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import termios
import time
from contextlib import contextmanager

import pytest
from ending import end_all

PATIENCE_S = 120
"""How long something may take to appear before a test gives up: a bound on failure, not a wait."""


@contextmanager
def terminal(words, folder):
    """A command that runs in a terminal; it is killed at the end if it still runs."""
    master, slave = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        words,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is for it
        env={**environment, "TERM": "dumb", "NO_COLOR": "1"},
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        end_all(process)
        os.close(master)


class Terminal:
    """What was said, and what is typed."""

    def __init__(self, process, master):
        self.process = process
        self._master = master
        self._unread = ""

    def type(self, line):
        os.write(self._master, line.encode() + b"\n")

    def read_until(self, words, after=None):
        """What was said up to these words, and with them; the first of them after others."""
        if after is not None:
            self.read_until(after)
        end = time.monotonic() + PATIENCE_S
        while words not in self._unread:
            if not select.select([self._master], [], [], max(0, end - time.monotonic()))[0]:
                pytest.fail(f"it has not said {words!r}: {self._unread}")
            try:
                self._unread += os.read(self._master, 65536).decode(errors="replace")
            except OSError:
                pytest.fail(f"it has ended and not said {words!r}: {self._unread}")
        before, _, self._unread = self._unread.partition(words)
        return before + words
