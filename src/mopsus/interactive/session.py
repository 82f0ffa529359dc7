"""A debugging session: it gives monitors their events from the points of a debugger, and the debugger its orders from
the verdicts of monitors.

At one place the developer's point comes first, then those of scenarios, then the events of monitors, and each once per
arrival. If one stops the program, those after it wait until the developer goes on. All events that monitors need at a
place are delivered, monitors in the order of their making, events in the order of declaration; what becomes needed by
this very hit waits for the next one. Then the points are those that the new states need, then scenarios react.

A debugger in the middle of telling cannot do everything. What it cannot, a checkpoint above all, is put off until it
has told all: see `later`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mopsus.interactive import telling
from mopsus.interactive.checkpoints import Checkpoints
from mopsus.interactive.commands import Desk, run_command
from mopsus.interactive.crash import Crash, cause_of, is_crash
from mopsus.interactive.debugger import Debugger, Read, Where
from mopsus.interactive.feeding import MANY, Feeding
from mopsus.interactive.interface import MonitorInterface
from mopsus.interactive.live.live import Live
from mopsus.interactive.outcome import INTERRUPTION, Outcome, Stop
from mopsus.interactive.points import Points
from mopsus.interactive.scenario.engine import Engine
from mopsus.interactive.scenario.model import Scenario
from mopsus.interactive.sight import Sight
from mopsus.interactive.trace import Recorder
from mopsus.interactive.voice import Voice
from mopsus.interactive.watch import Move, Watch
from mopsus.model import Fault, MopsusError, Place, PlaceKind, Reading, ReadingKind, Spec, Unavailable, Verdict
from mopsus.model.limits import HISTORY
from mopsus.spec import render

END = Place(PlaceKind.END)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A place that was reached, where the developer's point or a scenario's stopped the program: the rest of what is
    to be done there, when it goes on."""

    place: Place
    read: Read
    pc: int | None
    scenarios_done: bool = False


class Session(Voice):
    """Monitors, scenarios and checkpoints over one debugger. It is the debugger's `Driver`."""

    def __init__(
        self, debugger: Debugger, *, history: int = HISTORY, allow_code: bool = True, record: str | None = None
    ) -> None:
        """With `record`, the events of each monitor are written to that file."""
        super().__init__(debugger)
        self.history, self.allow_code = history, allow_code
        self.stops_at_faults = False
        """Does the program stop where code of a property raises an error?"""
        self.watches: list[Watch] = []
        self.desk = Desk()
        self.sight = Sight(self, self.watches)
        self.points = Points(debugger, self.sight.refused)
        self.feeding = Feeding(self, self.points, self.watches, self.instrument)
        self.checkpoints = Checkpoints(self)
        self.verdicts: list[Verdict] = []
        self.started = False
        self.over = False
        """Has the program ended?"""
        self.crash: Crash | None = None
        """What the program has died of, or is about to where it stands."""
        self.waiting: list[Waiting] = []
        self.returns = 0
        """How often a checkpoint was restored."""
        self._record = record
        self._numbers = 0
        self._status: int | None = None
        self._error: str | None = None
        self._time = 0.0
        self._suspended: str | None = None
        self._stop: Stop | None = None
        self._told = True
        self.told_verdicts: tuple[tuple[Watch, Verdict], ...] = ()
        """Those that the last stop was for, each with its monitor."""
        self.live = Live(self)
        """Who looks at it all."""
        self._said: list[tuple[Watch, Verdict]] = []
        self._later: deque[Callable[[], object]] = deque()
        self._telling = False
        self._passing = False

    # ---- monitors

    def add(
        self,
        spec: Spec,
        scenario: Scenario | None = None,
        functions: dict[str, Any] | None = None,
        quiet: bool = False,
        *,
        number: int | None = None,
    ) -> Watch:
        """One more monitor, which becomes the current one. Without a scenario it stops the program at violations. One
        that comes when the others have started starts at once."""
        watch = Watch(
            self.next_number() if number is None else number,
            spec,
            self.verdicts.append,
            self._moved,
            self.fault,
            history=self.history,
            allow_code=self.allow_code,
            quiet=quiet,
        )
        watch.interface = MonitorInterface(self, watch)
        watch.use_functions({"print": self.print} if functions is None else functions)
        if scenario is not None:
            self.use_scenario(watch, scenario)
        if self._record is not None:
            watch.recorder = Recorder.beside(
                self._record, spec, [each.recorder for each in self.watches if each.recorder]
            )
        for place, readings in watch.offers():
            self.points.offer(place, readings)
        self.watches.append(watch)
        self.desk.current = watch.number
        if self.started:
            self._begin([watch])
        return watch

    def remove(self, watch: Watch) -> None:
        """Forget a monitor, with its points and its scenario's."""
        self.watches.remove(watch)
        self.points.want(watch, ())
        self.points.want(watch.scenario, ())
        watch.close()

    def next_number(self) -> int:
        """A number for one more monitor."""
        self._numbers += 1
        return self._numbers

    def use_scenario(self, watch: Watch, scenario: Scenario) -> None:
        """Let this decide from now on."""
        if watch.scenario is not None:
            self.points.want(watch.scenario, ())
        watch.scenario = Engine(scenario, self, watch)
        watch.be_fed(False)
        for warning in scenario.unknown_states(watch.reachable()):
            self.warn(render(warning))
        if self.started and watch in self.watches:
            watch.scenario.begin()

    def start(self) -> bool:
        """Begin to watch: all monitors in their initial state, points set, scenarios told of the initial state. True:
        a scenario wants the program to stay where it is."""
        if self.started:
            for watch in self.watches:
                watch.restart()
        self.started = True
        self._status, self._stop, self.over, self.crash = None, None, False, None
        self.waiting.clear()
        self.live.began()
        staying = self._begin(self.watches)
        if not staying:
            self.live.goes_on()
        return staying

    @property
    def status(self) -> int | None:
        """What the program has ended with, if anybody knows."""
        return self._status

    # ---- what the debugger tells

    def reached(self, place: Place, read: Read) -> bool:
        """The program has reached a place that has a point. True: stay stopped."""
        if self._telling:
            return False  # the program's code runs for the sake of an expression of ours, not for its own
        if self.debugger.developer_stops_here():
            self.waiting.append(Waiting(place, read, self.debugger.get_pc()))
            return True
        if self._told:  # otherwise another place at this very instruction has just stopped the program
            self._suspended = None
        self._arrive(place, read)
        self.feeding.update()
        if self._later:
            self._passing = True
            self.debugger.stop_soon()
        return self._suspended is not None

    def resuming(self) -> bool:
        """The developer wants the program to go on. True: it must not."""
        self._suspended = None
        self._settle()
        self.feeding.update()
        self._tell_stop()
        if self._suspended is None:
            self.live.goes_on()
        return self._suspended is not None

    def stopped(self) -> None:
        """The program has stopped, and anything may be asked of the debugger."""
        ours = self._passing or self._suspended is not None
        self._passing = False
        self._work_off()
        if ours and self._suspended is None:
            self._settle()
        self.feeding.update()
        if ours and self._suspended is None:
            self.debugger.go_on()
        self._tell_stop()

    def loaded(self) -> bool:
        """The program is there with all its libraries, and has not begun: a place that it lacks now, it lacks. True:
        stay stopped, because of a monitor that can see nothing."""
        self._suspended = None
        for watch in self.watches:
            self._look_at(watch)
        return self._suspended is not None

    def dying(self, cause: str, *, keep: bool, detail: str = "") -> None:
        """The program stands where it dies: all that can be seen of it is kept. `keep`: in a checkpoint, too, if
        somebody is there who could go back to it."""
        where = self.debugger.where()
        stack = tuple(self.debugger.backtrace())
        self._stop = Stop(cause, where.location, stack)
        self._crashed(Crash.seen(cause, where, stack, self.watches, detail))
        if keep and not self.silent:
            with suppress(MopsusError):
                self.checkpoints.take()
        assert self.crash is not None
        self.tell(telling.crash_text(self.crash, self.watches, list(self.checkpoints), self.history))
        self.live.stands()

    def ended(self, status: int | None) -> None:
        """The program has ended."""
        if is_crash(status) and self.crash is None:  # nobody saw it die
            self._crashed(Crash.seen(cause_of(-status), Where(None, None, None, self._time), (), self.watches))
        self._status, self.over = status, True
        self.sight.look_for_missed()
        self.waiting.clear()
        self._later.clear()
        self._suspended = None

        def read(reading: Reading) -> object:
            if reading.kind is ReadingKind.RESULT:
                return status
            return Unavailable("the program has ended")

        self._arrive(END, read)
        self._work_off()
        if not self.over and self._suspended is None:
            self._settle()
        if not self.over and self._suspended is None:
            self.debugger.go_on()
        if self.over:
            self.checkpoints.drop_lost()
            self.live.ended(status)
        self._tell_stop()

    def came_back(self, waiting: Sequence[Waiting]) -> None:
        """The program is where it was at a checkpoint, and this still waits there."""
        self.returns += 1
        self.waiting[:] = waiting
        self._status, self.over, self.crash = None, False, None

    # ---- what scenarios and the developer want

    def fault(self, error: BaseException, fault: Fault) -> None:
        """An error in the code of a property, scenario or callback: tell it, once for each place in it."""
        super().fault(error, fault)
        if self.stops_at_faults:
            self.suspend(f"fault in {fault.spec}: {fault.code}")

    def suspend(self, reason: str) -> None:
        """Stop the program at the place that is being told of."""
        if self._suspended is None:
            self._suspended, self._told = reason, False

    @property
    def suspended(self) -> str | None:
        """Why a monitor or scenario keeps the program where it is; None if none does."""
        return self._suspended

    def unsuspend(self) -> None:
        """Take that back."""
        self._suspended = None

    def later(self, action: Callable[[], object]) -> None:
        """Do this when the debugger has told all: at once if it is not telling."""
        if self._telling:
            self._later.append(action)
        else:
            action()

    def step(self) -> None:
        """Make one step, and stay there."""
        self.debugger.step()
        self.suspend("a step of a scenario is made")

    def checkpoint(self) -> int:
        """Save the program and every monitor; the number of the checkpoint."""
        return self.checkpoints.take().number

    def restore(self, number: int) -> None:
        """Bring the program and every monitor back. The points of the developer and of scenarios stay as they are."""
        self.checkpoints.restore(number)

    def discard(self, number: int) -> None:
        """Forget a checkpoint."""
        self.checkpoints.discard(number)

    def command(self, line: str) -> None:
        """A command of the `verde` family, without that word; what it says goes to the developer."""
        run_command(self, line)

    def course(self) -> tuple[object, ...]:
        """What the session is about to do: for `Checkpoints.lasting`."""
        return tuple(self._later), self._suspended, self._told, self.faults

    def take_course(self, course: tuple[Any, ...], passing: bool) -> None:
        """Be about to do this; `passing`: and then to let the program go on."""
        later, self._suspended, self._told, self.faults = course
        self._later, self._passing = deque(later), passing

    def instrument(self) -> None:
        """Set the points that the monitors need now, and no others."""
        for watch in self.watches:
            if watch.refresh():
                self.points.want(watch, watch.places)

    def outcome(self, stop: Stop | None = None) -> Outcome:
        """What became of it. `stop`: why the program stands still, if it was not for a monitor or scenario."""
        return Outcome(
            verdicts=tuple(self.verdicts),
            stats={watch.spec.name: watch.stats() for watch in self.watches},
            status=self._status,
            stop=None if self.over and self.crash is None else self._stop or stop,
            error=self._error,
            faults=tuple(self.faults),
            warnings=tuple(self.warnings),
            unseen=tuple(self.sight.unseen()) if self.started else (),
            doubts=tuple(self.sight.doubts),
            started=self.sight.escaped.started,
        )

    def bequeath(self) -> list[object]:
        """What a session of a copy of the program needs, to know what this one knows."""
        return [watch.bequeath() for watch in self.watches]

    def inherit(self, monitors: Sequence[Any]) -> None:
        """Know what a session knew that has the same monitors; before the start."""
        for watch, known in zip(self.watches, monitors, strict=True):
            watch.inherit(known)

    def close(self) -> None:
        """No monitor watches any more, and no point is set."""
        for watch in list(self.watches):
            self.remove(watch)

    # ---- how it works

    def _begin(self, watches: Sequence[Watch]) -> bool:
        self._suspended = None
        with self._busy():
            for watch in watches:
                watch.attend()
                self._look_at(watch)
                if watch.scenario is not None:
                    watch.scenario.begin()
                if not watch.quiet:
                    self.tell(telling.initial_state(watch))
            self.instrument()
            for watch in watches:
                self._react(watch, [watch.initial_move()])
        self.feeding.update()
        self._work_off()
        self._tell_stop()
        return self._suspended is not None

    def _look_at(self, watch: Watch) -> None:
        if (why := self.sight.check(watch)) is not None:
            self._error = why
            self.suspend(why)

    def _arrive(self, place: Place, read: Read, scenarios_done: bool = False) -> None:
        with self._attending():
            if not scenarios_done:
                for watch in self.watches:
                    if watch.scenario is not None:
                        watch.scenario.reached(place)
                if self._suspended is not None:
                    self.waiting.insert(0, Waiting(place, read, self.debugger.get_pc(), True))
                    return
            self._happen(place, read)

    def _happen(self, place: Place, read: Read) -> None:
        """Deliver what monitors need here, set the points that they need then, let scenarios react."""
        happening = [(watch, arrival) for watch in self.watches for arrival in watch.at(place)]
        if not happening:
            return
        where = self._where(place)
        touched: dict[Watch, list[Move]] = {}
        for watch, arrival in happening:
            values = watch.values(arrival, read)
            if (lacking := arrival.lacking(values)) is not None:
                why = f"`{lacking[0]}` is {lacking[1]!r} ({lacking[1].why})"
                self.warn(f"{watch.spec.name}: an event {arrival.event} is left out: {why}")
                watch.left_out.setdefault(arrival.event, why)
                continue
            if not watch.quiet:
                self.tell(telling.event_line(arrival.event, values))
            if watch.recorder is not None:
                watch.recorder.write(arrival.event, values, where)
            watch.deliver(arrival, values, where)
            if watch.told == MANY:
                self.feeding.advise(watch, place)
            touched.setdefault(watch, []).extend(moves := watch.take_moves())
            watch.interface.applied(arrival.event, moves)
            self.live.happened(watch, arrival.event, values, where, moves)
        self.instrument()
        for watch, moves in touched.items():
            if moves and not watch.quiet:
                self.tell(telling.current_state(watch, moves))
            self._answer(watch, moves)
        if self._suspended is None or place == END:
            self._tell_said()
        self.live.glance()

    def _answer(self, watch: Watch, moves: Sequence[Move]) -> None:
        """A monitor has got its events."""
        self._react(watch, moves)
        if watch.step_by_step:
            self.suspend(f"a step of monitor #{watch.number}")

    def _react(self, watch: Watch, moves: Sequence[Move]) -> None:
        verdicts = watch.take_verdicts()
        self._said += [(watch, verdict) for verdict in verdicts]
        if watch.scenario is not None:
            for move in moves:
                watch.scenario.react(move)
            return
        for verdict in verdicts:
            if verdict.violation:
                self.suspend(str(verdict))

    def _settle(self) -> None:
        """Do what was put off and deliver what waits, until nothing is left or somebody stops the program."""
        self._work_off()
        while self.waiting and self._suspended is None:
            item = self.waiting.pop(0)
            if item.pc == self.debugger.get_pc():  # otherwise somebody has let the program go on elsewhere
                self._arrive(item.place, item.read, item.scenarios_done)
                self._work_off()

    def _work_off(self) -> None:
        while self._later:
            action = self._later.popleft()
            try:
                action()
            except MopsusError as error:
                self.warn(telling.error_text(error))

    @contextmanager
    def _busy(self) -> Iterator[None]:
        self._telling = True
        try:
            yield
        finally:
            self._telling = False

    @contextmanager
    def _attending(self) -> Iterator[None]:
        """Something happens in the program: what goes wrong meanwhile is told, and the session goes on."""
        self._telling = True
        try:
            yield
        except KeyboardInterrupt:
            self.suspend(INTERRUPTION)
        except MopsusError as error:
            self.warn(telling.error_text(error))
        finally:
            self._telling = False

    def _where(self, place: Place) -> Where:
        if place == END:
            return Where(None, None, None, self._time)
        where = self.debugger.where()
        self._time = where.time
        return where

    def _crashed(self, crash: Crash) -> None:
        self.crash = crash
        self.verdicts += crash.verdicts()

    def _tell_stop(self) -> None:
        if self._suspended is None or self._told or self.over:
            return
        self._told = True
        where = self.debugger.where()
        self._stop = Stop(self._suspended, where.location, tuple(self.debugger.backtrace()))
        said, self._said = self._said, []
        self.told_verdicts = tuple(said)
        checkpoints = list(self.checkpoints)
        self.tell(telling.stop_text(self._suspended, where, said, self.watches, checkpoints, self.history))
        self.live.stands()

    def _tell_said(self) -> None:
        for _, verdict in self._said:
            self.tell(str(verdict))
        self._said.clear()

    def _moved(self) -> None:
        """A monitor did something that somebody may react to. If nothing is being told, the debugger has sent the event
        by itself, and must stop for that."""
        if not self._telling and self._react_to_fed not in self._later:
            self._passing = True
            self._later.append(self._react_to_fed)
            self.debugger.stop_soon()

    def _react_to_fed(self) -> None:
        with self._attending():
            for watch in self.watches:
                if watch.stirred:
                    self._answer(watch, watch.take_moves())
            if self._suspended is None:
                self._tell_said()
            self.live.glance()
