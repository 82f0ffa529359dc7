"""A debugger with its program, as the process that speaks with the editor has started it.

They run in a process of their own, whose standard streams are those of a console.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mopsus.bus.codec import pack, unpack
from mopsus.bus.messages import BusError
from mopsus.interactive.backends import choose
from mopsus.interactive.dap.channel import EditorLine, Message
from mopsus.interactive.dap.console import LAST_WORDS_S, Console
from mopsus.interactive.dap.launching import Launch
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.setup import Setup
from mopsus.model import MopsusError

PATIENCE_S = 10.0
"""For a debugger that was told to end."""
_START = "from mopsus.interactive.dap.debuggee import main; main()"


class Debuggee:
    """From its start to its end."""

    def __init__(
        self,
        launch: Launch,
        console: Console,
        on_message: Callable[[Message], None],
        on_unanswered: Callable[[Message], None],
        on_end: Callable[[Outcome], None],
    ) -> None:
        """`on_message` is given what the debugger says, `on_unanswered` requests that it has left without an answer
        when it hung up, `on_end`, after all that, what became of it. They are called in other threads, from `start`
        on."""
        self._launch, self._console = launch, console
        self._on_message, self._on_unanswered, self._on_end = on_message, on_unanswered, on_end
        self._asked: dict[int, Message] | None = {}
        """Requests that are not answered yet, by their numbers; None: nobody answers any more."""
        self._asking = threading.Lock()
        self.channel, self._theirs = EditorLine.pair()
        self._failure: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self.over = threading.Event()
        """Everything has been told."""

    def start(self) -> None:
        """Begin, as soon as there is a console. From now on it is told what comes from it."""
        self._listening.start()
        threading.Thread(target=self._live, daemon=True).start()

    def ask(self, request: Message) -> bool:
        """Hand on a request, whose answer comes as a message, or which is given back as unanswered. False: neither,
        for the debugger is gone."""
        with self._asking:
            if self._asked is None:
                return False
            self._asked[request["seq"]] = request
        self.channel.tell(request)
        return True

    def give_up(self) -> None:
        """If it still waits for its console, it waits no longer."""
        self._console.give_up("the session was ended before the program began")

    def fail(self, why: str) -> None:
        """It cannot be used, for this reason: let it end."""
        self._failure = why
        self.channel.shut()

    def keep_console(self) -> None:
        """The program will live on, and must be able to write when nobody reads it any more."""
        if self._process is not None:
            self._console.keep()

    def leave(self) -> None:
        """Give it time to let the program go. Then it may live as long as the program does: it is its parent."""
        self.give_up()
        self._listening.join(PATIENCE_S)

    def end(self) -> None:
        """Give it time to end, and none after that."""
        self.give_up()
        if not self.over.wait(PATIENCE_S):
            if self._process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self.over.wait(PATIENCE_S)

    def _listen(self) -> None:
        while (message := self.channel.hear()) is not None:
            if message.get("type") == "response":
                with self._asking:
                    assert self._asked is not None
                    self._asked.pop(message["request_seq"], None)
            self._on_message(message)
        with self._asking:
            left, self._asked = self._asked or {}, None
        for request in left.values():
            self._on_unanswered(request)

    def _live(self) -> None:
        with tempfile.TemporaryDirectory(prefix="mopsus-dap-") as folder:
            target = Path(folder, "outcome.json")
            try:
                self._process = self._spawn(Path(folder, "setup.json"), target)
                self._console.serve(self._process.pid)
            except MopsusError as error:
                outcome = Outcome(error=told(error))
            except (OSError, ValueError) as error:
                outcome = Outcome(error=f"the debugger cannot be started: {error}")
            else:
                outcome = self._outlive(self._process, target)
            self._theirs.close()
        self._console.finish()
        self._listening.join(LAST_WORDS_S)
        self.channel.shut()  # a copy of the program may hold on to its end
        self._listening.join()
        self._on_end(outcome if self._failure is None else Outcome(error=self._failure))
        self.over.set()

    def _spawn(self, order: Path, target: Path) -> subprocess.Popen[bytes]:
        streams = self._console.open()
        try:
            order.write_bytes(pack(replace(self._launch.setup, channel=self._theirs.fileno())))
            environment = {**os.environ, **self._console.environment, **self._launch.environment}
            return subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(order), str(target), self._launch.debugger or ""],
                cwd=self._launch.folder,
                env={name: value for name, value in environment.items() if value is not None},
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                pass_fds=(self._theirs.fileno(),),
                start_new_session=True,  # Ctrl-C in the editor's terminal is none of its business
            )
        finally:
            for each in set(streams):
                os.close(each)

    def _outlive(self, process: subprocess.Popen[bytes], target: Path) -> Outcome:
        self._theirs.close()  # so that its end is seen
        process.wait()
        try:
            return unpack(Outcome, target.read_bytes())
        except (OSError, BusError):
            return Outcome(error="the debugger ended without a word of what became of the program")


def main() -> None:
    """What the process does: debug what a file says, and write to another one what became of it."""
    order, target, debugger = sys.argv[1:]
    setup = unpack(Setup, Path(order).read_bytes())
    try:
        outcome = choose(setup, debugger or None).run(setup)
    except MopsusError as error:
        outcome = Outcome(error=told(error))
    with suppress(OSError):  # nobody wants to know if the program was let go
        Path(target).write_bytes(pack(outcome))


def told(error: MopsusError) -> str:
    """In one line, with what to do about it."""
    return error.message + (f" ({error.hint})" if error.hint else "")
