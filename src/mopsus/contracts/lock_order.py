"""In which order threads take locks: what `LockOrder` asks, because its answer is about all locks at once.

Two threads can only wait for each other if one has held `a` while it asked for `b`, the other `b` while it asked for
`a`, both have lived at the same time, and no third lock was held by both, which would have kept them apart. What the
main thread did before a thread has begun was over by then.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakSet

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
        self._holders: WeakKeyDictionary[Lock, Holder] = WeakKeyDictionary()
        self._signals: WeakSet[Lock] = WeakSet()
        """Locks that one thread takes and another releases: they tell something, and protect nothing."""
        self._orders: WeakKeyDictionary[Lock, WeakKeyDictionary[Lock, Seen]] = WeakKeyDictionary()

    def inverts(self, lock: Lock) -> bool:
        """A thread asks for a lock and will wait for it: may it wait for a thread that waits for it?"""
        held = self._me().held
        return bool(held) and lock not in held and lock not in self._signals and self._inverts(lock)

    def take(self, lock: Lock) -> None:
        """A thread has asked for a lock, and got it unless somebody has it already."""
        me = self._me()
        holder = self._holders.setdefault(lock, me)
        if holder is me:
            me.held.append(lock)

    def give(self, lock: Lock, entirely: bool = False) -> None:
        """A thread releases a lock, once or as often as it has taken it."""
        me = self._me()
        holder = self._holders.get(lock, me)
        if holder is not me:
            self._signals.add(lock)
            entirely = True
        elif lock not in me.held:
            return
        holder.held.reverse()  # what was taken last is released
        holder.held.remove(lock)
        holder.held.reverse()
        if entirely:
            holder.held[:] = [each for each in holder.held if each is not lock]
        if lock not in holder.held:
            self._holders.pop(lock, None)

    def _me(self) -> Holder:
        try:
            found: Holder = self._local.holder
        except AttributeError:
            is_main = threading.get_ident() == threading.main_thread().ident
            found = self._local.holder = Holder(self._clock, is_main)
        return found

    def _inverts(self, lock: Lock) -> bool:
        me = self._me()
        found = False
        self._clock += 1
        for outer in me.held:
            if outer in self._signals:
                continue
            others = frozenset(id(each) for each in me.held if each is not outer)
            found = found or self._was_inverted(lock, outer, others)
            seen = self._orders.setdefault(outer, WeakKeyDictionary()).setdefault(lock, WeakKeyDictionary())
            seen[me] = (self._clock, others)
        return found

    def _was_inverted(self, first: Lock, second: Lock, others: frozenset[int]) -> bool:
        me = self._me()
        inner = self._orders.get(first)
        seen = inner.get(second) if inner is not None else None
        return seen is not None and any(
            holder is not me and gates.isdisjoint(others) and (at > me.begun or not holder.is_main)
            for holder, (at, gates) in [*seen.items()]
        )


ORDER = LockOrder()
"""Locks belong to the process, and so does what is known about them."""
