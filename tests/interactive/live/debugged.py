"""A debugging session in a process of its own, with a stand-in for its view and somebody at its prompt."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from ending import end_all
from interactive.live.standin import PATIENCE_S, StandIn

from mopsus.bus import pack
from mopsus.interactive.setup import Setup

_RUN = """
import sys
from mopsus.interactive.backends import choose
from mopsus.bus import unpack
from mopsus.interactive.setup import Setup
setup = unpack(Setup, open(sys.argv[1], "rb").read())
choose(setup, None).run(setup)
"""


@dataclass
class Debugged:
    """What a test has of it."""

    view: StandIn
    process: subprocess.Popen[str]
    said: Path
    """What the prompt, the monitors and the program have said."""

    def type(self, line: str) -> None:
        """The developer types a line."""
        self._prompt.write(line + "\n")
        self._prompt.flush()

    def leave(self) -> str:
        """No more is typed: the session ends. All that was said."""
        self._prompt.close()
        self.process.wait(PATIENCE_S)
        return self.said.read_text()

    @property
    def _prompt(self) -> IO[str]:
        assert self.process.stdin is not None
        return self.process.stdin


@contextmanager
def debugging(setup: Setup) -> Iterator[Debugged]:
    """Run it; its view is shown at the start if the set-up says so."""
    with _folder() as folder, closing(StandIn(folder)) as view:
        (folder / "setup.json").write_bytes(pack(replace(setup, python=view.python)))
        words = [sys.executable, "-c", _RUN, str(folder / "setup.json")]
        with _running(words, folder / "said", os.environ) as process:
            yield Debugged(view, process, folder / "said")


@contextmanager
def plain_gdb(program: Path, *lines: str) -> Iterator[Debugged]:
    """A GDB that knows nothing of us but that the command `mopsus` is there."""
    with _folder() as folder, closing(StandIn(folder)) as view:
        command = folder / "mopsus"
        command.write_text(f"#!{view.python}\n")
        command.chmod(0o755)
        words = ["gdb", "-q", "-nx", *(word for line in lines for word in ("-ex", line)), str(program)]
        around = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        with _running(words, folder / "said", around) as process:
            yield Debugged(view, process, folder / "said")


@contextmanager
def _running(words: Sequence[str], said: Path, around: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    with said.open("w") as file:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
            env=around,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end_all(process)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="live-") as name:  # a socket's path must be short
        yield Path(name)
