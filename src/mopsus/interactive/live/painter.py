"""Makes pictures of a session: it sees what monitors are told of, and looks at the rest when a picture is wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mopsus.interactive import telling
from mopsus.interactive.debugger import Where
from mopsus.interactive.live.picture import Course, Happened, Monitor, Picture, Place, Program, Said, Saved, Source
from mopsus.interactive.live.shown import place_of, show_values
from mopsus.interactive.live.trail import Trail
from mopsus.model import Verdict
from mopsus.model.text import file_line, printable
from mopsus.verdict import explain

if TYPE_CHECKING:
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Move, Watch

MOST_EVENTS = 200
MOST_VERDICTS = 50
_AROUND = 12
"""Lines of source before and after the one where the program stands."""


class Painter:
    """Follows a session from now on."""

    def __init__(self, session: Session, program: str) -> None:
        self._session = session
        self._name = program
        self._trails: dict[int, tuple[Watch, Trail]] = {}
        self._events: deque[Happened] = deque(maxlen=MOST_EVENTS)
        self._count = self._serial = self._heard = 0
        self._said: dict[str, deque[Said]] = {}
        self._spoken: dict[str, int] = {}
        self._where: Where | None = None
        self._follow()

    # ---- what happens

    def happened(
        self, watch: Watch, event: str, values: Mapping[str, object], where: Where, moves: Sequence[Move]
    ) -> None:
        """A monitor was told of an event."""
        self._note(watch.number, event, show_values(values), where)
        self._trail(watch).happened(moves)
        self._where = where

    def went_back(self, number: int) -> None:
        """The program and all monitors are where they were at a checkpoint."""
        self._note(0, f"back at checkpoint {number}", {}, None)
        self.began()

    def began(self) -> None:
        """The monitors stand elsewhere, and no event has led there."""
        for _, trail in self._trails.values():
            trail.forget()

    def lasting(self) -> tuple[Any, ...]:
        """What outlives a restore where the session itself goes back."""
        return self._serial, self._count, tuple(self._events), self._heard, self._said, self._spoken

    def regain(self, lasting: tuple[Any, ...]) -> None:
        """Know that again."""
        self._serial, self._count, events, self._heard, self._said, self._spoken = lasting
        self._events = deque(events, MOST_EVENTS)

    # ---- the picture

    def paint(self, course: Course, reason: str = "", status: int | None = None, *, harmless: bool = False) -> Picture:
        """How the session stands. `harmless`: the program may be anywhere, so none of its code is run for it."""
        self._listen()
        if course is Course.STOPPED:
            self._where = self._session.debugger.where()
        self._serial += 1
        return Picture(
            serial=self._serial,
            debugger=self._session.debugger.language,
            program=Program(course, self._name, printable(reason), self._why(reason), place_of(self._where), status),
            source=_source(self._where),
            monitors=tuple(self._monitor(watch, harmless) for watch in self._session.watches),
            events=tuple(self._events),
            event_count=self._count,
            checkpoints=tuple(
                Saved(each.number, place_of(each.where), each.states) for each in self._session.checkpoints
            ),
        )

    # ---- how it works

    def _note(self, monitor: int, event: str, values: Mapping[str, str], where: Where | None) -> None:
        self._count += 1
        time = None if where is None else where.time
        self._events.append(Happened(self._count, monitor, printable(event), values, place_of(where), time))

    def _follow(self) -> None:
        watches = {watch.number: watch for watch in self._session.watches}
        for gone in self._trails.keys() - watches.keys():
            del self._trails[gone]
        for watch in watches.values():
            self._trail(watch)

    def _trail(self, watch: Watch) -> Trail:
        known = self._trails.get(watch.number)
        if known is None or known[0] is not watch:
            watch.be_observed()
            known = self._trails[watch.number] = watch, Trail(watch)
        return known[1]

    def _listen(self) -> None:
        """What was said since the last picture. Of very much, most is only counted: to explain it takes time."""
        self._follow()
        new = self._session.verdicts[self._heard :]
        self._heard += len(new)
        for verdict in new:
            self._spoken[verdict.spec] = self._spoken.get(verdict.spec, 0) + 1
        for verdict in new[-MOST_VERDICTS:]:
            watch = next((each for each in self._session.watches if each.spec.name == verdict.spec), None)
            if watch is not None:
                self._trail(watch).spoke(verdict, self._session.history, stops=str(verdict) == self._session.suspended)
                self._said.setdefault(verdict.spec, deque(maxlen=MOST_VERDICTS)).append(self._explained(watch, verdict))

    def _explained(self, watch: Watch, verdict: Verdict) -> Said:
        explained = explain(verdict, watch.machine(verdict.property), self._session.history, watch.spec)
        return Said(
            str(verdict),
            verdict.violation,
            printable(verdict.category),
            show_values(verdict.binding),
            _located(verdict.location),
            tuple(telling.explanation_lines(explained)),
        )

    def _why(self, reason: str) -> tuple[str, ...]:
        said = (each for all_said in self._said.values() for each in reversed(all_said))
        return next((each.explanation for each in said if each.text == reason), ())

    def _monitor(self, watch: Watch, harmless: bool) -> Monitor:
        trail = self._trail(watch)
        now, slices, count = trail.look(harmless)
        return Monitor(
            number=watch.number,
            spec=printable(watch.spec.name),
            automata=trail.automata,
            now=now,
            slices=slices,
            slice_count=count,
            event_count=watch.monitor.stats().events,
            verdicts=tuple(self._said.get(watch.spec.name, ())),
            verdict_count=self._spoken.get(watch.spec.name, 0),
            inside=watch.fed,
        )


def _located(location: str | None) -> Place:
    found = file_line(location) if location is not None else None
    return Place(location) if found is None else Place(found[0], found[1])


def _source(where: Where | None) -> Source | None:
    place = place_of(where)
    if place.file is None or place.line is None:
        return None
    lines = _lines(place.file)
    first = max(1, place.line - _AROUND)
    around = lines[first - 1 : place.line + _AROUND]
    return Source(place.file, first, around, place.line) if around else None


@lru_cache(maxsize=16)
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(errors="replace").expandtabs().splitlines())
    except (OSError, ValueError):
        return ()  # there is no such file here
