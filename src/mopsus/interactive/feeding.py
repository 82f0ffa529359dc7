"""Which monitors get their events without the session, as the debugger sends them by itself; and why others do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mopsus.interactive.debugger import Feed
from mopsus.interactive.points import Points
from mopsus.interactive.voice import Voice
from mopsus.interactive.watch import Watch
from mopsus.model import Place

MANY = 10_000
"""Events of a monitor that were told one by one, after which it is said how to make that faster."""


class Feeding:
    """Decides, whenever something has changed, whose events are told to the session."""

    def __init__(
        self, voice: Voice, points: Points, watches: Sequence[Watch], instrument: Callable[[], object]
    ) -> None:
        """`instrument` sets the points that monitors need now; `watches` are those that there are at any time."""
        self._voice, self._debugger = voice, voice.debugger
        self._points = points
        self._watches = watches
        self._instrument = instrument

    def update(self) -> None:
        """Let the debugger send the events of those monitors by itself that need nothing else, if it can."""
        for watch in self._watches:
            if watch.fed:
                watch.fed_in_vain = self._debugger.fed_in_vain(watch.places)
        changed = [watch for watch in self._watches if watch.fed != self._can_be_fed(watch)]
        for watch in changed:
            watch.be_fed(not watch.fed)
        if changed:
            self._instrument()
            self._points.feed(self._feeds, [place for watch in changed for place in watch.places])

    def why_told(self, watch: Watch) -> str | None:
        """Why each event of a monitor is told; None if the debugger may send them by itself."""
        if (why := watch.why_not_fed) is not None:
            return why
        if self._debugger.can_feed(lambda: watch.stepped):
            return None
        if watch.stepped is None:
            return watch.why_not_stepped
        return "the debugger sends no events by itself"

    def advise(self, watch: Watch, place: Place) -> None:
        """A monitor has been told of very many events, one by one: say how to make that faster, if there is a way."""
        if not self._debugger.can_feed(lambda: watch.stepped):
            return
        why = self.why_told(watch) or self._debugger.inside().get(place) or "others are told of them, too"
        advice = "" if watch.quiet else "; `,quiet` behind the file of the property lets the program step them inside"
        self._voice.warn(f"{watch.spec.name}: {MANY:,} events have been told one by one, because {why}{advice}")

    def _can_be_fed(self, watch: Watch) -> bool:
        return watch.why_not_fed is None and self._debugger.can_feed(lambda: watch.stepped)

    def _feeds(self, place: Place) -> list[Feed]:
        """The events at a place, if there is nothing else to it."""
        here = [watch for watch in self._watches if place in watch.places]
        others = (watch.scenario for watch in self._watches if watch.scenario is not None)
        if any(not watch.fed or (place in watch.crowded and not self._chooses(watch)) for watch in here) or any(
            point.place == place for scenario in others for point in scenario.points
        ):
            return []
        return [each for watch in here for each in watch.feeds(place)]

    def _chooses(self, watch: Watch) -> bool:
        return self._debugger.feeds_choices and watch.needs_by_state
