"""Starts GDB with what it needs to debug a program with monitors. This runs outside GDB."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from mopsus.bus.codec import pack, unpack
from mopsus.interactive.backends import Backend, find_program, is_compiled
from mopsus.interactive.debugger import DebuggerError, GoneError
from mopsus.interactive.follow import Follow
from mopsus.interactive.gdb.family import ending, run_family, take, words_of
from mopsus.interactive.gdb.order import GdbOrder
from mopsus.interactive.outcome import INTERRUPTION, Outcome, Stop
from mopsus.interactive.setup import Setup
from mopsus.stopping import STOPPING

START = Path(__file__).with_name("start.py")
"""What GDB reads. `source` it at the prompt of any GDB, or in a gdbinit, to have the commands for monitors there."""
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
"""By the Python that we are, and not by the shell that the program might have been started from."""
_STREAMS = (7, 8, 9)
"""The descriptors of GDB that are the standard input, output and error of the program."""


def run(setup: Setup) -> Outcome:
    """A whole session under GDB; see `Backend.run`."""
    gdb = shutil.which("gdb")
    if gdb is None:
        hint = "install it (on Debian or Ubuntu: apt-get install gdb)"
        raise DebuggerError("there is no gdb on this machine", hint=hint, code="DEBUG-010")
    with tempfile.TemporaryDirectory(prefix="mopsus-gdb-") as name:
        folder = Path(name)
        outcome = Path(setup.outcome or folder / "outcome.json")
        program = (str(find_program(setup.program[0]).absolute()), *setup.program[1:]) if setup.program else ()
        ready = replace(setup, program=program, outcome=str(outcome))
        said = _run_prompt(gdb, ready, folder) if setup.has_prompt else _run_batch(gdb, ready, folder)
        if not outcome.exists() and STOPPING.is_set():
            return Outcome(stop=Stop(INTERRUPTION, None))
        if not outcome.exists():
            hint = f"its last words: {said}" if said else "try `gdb -batch -ex 'python print(1)'`"
            raise GoneError("GDB ended without a word of what became of the program", hint=hint)
        return unpack(Outcome, outcome.read_bytes())


def _run_prompt(gdb: str, setup: Setup, folder: Path) -> str:
    """The developer has the terminal."""
    with subprocess.Popen(_command(gdb, setup, folder, ())) as process, _passing_on(process.pid):
        process.wait()
    return ""


def _run_batch(gdb: str, setup: Setup, folder: Path) -> str:
    """The program has our standard streams; what GDB itself says goes to a file.

    A shell that GDB starts the program with puts the streams in place: hence descriptors of one digit, as `sh` knows no
    others. Input is GDB's, too, unless an editor has a terminal for the program: GDB would read there, and change it.
    """
    own = [1, 2] if setup.channel is None or not os.isatty(0) else [0, 1, 2]
    kept = [_beyond(each, fcntl.F_DUPFD_CLOEXEC) for each in own]
    if setup.channel is not None:
        moved = _beyond(setup.channel, fcntl.F_DUPFD)
        os.close(setup.channel)
        setup = replace(setup, channel=moved)
    start = partial(_start, gdb, own, kept)
    try:
        if setup.follow is Follow.BOTH:
            return run_family(setup, folder, start)
        running: set[int] = set()
        with ending(running) if setup.batch else nullcontext():
            process, log = start(setup, folder)
            take(process, running)
            with nullcontext() if setup.batch else _passing_on(process):
                os.waitpid(process, 0)
    finally:
        for each in kept:
            os.close(each)
    return words_of(log)


def _start(gdb: str, own: list[int], kept: list[int], setup: Setup, folder: Path) -> tuple[int, Path]:
    """A GDB without a terminal; its process, and where its words go."""
    log = folder / "gdb.log"
    streams = _STREAMS[-len(own) :]
    with log.open("wb") as file, open(os.devnull, "rb") as nothing:
        ours = [(file.fileno() if each else nothing.fileno(), each) for each in own]
        actions = [(os.POSIX_SPAWN_DUP2, *pair) for pair in (*ours, *zip(kept, streams, strict=True))]
        command = _command(gdb, setup, folder, streams)
        return os.posix_spawn(gdb, command, os.environ, file_actions=actions, setsigdef=_IGNORED), log


def _beyond(descriptor: int, how: int) -> int:
    """Another descriptor for the same, which is none of the program's streams."""
    return fcntl.fcntl(descriptor, how, max(_STREAMS) + 1)


@contextmanager
def _passing_on(process: int) -> Iterator[None]:
    """Ctrl-C is for GDB and the program, which have heard it, too; what shall end is the whole session. We wait."""
    heard = {signal.SIGINT: lambda *_: None, signal.SIGTERM: lambda *_: os.kill(process, signal.SIGTERM)}
    before = {number: signal.signal(number, heed) for number, heed in heard.items()}
    try:
        yield
    finally:
        for number, heed in before.items():
            signal.signal(number, heed)


def _command(gdb: str, setup: Setup, folder: Path, streams: tuple[int, ...]) -> list[str]:
    order = folder / "order.json"
    order.write_bytes(pack(GdbOrder(setup, streams, os.getpid())))
    quiet = [] if setup.has_prompt else ["-nx", "-batch"]
    return [gdb, "-q", *quiet, "-iex", f"python mopsus_order = {str(order)!r}", "-x", str(START)]


BACKEND = Backend("gdb", is_compiled, run)
