"""In which order threads take locks: what `LockOrder` asks, because the answer is about all locks at once.

Two threads can only wait for each other if one has held `a` while it asked for `b`, the other `b` while it asked for
`a`, both have lived at the same time, and no third lock was held by both, which would have kept them apart. What the
main thread did before a thread has begun was over by then.

Every block with a lock comes by here, mostly with no other one held: that case must be quick. The answer to all that
is no violation is False, so that no monitor is made for it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary

from mopsus import untouched

Lock: TypeAlias = "threading.Lock | threading.RLock"
Seen: TypeAlias = "WeakKeyDictionary[Holder, tuple[int, frozenset[int]]]"
"""By thread: when it has taken two locks in an order, and which others it held."""


@dataclass(eq=False)
class Holder:
    """A thread, for as long as it lives: the locks that it holds, and when it has taken its first."""

    begun: int
    is_main: bool
    held: list[Lock] = field(default_factory=list)


class LockOrder:
    """The orders that were seen. A race between threads may lose one of them, but makes none up."""

    def __init__(self) -> None:
        self._clock = 0
        self._local = threading.local()
        self._orders: WeakKeyDictionary[Lock, WeakKeyDictionary[Lock, Seen]] = WeakKeyDictionary()

    def asks(self, lock: Lock) -> bool:
        """A thread waits for a lock, and then holds it: may another one that holds it wait for this thread?"""
        me = self._me()
        inverted = bool(me.held) and lock not in me.held and self._inverts(me, lock)
        me.held.append(lock)
        return inverted

    def releases(self, lock: Lock) -> bool:
        """A thread releases the lock that it has taken last, or another one."""
        held = self._me().held
        if held and held[-1] is lock:
            held.pop()
        elif lock in held:
            held.remove(lock)
        return False

    def _me(self) -> Holder:
        try:
            found: Holder = self._local.holder
        except AttributeError:
            is_main = threading.get_ident() == untouched.main_thread().ident
            found = self._local.holder = Holder(self._clock, is_main)
        return found

    def _inverts(self, me: Holder, lock: Lock) -> bool:
        inverted = False
        self._clock += 1
        for outer in me.held:
            others = frozenset(id(each) for each in me.held if each is not outer)
            inverted = inverted or self._was_inverted(me, lock, outer, others)
            seen = self._orders.setdefault(outer, WeakKeyDictionary()).setdefault(lock, WeakKeyDictionary())
            seen[me] = (self._clock, others)
        return inverted

    def _was_inverted(self, me: Holder, first: Lock, second: Lock, others: frozenset[int]) -> bool:
        inner = self._orders.get(first)
        seen = inner.get(second) if inner is not None else None
        return seen is not None and any(
            holder is not me and gates.isdisjoint(others) and (at > me.begun or not holder.is_main)
            for holder, (at, gates) in [*seen.items()]
        )


ORDER = LockOrder()
"""Locks belong to the process, and so does what is known about them."""
