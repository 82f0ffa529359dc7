"""Very many slices of a monitor, seen from afar: how many are where, and which of them moved last.

To make each slice and to compare it with what it was takes seconds for a hundred thousand, and the program waits. Here
only places are compared; slices are made of the few that are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from mopsus.monitor import Standing


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at them has shown."""

    counts: Mapping[Hashable, int]
    """How many are at each place."""
    ways: frozenset[tuple[Hashable | None, Hashable]]
    """Whence slices have moved since the last look, and where to; None: they are new."""
    first: Mapping[Hashable, Hashable | None]
    """Those to be shown, what moved last first, and where each was before, if that is known."""

    @property
    def places(self) -> set[Hashable]:
        """All places that are spoken of."""
        places = {*self.counts, *self.first.values(), *(was for was, _ in self.ways)}
        return places - {None}


class Crowd:
    """Knows where all slices were when it was last asked."""

    def __init__(self, most: int) -> None:
        """So many of them are shown."""
        self._most = most
        self._places: dict[Hashable, Hashable] | None = None
        self._last: dict[Hashable, Hashable | None] = {}

    def look(self, standing: Standing) -> Seen:
        """Where they are now."""
        before, now = self._places, standing.places
        self._places = now
        moved = (
            {key: before.get(key) for key, place in now.items() if before.get(key) != place}
            if before is not None
            else {}
        )
        counts = Counter(now.values())
        last = {key: moved[key] for key in islice(reversed(moved), self._most)}
        for key in chain(self._last, self._rare(now, counts)):
            if len(last) == self._most:
                break
            if key in now:
                last.setdefault(key, self._last.get(key))
        self._last = last
        return Seen(counts, frozenset((was, now[key]) for key, was in moved.items()), last)

    def _rare(self, now: dict[Hashable, Hashable], counts: Counter[Hashable]) -> Iterator[Hashable]:
        """Slices at places where few are come first: a violation is such a place."""
        at: dict[Hashable, list[Hashable]] = {place: [] for place, _ in reversed(counts.most_common())}
        for key in reversed(now):
            if len(at[now[key]]) < self._most:
                at[now[key]].append(key)
        return chain.from_iterable(at.values())
