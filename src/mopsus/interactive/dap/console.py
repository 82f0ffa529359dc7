"""Where a program reads and writes: what the process of its debugger is given as its standard streams.

Without a terminal, the program writes to terminals of ours that nobody types at, so that it shows a line when it has
written it, as it would on a screen. What comes out there is for the editor.
"""

from __future__ import annotations

import codecs
import os
import pty
import subprocess
import threading
import tty
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress

Streams = tuple[int, int, int]
"""The descriptors of standard input, output and error; some may be the same."""

LAST_WORDS_S = 2.0
"""For output that is still under way: another process may hold on to the terminal for ever."""
_PART = 65536


class Console(ABC):
    """The standard streams of one program, from its start to its end."""

    environment: Mapping[str, str] = {}
    """What the program must know to use them, once they are open."""

    @abstractmethod
    def open(self) -> Streams:
        """Have the streams, which are the caller's to close. This may wait; `MopsusError` if there will be none."""

    @abstractmethod
    def give_up(self, why: str) -> None:
        """Nobody needs them any more: whoever waits in `open` waits no longer. Nothing happens if it was done."""

    @abstractmethod
    def serve(self, session: int) -> None:
        """Note the session of processes that reads and writes here."""

    @abstractmethod
    def keep(self) -> None:
        """Let the program read and write without us: it will live on."""

    @abstractmethod
    def finish(self) -> None:
        """The program is over, or never came: all that it wrote is told, and nothing is left."""


class Output(Console):
    """A file as the input, and the output for the editor."""

    def __init__(self, source: str | None, on_output: Callable[[str, str], None]) -> None:
        """Without a source there is no input. `on_output` is given the category and text of what comes out, in other
        threads."""
        self._source = source or os.devnull
        self._on_output = on_output
        self._masters: list[int] = []
        self._threads: list[threading.Thread] = []

    def open(self) -> Streams:
        source = os.open(self._source, os.O_RDONLY)
        return source, self._opened("stdout"), self._opened("stderr")

    def give_up(self, why: str) -> None:
        """It never waits."""

    def serve(self, session: int) -> None:
        """Do nothing: the streams are read until their end, no matter who uses them."""

    def keep(self) -> None:
        for master in self._masters:
            subprocess.Popen(
                ["cat"],
                stdin=master,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def finish(self) -> None:
        for thread in self._threads:
            thread.join(LAST_WORDS_S)

    def _opened(self, category: str) -> int:
        master, slave = pty.openpty()
        tty.setraw(slave)  # a line's end stays what it is
        self._masters.append(master)
        thread = threading.Thread(target=self._read, args=(master, category), daemon=True)
        self._threads.append(thread)
        thread.start()
        return slave

    def _read(self, master: int, category: str) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with suppress(OSError):  # which is how a terminal ends
            while data := os.read(master, _PART):
                if text := decoder.decode(data):
                    self._on_output(category, text)
        os.close(master)
