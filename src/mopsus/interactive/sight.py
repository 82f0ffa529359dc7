"""What monitors cannot see of the program, and what they have not seen of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mopsus.interactive import telling
from mopsus.interactive.debugger import PlaceError
from mopsus.interactive.follow import Escaped
from mopsus.interactive.outcome import Doubt
from mopsus.interactive.voice import Voice
from mopsus.interactive.watch import Watch
from mopsus.model import Place, PlaceKind, Unseen

_FOLLOW = "--follow-fork both watches each process, child the one that goes on, as a daemon does"
_LEFT_OUT = "it happened, and nobody can say whose it is"
_UNNEEDED = "no state that was reached needs it, so nobody looked for it"


class Sight:
    """Knows the places that are not there, and the processes that nobody watches."""

    def __init__(self, voice: Voice, watches: Sequence[Watch]) -> None:
        """`watches` are the monitors that there are at any time."""
        self._voice, self._debugger = voice, voice.debugger
        self._watches = watches
        self.allow_silent = False
        """May a property be watched none of whose events can happen?"""
        self.escaped = Escaped()
        """The processes that were let go."""
        self.doubts: list[Doubt] = []
        """What the last run of the program may have done unseen."""
        self._wrong: dict[Place, str] = {}
        """Places that are not there, and why."""

    def check(self, watch: Watch) -> str | None:
        """Look for the places of a monitor. The answer: that none of its events can happen, and why; None if it can
        see something, or need not."""
        places = [place for place, _ in watch.offers()]
        wrong = {
            place: text for place in places if place.kind is not PlaceKind.END and (text := self._debugger.known(place))
        }
        for place, text in wrong.items():
            if self._wrong.get(place) != text:
                self._voice.tell(f"warning: {watch.spec.name}: {text}")
        for place in places:
            self._wrong.pop(place, None)
        self._wrong |= wrong
        if wrong and len(wrong) == len(places) and not self.allow_silent:
            why = next(iter(wrong.values()))
            return f"no event of {watch.spec.name} can happen in this program: {why}"
        return None

    def look_for_missed(self) -> None:
        """The program has ended: what did it never have, and what may it have done unseen?"""
        self.doubts.clear()
        for watch in self._watches:
            seen = watch.stats()["seen"]
            for place, arrivals in watch.arrivals.items():
                if place in self._wrong or any(seen[each.event] for each in arrivals):
                    continue
                if (why := self._debugger.missed(place)) is not None:
                    self._wrong[place] = why
                    continue
                event = next((each.event for each in arrivals if each.event in watch.looked_for), None)
                if event is not None and (why := self._debugger.doubt(place)) is not None:
                    doubt = Doubt(watch.spec.name, event, why)
                    self.doubts.append(doubt)
                    self._voice.tell(f"warning: {doubt.text}")

    def unseen(self) -> Iterator[Unseen]:
        """What monitors have not seen, and what they could not see."""
        for watch in self._watches:
            spec, seen = watch.spec, watch.stats()["occurred"]
            places: dict[str, list[Place]] = {}
            for place, arrivals in watch.arrivals.items():
                for each in arrivals:
                    places.setdefault(each.event, []).append(place)
            for event in spec.events:
                here = places.get(event.name, [])
                if here and all(place in self._wrong for place in here):
                    yield Unseen(spec.name, event.name, possible=False, reason=self._wrong[here[0]], span=spec.span)
                elif (why := watch.left_out.get(event.name)) is not None:
                    reason = f"{_LEFT_OUT}: {why}"
                    yield Unseen(spec.name, event.name, possible=False, reason=reason, span=spec.span, lost=True)
                elif not seen[event.name] and any(seen.values()):
                    hint = "" if event.name in watch.looked_for else _UNNEEDED
                    yield Unseen(spec.name, event.name, hint=hint, span=spec.span)
            if not any(seen.values()):
                yield Unseen(spec.name, span=spec.span)
            if elsewhere := self.escaped.said():
                hint = _FOLLOW if self._debugger.follows_forks else ""
                yield Unseen(spec.name, elsewhere=elsewhere, hint=hint, span=spec.span)
            if self._debugger.blinded:
                yield Unseen(spec.name, possible=False, elsewhere=self._debugger.blinded, span=spec.span)

    def refused(self, place: Place, error: PlaceError) -> None:
        """The debugger does not find a place."""
        if place not in self._wrong:  # otherwise it was told at the start
            self._voice.warn(telling.error_text(error))
