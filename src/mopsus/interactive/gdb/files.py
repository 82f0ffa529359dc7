"""The files that a process has open, and where it reads and writes in them.

A copy of a process by `fork` shares those places with it, and a snapshot of memory has none. So they are noted, and put
back through a descriptor that the kernel lets a tracer borrow.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mopsus.interactive.debugger import CheckpointError

_PIDFD_GETFD = 438

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A descriptor's file; `position` of one that has a place to be at."""

    name: str
    position: int | None


def open_files(process: int) -> dict[int, OpenFile]:
    """By descriptor."""
    found = {}
    for number in map(int, os.listdir(f"/proc/{process}/fd")):
        path = _path(process, number)
        try:
            regular = stat.S_ISREG(os.stat(path).st_mode)
            found[number] = OpenFile(os.readlink(path), _position(process, number) if regular else None)
        except FileNotFoundError:
            continue  # an end that is gone has no place either
    return found


def shared(process: int) -> dict[int, OpenFile]:
    """Those that GDB has open, too, as they are now: it speaks to them, and reads its commands from its input."""
    ours = {_identity(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")} - {None}
    if _reads_no_commands():
        ours.discard(_identity("/proc/self/fd/0"))
    return {number: file for number, file in open_files(process).items() if _identity(_path(process, number)) in ours}


def speak_on() -> None:
    """From now on, what GDB says goes behind all that was said: a file that it shares with the program may be put back,
    also by GDB itself, and is written over then."""
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):
            mode = fcntl.fcntl(number, fcntl.F_GETFL)
            if mode & os.O_ACCMODE and stat.S_ISREG(os.fstat(number).st_mode):
                fcntl.fcntl(number, fcntl.F_SETFL, mode | os.O_APPEND)


def closed(saved: dict[int, OpenFile], now: dict[int, OpenFile]) -> str | None:
    """What a saved program would miss, in words; None if every descriptor still stands for the same file."""
    for number, file in saved.items():
        if number not in now:
            return f"{file.name} (descriptor {number}) was closed"
        if now[number].name != file.name:
            return f"descriptor {number} is {now[number].name} now, and was {file.name}"
    return None


def seek(process: int, saved: dict[int, OpenFile]) -> None:
    """Put every file back where it was; those that are closed now stay closed."""
    now = open_files(process)
    pidfd = os.pidfd_open(process)
    try:
        for number, file in saved.items():
            if file.position is not None and number in now and now[number] != file:
                _seek(pidfd, number, file)
    finally:
        os.close(pidfd)


def _seek(pidfd: int, number: int, file: OpenFile) -> None:
    borrowed = _libc.syscall(_PIDFD_GETFD, pidfd, number, 0)
    if borrowed < 0:
        reason = os.strerror(ctypes.get_errno())
        raise CheckpointError(f"the place in {file.name} cannot be put back: {reason}", hint="use a newer kernel")
    try:
        os.lseek(borrowed, file.position or 0, os.SEEK_SET)
    finally:
        os.close(borrowed)


def _position(process: int, number: int) -> int:
    with open(f"/proc/{process}/fdinfo/{number}") as lines:
        return int(next(line for line in lines if line.startswith("pos:")).split()[1])


def _path(process: int, number: int) -> str:
    return f"/proc/{process}/fd/{number}"


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:  # closed meanwhile, or a file that was deleted
        return None
    return found.st_dev, found.st_ino


def _reads_no_commands() -> bool:
    """Was GDB started to do what its command line says, and nothing else?"""
    return bool({b"-batch", b"--batch"} & set(Path("/proc/self/cmdline").read_bytes().split(b"\0")))
