"""Which points there are, and for whom: one physical point for each place, whoever wants to know of it.

Every owner says which places it wants now; a point is set for as long as somebody does. Whatever changes is the
difference only, because setting a point costs more than most events.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from mopsus.interactive.debugger import Debugger, Feed, PlaceError
from mopsus.model import Place, PlaceKind, Reading


class Points:
    """The physical points of a session. The end of the program needs none: every debugger tells of it."""

    def __init__(self, debugger: Debugger, refused: Callable[[Place, PlaceError], object]) -> None:
        """`refused` is told of places that the program does not have, or not now."""
        self._debugger = debugger
        self._refused = refused
        self._readings: dict[Place, dict[Reading, None]] = {}
        self._wanted: dict[object, frozenset[Place]] = {}
        self._owners: dict[Place, int] = {}
        self._set: set[Place] = set()
        self._fed: set[Place] = set()
        self._feeds: Callable[[Place], Sequence[Feed]] = lambda place: ()
        self._lifted = False

    @property
    def places(self) -> frozenset[Place]:
        """Where points are set now."""
        return frozenset(self._set)

    def readings(self, place: Place) -> Collection[Reading]:
        """All that may be asked for there."""
        return self._readings.get(place, {}).keys()

    def offer(self, place: Place, readings: Iterable[Reading]) -> None:
        """Whoever wants this place may ask for these values there."""
        known = self._readings.setdefault(place, {})
        new = [reading for reading in readings if reading not in known]
        known.update(dict.fromkeys(new))
        if new and place in self._set:
            self._clear(place)
            self._place(place)

    def want(self, owner: object, places: Collection[Place]) -> None:
        """From now on, this owner wants these places and no others."""
        new = frozenset(place for place in places if place.kind is not PlaceKind.END)
        old = self._wanted.get(owner, frozenset())
        if new:
            self._wanted[owner] = new
        else:
            self._wanted.pop(owner, None)
        for place in new - old:
            self._owners[place] = self._owners.get(place, 0) + 1
            if place in self._fed:
                self._clear(place)  # there is more to it now than the events that were sent there
        for place in old - new:
            self._owners[place] -= 1
            if not self._owners[place]:
                del self._owners[place]
                if place in self._set:
                    self._clear(place)
        # In the order of the caller, and again what was refused before: a variable may have come into scope.
        for place in places:
            if place in new and place not in self._set:
                self._place(place)

    def feed(self, feeds: Callable[[Place], Sequence[Feed]], places: Iterable[Place]) -> None:
        """From now on, this says which events the debugger may send by itself when it comes to a place, and something
        else than before at these."""
        self._feeds = feeds
        for place in self._set.intersection(places):
            if place in self._fed or feeds(place):
                self._clear(place)
                self._place(place)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """No point is set meanwhile; those that are wanted afterwards are set again."""
        for place in list(self._set):
            self._clear(place)
        self._lifted = True
        try:
            yield
        finally:
            self._lifted = False
            for place in self._owners:
                self._place(place)

    def _place(self, place: Place) -> None:
        if self._lifted:
            return
        try:
            self._debugger.set_point(place, tuple(self.readings(place)))
        except PlaceError as error:
            self._refused(place, error)
        else:
            self._set.add(place)
            if events := self._feeds(place):
                self._fed.add(place)
                self._debugger.feed(place, events)

    def _clear(self, place: Place) -> None:
        self._set.discard(place)
        self._fed.discard(place)
        self._debugger.clear_point(place)
