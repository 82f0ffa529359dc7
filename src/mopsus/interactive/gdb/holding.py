"""A process that has just been forked waits until another debugger has it, and nobody can tell.

A stop signal would be told to its parent; and if that ends meanwhile, the kernel ends the child, too, as one that
nobody is left to wake. So the child goes round in a few instructions of ours, most of the time asleep, with all signals
blocked, which come when it is let go on. Nothing here knows GDB.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mopsus.interactive.gdb import ptrace
from mopsus.interactive.gdb.memory import Memory

_YAMA, _CAN_TRACE = Path("/proc/sys/kernel/yama/ptrace_scope"), 1 << 19
_WAIT = bytes.fromhex("b807000000 0f05 ebf7")
"""`again: mov $7, %eax; syscall; jmp again`, which is a `poll` of nothing at all."""
_WAIT_MS = 20
HELD, HANDED_OVER = ".part", ".json"
"""How the file is called that says so, before the process waits and when it does."""
GROUP = ".group"
"""How the file is called that says which processes are to be ended when nobody watches any of them any more."""
_ALL_SIGNALS = b"\xff" * 8


@dataclass(frozen=True, slots=True)
class Held:
    """What a process was about to do, as texts of hexadecimal digits."""

    general: str
    extended: str
    blocked: str
    code: str

    @property
    def state(self) -> ptrace.ThreadState:
        read = bytes.fromhex
        return ptrace.ThreadState(read(self.general), read(self.extended), read(self.blocked), 0)


@dataclass(frozen=True, slots=True)
class Legacy:
    """What the session of a child begins with: its program has the past of its parent's."""

    process: int
    held: Held
    monitors: Sequence[Any] = ()
    """Of each monitor, what `Watch.bequeath` gave."""


def may_trace() -> bool:
    """May we trace processes that are not below us? Nobody could let go what waits, otherwise."""
    if not _YAMA.exists() or int(_YAMA.read_text()) == 0:
        return True
    lines = Path("/proc/self/status").read_text().splitlines()
    able = next(line for line in lines if line.startswith("CapEff:")).split()[1]
    return bool(int(able, 16) & _CAN_TRACE)


def look(process: int) -> Held:
    """Before it is held: what it is about to do. It is stopped, and traced by this thread."""
    state = ptrace.get_state(process)
    address = ptrace.address_of(state)
    memory = Memory(process)
    try:
        code = memory.read(address, address + len(_WAIT))
    finally:
        memory.close()
    return Held(state.general.hex(), state.extended.hex(), state.blocked.hex(), code.hex())


def hold(process: int, held: Held) -> None:
    """Have it wait as soon as it goes on."""
    state = held.state
    memory = Memory(process)
    try:
        memory.write(ptrace.address_of(state), _WAIT)
    finally:
        memory.close()
    waiting = ptrace.with_arguments(state.general, 0, 0, _WAIT_MS)
    ptrace.set_state(process, replace(state, general=waiting, blocked=_ALL_SIGNALS))


def release(process: int, held: Held) -> None:
    """Have it do what it was about to. It is stopped, and traced by this thread."""
    memory = Memory(process)
    try:
        memory.write(ptrace.address_of(held.state), bytes.fromhex(held.code))
    finally:
        memory.close()
    ptrace.set_state(process, held.state)


def is_there(process: int | None) -> bool:
    """Is it alive, and not just waiting for its parent to ask what became of it?"""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def let_go(process: int, held: Held) -> bool:
    """The same from outside, if it still waits. Not if somebody traces it; False then."""
    return _handle(process, held, release)


def end(process: int, held: Held) -> bool:
    """Have it do nothing any more, in the same way."""
    return _handle(process, held, lambda *_: os.kill(process, signal.SIGKILL))


def _handle(process: int, held: Held, do: Callable[[int, Held], object]) -> bool:
    try:
        with ptrace.traced(process):
            if _waits(process, held):
                do(process, held)
    except PermissionError:
        return False
    except OSError:  # it has been killed
        pass
    return True


def _waits(process: int, held: Held) -> bool:
    """Is it still in our instructions?"""
    begin = ptrace.address_of(held.state)
    memory = Memory(process)
    try:
        inside = begin <= ptrace.address_of(ptrace.get_state(process)) < begin + len(_WAIT)
        return inside and memory.read(begin, begin + len(_WAIT)) == _WAIT
    finally:
        memory.close()
