"""One monitor of a session: where its events happen, which of them it needs now, and what its instances did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mopsus.interactive.arrivals import Arrival, arrivals_of
from mopsus.interactive.debugger import Feed, Read, Where
from mopsus.interactive.remembered import Remembered
from mopsus.logics import compile_spec
from mopsus.model import (
    Acceptance,
    Address,
    Change,
    GuardedMachine,
    Machine,
    Place,
    Reading,
    Spec,
    TimedMachine,
    Verdict,
)
from mopsus.model.guarded import INITIAL
from mopsus.monitor import Checkpoint, Monitor

if TYPE_CHECKING:
    from mopsus.interactive.interface import MonitorInterface
    from mopsus.interactive.scenario.engine import Engine
    from mopsus.interactive.trace import Recorder


@dataclass(frozen=True, slots=True)
class Move:
    """An instance took a transition, or reached a verdict: what scenarios react to."""

    old: str | None
    """None at the start, and for properties whose states have no names."""
    new: str
    left: Acceptance
    entered: Acceptance
    binding: Mapping[str, object]
    change: Change | None = None
    """The transition that was taken, if it was one."""


class Watch:
    """A monitor, and what a session must know to feed it."""

    def __init__(
        self,
        number: int,
        spec: Spec,
        on_verdict: Callable[[Verdict], object],
        on_fault: Callable[[BaseException], object],
        *,
        history: int,
        allow_code: bool = True,
        quiet: bool = False,
    ) -> None:
        self.number = number
        self.spec = spec
        self.quiet = quiet
        self.step_by_step = False
        self.active = True
        """A monitor that was stopped gets no events and needs no points."""
        self._all = frozenset(event.name for event in spec.events)
        self.fed = False
        """Does the debugger send its events by itself?"""
        self.functions: dict[str, Any] = {}
        """Where the names in its code are looked up that it does not define itself."""
        self.interface: MonitorInterface
        self.scenario: Engine | None = None
        self.recorder: Recorder | None = None
        self._moves: list[Move] = []
        self._verdicts: list[Verdict] = []
        self._history, self._allow_code = history, allow_code
        self._unmatched: Callable[..., object] | None = None
        self._on_verdict, self._on_fault = on_verdict, on_fault
        self._compiled = compile_spec(spec)
        self._acceptances = {
            declared.name: {state.name: state.acceptance for state in machine.states}
            for declared, machine in zip(spec.properties, self._compiled.machines, strict=True)
            if isinstance(machine, GuardedMachine)
        }
        self._arrivals = arrivals_of(spec)
        self._at: dict[Place, tuple[Arrival, ...]] = {}
        self._needed: frozenset[str] | None = None
        self._remembered = Remembered()
        self.monitor = self._make()

    # ---- its events

    def offers(self) -> Iterable[tuple[Place, Iterable[Reading]]]:
        """All places where an event of its can happen, with what is read there."""
        for place, arrivals in self._arrivals.items():
            yield place, [reading for arrival in arrivals for reading in arrival.asked()]

    @property
    def plain(self) -> bool:
        """Is there nothing to do at its events, until it speaks?"""
        return (
            self.quiet
            and self.active
            and self.scenario is None
            and self.recorder is None
            and not self.step_by_step
            and self._unmatched is None
            and not self.interface.has_callbacks
            and not self.spec.modifiers.perthread
            and not any(isinstance(machine, TimedMachine) for machine in self._compiled.machines)
        )

    def be_fed(self, fed: bool) -> None:
        """Get events from the debugger itself, and so need all of them: nobody looks at it after each."""
        self.fed, self._needed = fed, None
        self.attend()

    def attend(self) -> None:
        """Hear of transitions if somebody wants to know of them: it costs time at each event."""
        wanted = not self.quiet or self.scenario is not None or self.interface.has_callbacks
        self.monitor.on_change = self._changed if self._acceptances and wanted and not self.fed else None

    def feeds(self, place: Place) -> list[Feed]:
        """The events at a place as calls."""
        return [(self.monitor.event(each.event), each.readings) for each in self.at(place)]

    def refresh(self) -> bool:
        """Has the set of events that it needs changed since the last call?"""
        needed = self.monitor.needed() if self.active else frozenset()
        if self.fed:
            needed = self._all
        if needed is self._needed:  # it is the same object while nothing has changed
            return False
        self._needed = needed
        at = {
            place: tuple(arrival for arrival in arrivals if arrival.event in needed)
            for place, arrivals in self._arrivals.items()
        }
        self._at = {place: arrivals for place, arrivals in at.items() if arrivals}
        return True

    @property
    def places(self) -> Collection[Place]:
        """Where the events happen that it needs."""
        return self._at.keys()

    def at(self, place: Place) -> tuple[Arrival, ...]:
        """The events that it needs there, in the order of declaration."""
        return self._at.get(place, ())

    def values(self, arrival: Arrival, read: Read) -> dict[str, object]:
        """The values of an event, by name."""
        return arrival.values(read, self.environment() if arrival.computes else {}, self.functions)

    def deliver(self, arrival: Arrival, values: Mapping[str, object], where: Where) -> None:
        """The event happens now."""
        core, _ = self.monitor.inside()
        row = self._remembered.add(arrival.names, tuple(values.values()), arrival.slicing)
        given = tuple(int(value) if isinstance(value, Address) else value for value in values.values())
        time = None if self.fed else where.time  # the debugger tells none, and some events with one help nobody
        core.row(arrival.number, given, time, where.thread, where.location or "", False, row)

    def shown(self, binding: Mapping[str, object]) -> dict[str, Any]:
        """The values of parameters as people know them: addresses as such."""
        return self._remembered.shown(binding)

    # ---- what its instances did

    def take_moves(self) -> list[Move]:
        """What its instances did since the last call."""
        moves, self._moves = self._moves, []
        return moves

    def take_verdicts(self) -> list[Verdict]:
        """What it said since the last call."""
        verdicts, self._verdicts = self._verdicts, []
        return verdicts

    def initial_move(self) -> Move:
        """The start counts as entering the initial state."""
        entered = next((states[INITIAL] for states in self._acceptances.values()), Acceptance.NEUTRAL)
        return Move(None, INITIAL, Acceptance.NEUTRAL, entered, {})

    def states(self) -> dict[str, Acceptance]:
        """The states of its guarded machines; none if it has none."""
        return {name: each for states in self._acceptances.values() for name, each in states.items()}

    def reachable(self) -> frozenset[str]:
        """The names of states that a scenario can react to: of a machine without, the categories of its verdicts."""
        return frozenset(
            [*self.states(), INITIAL, *(each for machine in self._compiled.machines for each in machine.goal)]
        )

    def machine(self, property: str) -> Machine:
        """What a property was made into."""
        names = [declared.name for declared in self.spec.properties]
        return self._compiled.machines[names.index(property)]

    def environment(self) -> Mapping[str, object]:
        """The variables of the instance without parameters."""
        for slice_ in self.monitor.slices():
            if not slice_.binding:
                return slice_.environment
        return {}

    # ---- its course

    def restart(self) -> None:
        """Forget everything: the program starts anew."""
        self.monitor.close()
        self._forget()
        self.monitor = self._make()

    def checkpoint(self) -> tuple[Checkpoint, int]:
        """All that it knows, and where its record is."""
        return self.monitor.checkpoint(), self.recorder.mark() if self.recorder is not None else 0

    def rewind(self, saved: Checkpoint, mark: int) -> None:
        """Know what it knew then."""
        self.monitor.rewind(saved)
        self._forget()
        if self.recorder is not None:
            self.recorder.rewind(mark)

    def close(self) -> None:
        """Watch no more."""
        self.monitor.close()
        if self.recorder is not None:
            self.recorder.close()

    def use_functions(self, namespace: dict[str, Any]) -> None:
        """Look names up here that the property does not define."""
        self.functions = namespace
        self.monitor.use_functions(namespace)

    def on_unmatched(self, function: Callable[..., object] | None) -> None:
        """Call this with each event that no instance takes into account."""
        self._unmatched = self.monitor.on_unmatched = function

    def _forget(self) -> None:
        self._moves.clear()
        self._verdicts.clear()
        self._needed = None

    def _make(self) -> Monitor:
        monitor = Monitor(self._compiled, self._verdict, history=self._history, allow_code=self._allow_code)
        monitor.use_functions(self.functions)
        if (
            self._acceptances and not self.fed
        ):  # a machine of another kind changes when it says something: see `_verdict`
            monitor.on_change = self._changed
        monitor.on_unmatched, monitor.on_fault = self._unmatched, self._on_fault
        return monitor

    def _changed(self, change: Change) -> None:
        states = self._acceptances[change.property]
        assert change.old is not None
        binding = self.shown(change.binding)
        move = Move(change.old, change.new, states[change.old], states[change.new], binding, change)
        self._moves.append(move)

    def _verdict(self, verdict: Verdict) -> None:
        verdict = self._remembered.complete(verdict)
        if verdict.property not in self._acceptances:
            entered = Acceptance.NON_ACCEPTING if verdict.violation else Acceptance.ACCEPTING
            self._moves.append(Move(None, verdict.category, Acceptance.NEUTRAL, entered, verdict.binding))
        self._verdicts.append(verdict)
        self._on_verdict(verdict)
