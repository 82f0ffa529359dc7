"""Checkpoints: the program, every monitor, and what still waits at the place where it stands.

Points are no part of them. Those of the developer and of scenarios stay as they are when a checkpoint is restored;
those of monitors follow from the states that come back. The variables of scenarios keep their values, too: a scenario
that rewinds must be able to remember that it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mopsus.interactive import telling
from mopsus.interactive.debugger import CheckpointError, Where

if TYPE_CHECKING:
    from mopsus.interactive.session import Session, Waiting
    from mopsus.interactive.watch import Watch
    from mopsus.monitor import Checkpoint as MonitorCheckpoint


@dataclass(slots=True, eq=False)
class Checkpoint:
    """A checkpoint, or one that will be taken as soon as the debugger can."""

    number: int
    taken: bool = False
    where: Where | None = None
    states: str = ""
    program: object = None
    monitors: list[tuple[Watch, MonitorCheckpoint, int]] = field(default_factory=list)
    """Of each monitor, what was saved of it, and where its record was."""
    waiting: tuple[Waiting, ...] = ()


class Checkpoints:
    """The checkpoints of a session, each with the least number that was unused when it was asked for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._all: dict[int, Checkpoint] = {}

    def __iter__(self) -> Iterator[Checkpoint]:
        """Those that were taken, in the order of their numbers."""
        return iter([self._all[number] for number in sorted(self._all) if self._all[number].taken])

    def take(self) -> Checkpoint:
        """Save everything now. `CheckpointError` says why that cannot be."""
        return self._take(self._reserve())

    def take_later(self) -> Checkpoint:
        """Save everything as soon as the debugger can."""
        handle = self._reserve()
        self._session.later(lambda: self._take(handle))
        return handle

    def restore(self, number: int) -> None:
        """Bring everything back. It may be done again and again."""
        session, checkpoint = self._session, self._find(number)
        with session.points.lifted():
            session.debugger.restore(checkpoint.program)
            for watch, saved, mark in checkpoint.monitors:
                if watch in session.watches:
                    watch.rewind(saved, mark)
            session.instrument()
        session.came_back(checkpoint.waiting)
        self.drop_lost()
        session.live.went_back(number)
        session.tell(f"Back at {telling.checkpoint_line(checkpoint)}.")

    def discard(self, number: int) -> None:
        """Forget one."""
        self._session.debugger.discard(self._find(number).program)
        del self._all[number]

    # ---- where the session itself goes back, because it lives in the process of the program

    def lasting(self) -> dict[str, Any]:
        """What outlives a restore: everything that was said, the checkpoints, the scenarios, what is still to do."""
        session = self._session
        return {
            "checkpoints": {each.number: (each.program, each.where, each.states) for each in self},
            "verdicts": session.verdicts,
            "warnings": session.warnings,
            "scenarios": {
                watch.number: (watch.scenario.variables(), watch.scenario.points)
                for watch in session.watches
                if watch.scenario is not None
            },
            "course": session.course(),
            "live": session.live.lasting(),
        }

    def regain(self, lasting: dict[str, Any], number: int, *, passing: bool) -> None:
        """In the process that a checkpoint has brought back: know what the other knew that ended for it. `passing`:
        the program is to go on, if nobody suspends it."""
        session = self._session
        for other, (program, where, states) in lasting["checkpoints"].items():
            found = self._all.setdefault(other, Checkpoint(other))
            found.program, found.where, found.states, found.taken = program, where, states, True
        for gone in self._all.keys() - lasting["checkpoints"].keys():
            del self._all[gone]
        session.verdicts[:] = lasting["verdicts"]
        session.warnings.update(lasting["warnings"])
        for watch in session.watches:
            if watch.recorder is not None:
                watch.recorder.rewind(watch.recorder.mark())
            if watch.scenario is not None and watch.number in lasting["scenarios"]:
                watch.scenario.regain(*lasting["scenarios"][watch.number])
        session.take_course(lasting["course"], passing)
        session.live.regain(lasting["live"])
        session.live.went_back(number)
        session.tell(f"Back at {telling.checkpoint_line(self._find(number))}.")

    def handle(self, number: int) -> Checkpoint:
        """The checkpoint of that number, taken or not, even if it is no more."""
        return self._all.get(number) or Checkpoint(number)

    def drop_lost(self) -> None:
        """Forget those that are gone with a process that ended."""
        lost = [each for each in self if not self._session.debugger.keeps(each.program)]
        for each in lost:
            del self._all[each.number]
            self._session.tell(f"Gone with the process that it was taken in: {telling.checkpoint_line(each)}.")

    def forget(self) -> None:
        """The program that they are of is gone, and with it what the debugger has saved of it."""
        self._all.clear()

    def _reserve(self) -> Checkpoint:
        number = next(number for number in range(len(self._all) + 1) if number not in self._all)
        self._all[number] = Checkpoint(number)
        return self._all[number]

    def _take(self, handle: Checkpoint) -> Checkpoint:
        session = self._session
        try:
            for item in session.waiting:
                for reading in session.points.readings(item.place):
                    item.read(reading)  # while the program stands there: it is remembered
            handle.program = session.debugger.checkpoint()
        except CheckpointError:
            del self._all[handle.number]
            raise
        handle.where = session.debugger.where()
        if not session.debugger.holds_session:
            handle.monitors = [(watch, *watch.checkpoint()) for watch in session.watches]
        handle.waiting = tuple(session.waiting)
        happened = sum(watch.monitor.stats().events for watch in session.watches)
        handle.states = "; ".join([*map(telling.states_line, session.watches), telling.events_line(happened)])
        handle.taken = True
        return handle

    def _find(self, number: int) -> Checkpoint:
        found = self._all.get(number)
        if found is None or not found.taken:
            known = ", ".join(str(each.number) for each in self)
            hint = f"there are {known}" if known else "there is none yet: `verde checkpoint` takes one"
            raise CheckpointError(f"there is no checkpoint {number}", hint=hint)
        return found
