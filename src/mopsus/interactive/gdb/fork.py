"""Checkpoints by `fork`: GDB lets the program copy itself, and keeps the copy stopped.

Little is copied until somebody writes to it, so they are cheap. GDB's `restart` goes on with the copy itself; so that
it can be done again, the copy is copied first. The process that was left ends. A program with threads can neither be
copied nor left so: GDB would lose its way.

When the program ends while there are copies, GDB takes up one of them, as if the program had stopped there. That copy
is a checkpoint, and must not run: see `ended`.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import gdb

from mopsus.interactive.debugger import CheckpointError
from mopsus.interactive.gdb.developer import developer_points
from mopsus.interactive.gdb.files import OpenFile, open_files, seek, shared

_STOPPED_BY = re.compile(r"stopped with signal (SIG\w+)")
_LISTED = re.compile(r"^[* ] (\d+) .*?(?:process|LWP) (\d+)", re.MULTILINE)


@dataclass(slots=True, eq=False)
class Copy:
    """A copy of the program, where it is in its files, and the signal that it gets when it goes on, if any."""

    process: int
    files: dict[int, OpenFile]
    signal: str | None


class Copies:
    """All of them."""

    def __init__(self) -> None:
        self._all: set[Copy] = set()

    @property
    def ended(self) -> bool:
        """Is what GDB shows as the program a checkpoint, because the program has ended?"""
        current = gdb.selected_inferior().pid
        return any(copy.process == current for copy in self._all)

    def take(self) -> Copy:
        """Copy the program. `CheckpointError` says why that cannot be."""
        stopped = _STOPPED_BY.search(gdb.execute("info program", to_string=True))
        copy = Copy(_fork(), open_files(gdb.selected_inferior().pid), None if stopped is None else stopped[1])
        self._all.add(copy)
        return copy

    def restore(self, copy: Copy) -> None:
        """Go on with it, as it was."""
        current = gdb.selected_inferior().pid
        if copy.process != current and copy.process not in _listed():
            raise CheckpointError("GDB has that checkpoint no more", hint="the program was killed or run again")
        left = None if self.ended else current
        if left is not None and len(gdb.selected_inferior().threads()) > 1:
            hint = "let it end first, or take checkpoints when all threads are there"
            raise CheckpointError("the program has started threads since the checkpoint", hint=hint)
        files = copy.files | shared(current)
        with undisturbed():
            if copy.process != current:
                gdb.execute(f"restart {_listed()[copy.process]}", to_string=True)
            seek(copy.process, files)
        copy.process = _fork()
        if left is not None:
            _end(left)
        _await_signal(copy.signal)

    def discard(self, copy: Copy) -> None:
        self._all.discard(copy)
        number = _listed().get(copy.process)
        if number is None or copy.process == gdb.selected_inferior().pid:
            return
        if len(gdb.selected_inferior().threads()) > 1:
            _end(copy.process)
            return
        with undisturbed():  # the program, as the parent, is made to wait for its child
            gdb.execute(f"delete checkpoint {number}", to_string=True)

    def discard_all(self) -> None:
        """GDB itself does not get rid of copies of a program that has threads by now: it waits for ever."""
        for copy in list(self._all):
            self.discard(copy)


def _await_signal(name: str | None) -> None:
    """To GDB all copies are one thread, which would get the signal that has stopped another one of them last."""
    gdb.execute("queue-signal 0", to_string=True)
    if name is not None:
        with suppress(gdb.error):  # it is one that programs do not get
            gdb.execute(f"queue-signal {name}", to_string=True)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No point of the developer's is hit meanwhile, by code of the program that we call; nor is it interrupted by a
    Ctrl-C from before, which went to all copies of the program."""
    points = [point for point in developer_points() if point.enabled]
    for point in points:
        point.enabled = False
    _, _, usual = gdb.execute("info signals SIGINT", to_string=True).partition("\nSIGINT")
    _heed_interrupts(False, False, False)
    try:
        yield
    finally:
        _heed_interrupts(*(word == "Yes" for word in usual.split()[:3]))
        for point in points:
            if point.is_valid():
                point.enabled = True


def _heed_interrupts(stop: bool, tell: bool, pass_on: bool) -> None:
    words = (f"{'' if heed else 'no'}{word}" for heed, word in ((stop, "stop"), (tell, "print"), (pass_on, "pass")))
    gdb.execute(f"with confirm off -- handle SIGINT {' '.join(words)}", to_string=True)


def _fork() -> int:
    before = _listed()
    try:
        with undisturbed():
            gdb.execute("checkpoint", to_string=True)
    except gdb.error as error:
        hint = "the program must be stopped, and use a C library that has fork"
        raise CheckpointError(f"the program cannot be copied: {error}", hint=hint) from error
    new = _listed().keys() - before.keys() - {gdb.selected_inferior().pid}
    if not new:
        raise CheckpointError("the program could not be copied: fork failed", hint="is there enough memory?")
    return new.pop()


def _end(process: int) -> None:
    """Get rid of a process that GDB does not stand in. To `delete` it as a checkpoint is too much for GDB if it is the
    first one of all, or the program has threads."""
    os.kill(process, signal.SIGSTOP)  # so that it does not run when GDB lets go of it
    with _in_first_thread():  # otherwise GDB does not see that the last copy is gone
        gdb.execute(f"detach checkpoint {_listed()[process]}", to_string=True)
    os.kill(process, signal.SIGKILL)
    with suppress(ChildProcessError):  # not ours but of a process that is gone, too
        os.waitpid(process, 0)


@contextmanager
def _in_first_thread() -> Iterator[None]:
    selected = gdb.selected_thread()
    next(each for each in gdb.selected_inferior().threads() if each.ptid[1] in (0, each.ptid[0])).switch()
    try:
        yield
    finally:
        selected.switch()


def _listed() -> dict[int, int]:
    """The numbers that GDB has for the processes, by process."""
    text = gdb.execute("info checkpoints", to_string=True)
    return {int(process): int(number) for number, process in _LISTED.findall(text)}
