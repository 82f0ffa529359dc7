"""A debugger with its program, as the process that speaks with the editor has started it.

They run in a process of their own, with terminals for standard output and error, so that a program shows a line when
it has written it, as it would on a screen. What comes out there is for the editor.
"""

from __future__ import annotations

import codecs
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mopsus.interactive.backends import choose
from mopsus.interactive.dap.channel import Channel, Message
from mopsus.interactive.dap.launching import Launch
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.setup import Setup
from mopsus.model import MopsusError

PATIENCE_S = 10.0
"""For a debugger that was told to end."""
_LAST_WORDS_S = 2.0
"""For output that is still under way: another process may hold on to the terminal for ever."""
_PART = 65536
_START = "from mopsus.interactive.dap.debuggee import main; main()"


class Debuggee:
    """From its start to its end."""

    def __init__(
        self,
        launch: Launch,
        on_message: Callable[[Message], None],
        on_unanswered: Callable[[Message], None],
        on_output: Callable[[str, str], None],
        on_end: Callable[[Outcome], None],
    ) -> None:
        """`on_message` is given what the debugger says, `on_unanswered` requests that it has left without an answer
        when it hung up, `on_output` the category and text of what the program writes, `on_end`, after all that, what
        became of it. They are called in other threads, from `start` on."""
        self._folder = tempfile.TemporaryDirectory(prefix="mopsus-dap-")
        self._outcome = Path(self._folder.name, "outcome.json")
        self._on_message, self._on_unanswered, self._on_end = on_message, on_unanswered, on_end
        self._asked: dict[int, Message] | None = {}
        """Requests that are not answered yet, by their numbers; None: nobody answers any more."""
        self._asking = threading.Lock()
        self.channel, theirs = Channel.pair()
        setup = replace(launch.setup, channel=theirs.fileno())
        order = Path(self._folder.name, "setup.json")
        order.write_text(setup.to_json())
        streams = {category: pty.openpty() for category in ("stdout", "stderr")}
        self._masters = [master for master, _ in streams.values()]
        for _, slave in streams.values():
            tty.setraw(slave)  # a line's end stays what it is
        environment = {**os.environ, **launch.environment}
        with open(launch.input or os.devnull, "rb") as source:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(order), str(self._outcome), launch.debugger or ""],
                cwd=launch.folder,
                env={name: value for name, value in environment.items() if value is not None},
                stdin=source,
                stdout=streams["stdout"][1],
                stderr=streams["stderr"][1],
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C in the editor's terminal is none of its business
            )
        theirs.close()
        for _, slave in streams.values():
            os.close(slave)
        self._threads = [
            threading.Thread(target=_read, args=(master, category, on_output), daemon=True)
            for category, (master, _) in streams.items()
        ]
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._threads.append(self._listening)
        self.over = threading.Event()
        """Everything has been told."""

    def start(self) -> None:
        """Tell from now on what comes from it."""
        for thread in self._threads:
            thread.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def ask(self, request: Message) -> bool:
        """Hand on a request, whose answer comes as a message, or which is given back as unanswered. False: neither,
        for the debugger is gone."""
        with self._asking:
            if self._asked is None:
                return False
            self._asked[request["seq"]] = request
        self.channel.send(request)
        return True

    def keep_terminals(self) -> None:
        """The program will live on, and must be able to write when nobody reads it any more."""
        for master in self._masters:
            subprocess.Popen(
                ["cat"],
                stdin=master,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def leave(self) -> None:
        """Give it time to let the program go. Then it may live as long as the program does: it is its parent."""
        self._listening.join(PATIENCE_S)

    def end(self) -> None:
        """Give it time to end, and none after that."""
        if not self.over.wait(PATIENCE_S):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.over.wait(PATIENCE_S)

    def _listen(self) -> None:
        while (message := self.channel.receive()) is not None:
            if message.get("type") == "response":
                with self._asking:
                    assert self._asked is not None
                    self._asked.pop(message["request_seq"], None)
            self._on_message(message)
        with self._asking:
            left, self._asked = self._asked or {}, None
        for request in left.values():
            self._on_unanswered(request)

    def _wait(self) -> None:
        self.process.wait()
        for thread in self._threads:
            thread.join(_LAST_WORDS_S)
        self.channel.shut()  # a copy of the program may hold on to its end
        self._listening.join()
        try:
            outcome = Outcome.from_json(self._outcome.read_text())
        except (OSError, ValueError):
            outcome = Outcome(error="the debugger ended without a word of what became of the program")
        self._folder.cleanup()
        self._on_end(outcome)
        self.over.set()


def _read(master: int, category: str, on_output: Callable[[str, str], None]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with suppress(OSError):  # which is how a terminal ends
        while data := os.read(master, _PART):
            if text := decoder.decode(data):
                on_output(category, text)
    os.close(master)


def main() -> None:
    """What the process does: debug what a file says, and write to another one what became of it."""
    order, target, debugger = sys.argv[1:]
    setup = Setup.from_json(Path(order).read_text())
    try:
        outcome = choose(setup, debugger or None).run(setup)
    except MopsusError as error:
        outcome = Outcome(error=error.message + (f" ({error.hint})" if error.hint else ""))
    with suppress(OSError):  # nobody wants to know if the program was let go
        Path(target).write_text(outcome.to_json())
