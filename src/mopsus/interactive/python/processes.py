"""Copies of a process that wait until they are needed: the program as it was at a checkpoint.

A copy is made by `fork`, twice, so that the program has no child that it does not know. Whoever started the program is
the parent of them all (`launch.py`). When a copy is woken it leaves another one behind, and the process that wakes it
ends: the copy is the program from then on.

What they share is a folder: the socket and the process of each copy, and which process is the program now. Only the
program writes there, about processes that are the starter's children by then. The last that it does is to say who is
the program after it; so from its end on the starter and the copy know the same, however it ended.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from mopsus.bus.channel import Channel
from mopsus.bus.messages import BusError
from mopsus.interactive.debugger import CheckpointError
from mopsus.interactive.python.prompt import flush

_exit = os._exit
"""Kept, because a program that is debugged gets another one."""

LIVE = "live"
"""The file that holds the number of the process that is the program."""
_END = b"end"
_PATIENCE_S = 5.0


class Woken(BaseException):
    """Raised where a copy of the process waited, when it becomes the program. No error: nobody may catch it but the
    debugger."""

    def __init__(self, message: bytes) -> None:
        super().__init__()
        self.message = message


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that waits; only a name for it, that any process may use."""

    folder: str
    name: str

    @property
    def socket(self) -> str:
        return str(Path(self.folder, f"{self.name}.socket"))

    @property
    def process(self) -> Path:
        return Path(self.folder, f"{self.name}.pid")


def save(folder: str, *, with_input: bool) -> Copy:
    """Leave a copy of this process behind. `Woken` is raised in the copy, once for each time that it is woken. Then
    open files are read on from where they were, standard input only if that is wanted."""
    refuse_threads()
    copy = Copy(folder, f"{os.getpid()}-{os.urandom(4).hex()}")
    before = _Before(with_input)
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(copy.socket)
            door.listen()
            if (process := _fork_away()) is None:
                _wait(copy, door, before)
        _note(copy.process, process)
    except OSError as error:
        raise CheckpointError(f"the program cannot be copied: {error}") from error
    return copy


def wake(copy: Copy, message: bytes) -> NoReturn:
    """Let a copy be the program from now on; this process ends."""
    with _call(copy) as line:
        for stream in (sys.stdout, sys.stderr):
            flush(stream)
        channel = Channel(line)
        process = _number(channel.receive()) if channel.send(message) else 0
        if not process:
            raise CheckpointError("the copy of the program did not wake up", hint="it may have been killed")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            _note(Path(copy.folder, LIVE), process)
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise CheckpointError(f"nobody can be told which process is the program: {error}") from error
        _exit(0)


def discard(copy: Copy) -> None:
    """A copy that is not needed any more."""
    try:
        with _call(copy) as line:
            Channel(line).send(_END)
            line.recv(1)
    except (CheckpointError, OSError):
        pass  # somebody was faster
    for file in (Path(copy.socket), copy.process):
        file.unlink(missing_ok=True)


def live(folder: str) -> int | None:
    """The process that is the program since a copy was woken."""
    file = Path(folder, LIVE)
    return int(file.read_text()) if file.exists() else None


def copies(folder: str) -> Iterator[int]:
    """The processes that wait."""
    for file in Path(folder).glob("*.pid"):
        yield int(file.read_text())


def refuse_threads() -> None:
    """`CheckpointError` if this process has other threads: a copy would not have them."""
    others = [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]
    if others:
        message = f"the program has other threads ({', '.join(others)}), which a copy of it would lack"
        raise CheckpointError(message, hint="take the checkpoint before they start, or when they have ended")
    if len(os.listdir("/proc/self/task")) > 1:
        hint = "it may help to tell the library to use one thread, say by OMP_NUM_THREADS=1"
        raise CheckpointError("a library of the program runs threads, which a copy of it would lack", hint=hint)


# ---- in the copy


def _wait(copy: Copy, door: socket.socket, before: _Before) -> NoReturn:
    """Wait to be woken; each time, leave another copy that does. Ends when it is not needed any more, and whatever else
    happens: nothing but `Woken` comes out of here, or there would be another program."""
    try:
        before.rest()
        message = _listen(copy, door)
    except BaseException:
        _exit(1)
    before.bring_back()
    raise Woken(message)


def _listen(copy: Copy, door: socket.socket) -> bytes:
    """What the process is woken with."""
    starter = os.getppid()
    door.settimeout(_PATIENCE_S)
    while True:
        try:
            line = door.accept()[0]
        except TimeoutError:
            if os.getppid() != starter:
                _exit(0)  # there is nobody left who could need it
            continue
        channel = Channel(line)
        with line, suppress(OSError, BusError):  # of a process that cannot be made, or of a caller that makes no sense
            message = channel.receive()
            if message == _END:
                _exit(0)
            if not message:
                continue
            if (process := _fork_away()) is None:
                _be_program(copy, line)
                return message
            channel.send(b"%d" % process)


def _be_program(copy: Copy, line: socket.socket) -> None:
    """Comes back when the process that is the program has ended and left that to this one. Otherwise this one ends."""
    with suppress(OSError):
        line.recv(1)  # until it has ended
        if live(copy.folder) == os.getpid():
            return
    _exit(0)


class _Before:
    """What `fork` does not keep as it was: where open files stand, the random numbers, who handles Ctrl-C."""

    def __init__(self, with_input: bool) -> None:
        for stream in (sys.stdout, sys.stderr):
            flush(stream)
        self._positions = dict(_positions(with_input))
        self._random = sys.modules["random"].getstate() if "random" in sys.modules else None
        self._interrupt: Any = None

    def rest(self) -> None:
        self._interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)

    def bring_back(self) -> None:
        signal.signal(signal.SIGINT, self._interrupt)
        if self._random is not None:
            sys.modules["random"].setstate(self._random)
        for file, position in self._positions.items():
            os.lseek(file, position, os.SEEK_SET)


def _positions(with_input: bool) -> Iterator[tuple[int, int]]:
    """Of files that are read, or written at a place of their own. Not of output: what has been said stays said; nor
    of input that a prompt reads, too."""
    for name in os.listdir("/proc/self/fd"):
        file = int(name)
        if file in (1, 2) or (file == 0 and not with_input):
            continue
        try:
            yield file, os.lseek(file, 0, os.SEEK_CUR)
        except OSError:
            continue  # no file on a disk


def _fork_away() -> int | None:
    """Fork a process that is no child of this one: its number. None in that process, once it is nobody's but the
    starter's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = os.fork()
        if child == 0:
            if os.fork() != 0:
                _exit(0)
            ours.close()
            theirs.recv(1)  # until the process between is gone
            Channel(theirs).send(b"%d" % os.getpid())
            return None
        theirs.close()
        with suppress(ChildProcessError):  # the program may have the kernel see to its children, or see to all itself
            os.waitpid(child, 0)
        ours.shutdown(socket.SHUT_WR)
        process = _number(Channel(ours).receive())
    if not process:
        raise ChildProcessError("a process that was made has ended at once")
    return process


# ---- between processes


def _note(file: Path, process: int) -> None:
    """Write down a process. Whoever reads there finds all of it, or nothing."""
    new = file.with_suffix(".new")
    new.write_text(str(process))
    new.rename(file)


def _call(copy: Copy) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(copy.socket)
    except OSError as error:
        line.close()
        raise CheckpointError("the checkpoint is not there any more", hint="it was discarded, or killed") from error
    return line


def _number(message: bytes | None) -> int:
    """The number of a process that another one has sent; 0 if it has not."""
    return int(message) if message is not None and message.isdigit() else 0
