"""Copies of a process that wait until they are needed: the program as it was at a checkpoint.

A copy is made by `fork`, twice, so that the program has no child that it does not know. Whoever started the program is
the parent of them all (`launch.py`). When a copy is woken it leaves another one behind, and the process that wakes it
ends: the copy is the program from then on.

What they share is a folder: the socket and the process of each copy, and which process is the program now.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from mopsus.interactive.debugger import CheckpointError

_exit = os._exit
"""Kept, because a program that is debugged gets another one."""

LIVE = "live"
"""The file that holds the number of the process that is the program."""
_END = b"end"
_PATIENCE_S = 5.0
_LENGTH = 8


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
    copy = Copy(folder, f"{os.getpid()}-{len(os.listdir(folder))}")
    before = _Before(with_input)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(copy.socket)
        door.listen()
        if _fork_away(copy.process) is None:
            _wait(copy, door, before)
    return copy


def wake(copy: Copy, message: bytes) -> NoReturn:
    """Let a copy be the program from now on; this process ends."""
    with _call(copy) as line:
        sys.stdout.flush()
        sys.stderr.flush()
        _send(line, message)
        if not line.recv(1):
            raise CheckpointError("the copy of the program did not wake up", hint="it may have been killed")
        _exit(0)


def discard(copy: Copy) -> None:
    """A copy that is not needed any more."""
    try:
        with _call(copy) as line:
            _send(line, _END)
            line.recv(1)
    except CheckpointError:
        return  # somebody was faster


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
    """Wait to be woken; each time, leave another copy that does. Ends when it is not needed any more."""
    starter = os.getppid()
    before.rest()
    door.settimeout(_PATIENCE_S)
    while True:
        try:
            line = door.accept()[0]
        except TimeoutError:
            if os.getppid() != starter:
                _exit(0)  # there is nobody left who could need it
            continue
        message = _receive(line)
        if message == _END:
            os.unlink(copy.socket)
            os.unlink(copy.process)
            line.close()
            _exit(0)
        if _fork_away(Path(copy.folder, LIVE)) is None:
            before.bring_back()
            line.sendall(b"!")
            line.close()
            door.close()
            raise Woken(message)
        line.close()


class _Before:
    """What `fork` does not keep as it was: where open files stand, the random numbers, who handles Ctrl-C."""

    def __init__(self, with_input: bool) -> None:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
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


def _fork_away(note: Path) -> int | None:
    """Fork a process that is no child of this one; None in that process, once it is nobody's but the starter's. Its
    number is in the file by then."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if (process := os.fork()) != 0:
            new = note.with_suffix(".new")
            new.write_text(str(process))
            new.rename(note)
            _exit(0)
        os.close(writer)
        os.read(reader, 1)  # until the process between is gone
        os.close(reader)
        return None
    os.close(reader)
    os.waitpid(child, 0)
    os.close(writer)
    return child


# ---- between processes


def _call(copy: Copy) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(copy.socket)
    except OSError as error:
        line.close()
        raise CheckpointError("the checkpoint is not there any more", hint="it was discarded, or killed") from error
    return line


def _send(line: socket.socket, message: bytes) -> None:
    line.sendall(len(message).to_bytes(_LENGTH, "little") + message)


def _receive(line: socket.socket) -> bytes:
    length = int.from_bytes(_exactly(line, _LENGTH), "little")
    return _exactly(line, length)


def _exactly(line: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = line.recv(length - len(data))
        if not part:
            return _END  # whoever called is gone
        data += part
    return bytes(data)
