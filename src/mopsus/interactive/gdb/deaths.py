"""Signals that a program dies of, and does not only get."""

from __future__ import annotations

import signal
from pathlib import Path

import gdb

_MOST_FRAMES = 1000
"""A stack that has overflown is not walked to its end."""
_BY_INSTRUCTION = 0x80
_TRAP_INSTRUCTION = b"\xcc"
_HARMLESS = {
    signal.SIGCHLD,
    signal.SIGCONT,
    signal.SIGSTOP,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
    signal.SIGURG,
    signal.SIGWINCH,
}
"""What these do by themselves ends nothing."""


def dies_of(name: str) -> int | None:
    """The number of a signal that the program, which has just stopped for it, will die of; None if it handles or
    ignores it, or it is not deadly."""
    number = getattr(signal, name, None)
    if not isinstance(number, signal.Signals) or number in _HARMLESS:
        return None
    try:
        lines = Path(f"/proc/{gdb.selected_inferior().pid}/status").read_text().splitlines()
    except OSError:  # it runs elsewhere
        return int(number)
    masks = dict(line.split(":\t", 1) for line in lines if line.startswith(("SigCgt:", "SigIgn:")))
    heeded = any(int(mask, 16) >> (number - 1) & 1 for mask in masks.values())
    return None if heeded else int(number)


def traps_itself() -> bool:
    """Does the program stand where it has sent SIGTRAP, or has an instruction that makes one? GDB calls that a stop as
    any other."""
    try:
        information = gdb.parse_and_eval("$_siginfo")
        number, code = int(information["si_signo"]), int(information["si_code"])
    except gdb.error:
        return False
    if number != signal.SIGTRAP or code <= 0:
        return number == signal.SIGTRAP
    before = gdb.selected_inferior().read_memory(gdb.newest_frame().pc() - 1, 1)
    return code == _BY_INSTRUCTION and bytes(before) == _TRAP_INSTRUCTION  # GDB hides its own


def is_called() -> bool:
    """Does the program stand in a call that the developer has asked for? What that does is no affair of its own."""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.type() == gdb.DUMMY_FRAME:
            return frame is not None
        frame = frame.older()
    return False
