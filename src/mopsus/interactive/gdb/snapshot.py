"""Checkpoints in place: the memory, the registers of every thread, and the places in files are kept beside the program,
and put back into the same process.

This works with any number of threads, as long as they are the same ones when the checkpoint is restored: a thread that
ended cannot be made again from outside, nor can memory that was unmapped. Then it is refused, with the reason. Memory
that was mapped since is left alone: the program, as it was, does not know it.

What the kernel keeps is not rolled back: the contents of files and pipes, signal handlers, timers, child processes.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field

import gdb

from mopsus.interactive.debugger import CheckpointError
from mopsus.interactive.gdb import ptrace
from mopsus.interactive.gdb.files import OpenFile, closed, open_files, seek, shared
from mopsus.interactive.gdb.memory import Mapping, Memory, lost, mappings, outside, touched

_HINT = "restore a checkpoint from before, or run the program again"


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A program as it was. `pages`: what memory held, by address; everything else was as it is when it is mapped."""

    process: int
    mappings: tuple[Mapping, ...] = field(repr=False)
    pages: tuple[tuple[int, bytearray], ...] = field(repr=False)
    threads: dict[int, ptrace.ThreadState] = field(repr=False)
    files: dict[int, OpenFile]
    thread: int
    """The one that was selected."""


def take() -> Snapshot:
    """Save the stopped program. `CheckpointError` says why that cannot be."""
    if platform.machine() != "x86_64":
        raise CheckpointError(
            f"programs with threads cannot be saved on {platform.machine()}", hint="save it before it starts threads"
        )
    process = gdb.selected_inferior().pid
    found = tuple(mappings(process))
    memory = Memory(process)
    try:
        pages = tuple(
            (start, memory.read(start, end))
            for mapping in found
            if mapping.is_saved
            for start, end in touched(process, mapping)
        )
    except OSError as error:
        raise CheckpointError(
            f"memory of the program cannot be saved: {error}", hint="devices and shared hardware cannot be saved"
        ) from error
    finally:
        memory.close()
    states = {thread: ptrace.get_state(thread) for thread in _threads(process)}
    if len({state.sequences == 0 for state in states.values()}) > 1:
        raise CheckpointError("a thread has only just begun", hint="take the checkpoint a little later")
    return Snapshot(process, found, pages, states, open_files(process), gdb.selected_thread().ptid[1])


def restore(saved: Snapshot) -> None:
    """Bring it back. Nothing is changed if that cannot be."""
    now = _check(saved)
    memory = Memory(saved.process)
    try:
        for start, data in saved.pages:
            memory.write(start, data)
        known = [(start, start + len(data)) for start, data in saved.pages]
        own = [(old.start, old.end) for old in saved.mappings if old.file is None and old.is_saved]
        for mapping in now:
            if mapping.file is None and mapping.is_saved:
                _clear(memory, saved, mapping, known, own)
    finally:
        memory.close()
    for thread, state in saved.threads.items():
        ptrace.set_state(thread, state)
    seek(saved.process, saved.files | shared(saved.process))
    gdb.execute("maintenance flush dcache", to_string=True)
    gdb.execute("maintenance flush register-cache", to_string=True)
    _arrive(saved.thread)


def _clear(
    memory: Memory, saved: Snapshot, mapping: Mapping, known: list[tuple[int, int]], own: list[tuple[int, int]]
) -> None:
    """Memory that was not touched yet holds zeros again; so does what the heap grew by, for `malloc` relies on that."""
    since = list(outside(list(touched(saved.process, mapping)), known))
    if mapping.name != "[heap]":
        since = list(outside(since, list(outside([(mapping.start, mapping.end)], own))))
    for start, end in since:
        memory.write(start, bytes(end - start))


def _check(saved: Snapshot) -> list[Mapping]:
    process = gdb.selected_inferior().pid
    if process != saved.process:
        what = "is over" if process == 0 else f"was process {saved.process}, and this is process {process}"
        raise CheckpointError(f"the run that the checkpoint was taken in {what}", hint="run it to a new checkpoint")
    threads = _threads(process)
    if ended := saved.threads.keys() - threads:
        raise CheckpointError(f"{_count(len(ended), 'thread')} of the checkpoint ended since", hint=_HINT)
    if begun := threads - saved.threads.keys():
        raise CheckpointError(f"{_count(len(begun), 'thread')} began since the checkpoint", hint=_HINT)
    if any(ptrace.get_sequences(thread) != state.sequences for thread, state in saved.threads.items()):
        raise CheckpointError("a thread had only just begun at the checkpoint", hint=_HINT)
    now = mappings(process)
    if (gone := lost(saved.mappings, now)) is not None:
        where = f"{gone.start:#x}-{gone.end:#x} {gone.name}".rstrip()
        raise CheckpointError(f"memory of the checkpoint was unmapped or protected since: {where}", hint=_HINT)
    if (reason := closed(saved.files, open_files(process))) is not None:
        raise CheckpointError(f"{reason} since the checkpoint", hint=_HINT)
    return now


def _threads(process: int) -> set[int]:
    return {int(name) for name in os.listdir(f"/proc/{process}/task")}


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _arrive(thread: int) -> None:
    """Let GDB believe that this thread has just stopped where it is. Otherwise a breakpoint there, which was told of
    before the checkpoint, would be hit and told of once more when the program goes on."""
    next(each for each in gdb.selected_inferior().threads() if each.ptid[1] == thread).switch()
    address = gdb.newest_frame().pc()
    gdb.Breakpoint(f"*{address}", gdb.BP_BREAKPOINT, internal=True, temporary=True).silent = True
    gdb.execute(f"with scheduler-locking on -- with confirm off -- jump *{address}", to_string=True)
