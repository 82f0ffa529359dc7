"""Returns of functions: calls that are open, and traps where they will come back to.

When a function is entered whose return is awaited, its frame is noted: where it returns to, and the stack pointer
then. A trap at that address tells of the return; the stack pointer tells the calls of a recursion apart. The trap stays
for the next call from there, so a loop costs no trap after the first; a few dozen are kept, unless the program comes
there again and again and nobody waits: a hook may see these calls.

A call that is left by `longjmp` or an exception never returns, though the program may come to where it would have
returned to. Both are rare, so traps stand in their way and tell how much of the stack goes. A tail call leaves two
calls with one frame, which return together, the inner one first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gdb

from mopsus.interactive.gdb.convention import jump_target
from mopsus.interactive.gdb.trap import Trap

_SITES = 48
"""Return traps that are kept. Each costs a few microseconds at every stop."""
_VAIN = 8
"""How often a trap may be hit that nobody waits for, before it goes."""
_JUMPS = ("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk")
_CATCH = "__cxa_begin_catch"


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call that has not returned yet."""

    owner: object
    address: int
    stack: int
    returned: Callable[[int], bool]
    """Called in the frame of the caller with the address there; true: stop."""


class Calls:
    """The open calls of every thread."""

    def __init__(self) -> None:
        self._open: dict[int, list[OpenCall]] = {}
        self._sites: dict[int, Trap] = {}
        self._vain: dict[int, int] = {}
        """By address, how often a trap was hit in vain since a call returned there."""
        self._leaving: list[Trap] = []

    def entered(self, owner: object, frame: gdb.Frame, returned: Callable[[int], bool]) -> bool:
        """The function of `frame` was entered. False: nobody will ever see it return, because it is inlined or the
        stack cannot be followed."""
        caller = _caller(frame)
        if caller is None:
            return False
        self.expect(OpenCall(owner, caller.pc(), _stack_pointer(caller), returned))
        return True

    def expect(self, call: OpenCall) -> None:
        """A call of the selected thread will return."""
        if not self._leaving:
            self._leaving = [Trap(f"-function {name}", self._jumped) for name in _JUMPS]
            self._leaving.append(Trap(f"-function {_CATCH}", self._caught))
        self._open.setdefault(gdb.selected_thread().global_num, []).append(call)
        self._await(call.address)

    def forget(self, owner: object) -> None:
        """Nobody waits for the returns of this owner any more."""
        for thread, calls in list(self._open.items()):
            self._open[thread] = [call for call in calls if call.owner is not owner]
        if not self.open:
            for site in self._sites.values():
                site.discard()
            self._sites.clear()

    def clear(self) -> None:
        """There is no program any more, or another one."""
        self._open.clear()
        for trap in (*self._sites.values(), *self._leaving):
            trap.discard()
        self._sites.clear()
        self._leaving.clear()

    @property
    def open(self) -> int:
        return sum(map(len, self._open.values()))

    def _await(self, address: int) -> None:
        site = self._sites.pop(address, None)
        if site is None:
            site = Trap(f"*{address}", lambda: self._back(address))
            self._make_room()
        self._sites[address] = site  # the latest is last

    def _make_room(self) -> None:
        if len(self._sites) < _SITES:
            return
        awaited = self._awaited()
        for address in [address for address in self._sites if address not in awaited][: _SITES // 2]:
            self._sites.pop(address).discard()

    def _awaited(self) -> set[int]:
        """The addresses that open calls return to."""
        return {call.address for calls in self._open.values() for call in calls}

    def _back(self, address: int) -> bool:
        """Something returned to `address`."""
        done = self._returned(address, self._open.get(gdb.selected_thread().global_num, []))
        self._vain[address] = 0 if done else self._vain.get(address, 0) + 1
        if self._vain[address] >= _VAIN and address not in self._awaited():
            self._vain.pop(address)
            self._sites.pop(address).discard()
        stops = [call.returned(address) for call in done]
        return any(stops)

    def _returned(self, address: int, calls: list[OpenCall]) -> list[OpenCall]:
        """The calls of a thread that have returned there, which are open no more."""
        if not calls:
            return []
        stack = int(gdb.parse_and_eval("$sp"))
        done = []
        while calls and _returns(calls[-1], address, stack):
            done.append(calls.pop())
        if not done:
            # Whatever is above it was left in a way that we do not see, or runs on another stack.
            done = [call for call in reversed(calls) if _returns(call, address, stack)]
            calls[:] = [call for call in calls if call not in done]
        return done

    def _jumped(self) -> bool:
        return self._unwound(jump_target(gdb.selected_frame()))

    def _caught(self) -> bool:
        """An exception is being caught by the function that called here."""
        caller = gdb.selected_frame().older()
        return self._unwound(None if caller is None else _stack_pointer(caller))

    def _unwound(self, stack: int | None) -> bool:
        """Every call below this stack pointer is over."""
        thread = gdb.selected_thread().global_num
        if stack is not None and thread in self._open:
            self._open[thread] = [call for call in self._open[thread] if call.stack > stack]
        return False


def _returns(call: OpenCall, address: int, stack: int) -> bool:
    return call.stack == stack and call.address == address


def _caller(frame: gdb.Frame) -> gdb.Frame | None:
    """The frame that a function returns to, through tail calls; None for an inlined function, which does not."""
    if frame.type() == gdb.INLINE_FRAME:
        return None
    caller = frame.older()
    while caller is not None and caller.type() == gdb.TAILCALL_FRAME:
        caller = caller.older()
    return caller


def _stack_pointer(frame: gdb.Frame) -> int:
    return int(frame.read_register("sp"))
