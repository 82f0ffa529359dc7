"""One monitor of a session: where its events happen, which of them it needs now, and what its instances did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

from mopsus.interactive.arithmetic import of_environment
from mopsus.interactive.arrivals import Arrival, arrivals_of
from mopsus.interactive.cells import NoStepperError
from mopsus.interactive.debugger import Feed, Read, Where
from mopsus.interactive.remembered import LIMIT, Carried, Remembered
from mopsus.interactive.scenario.model import Moment
from mopsus.interactive.stepper import Clock, Follower, Kind, Records, Stepper, stepper_of
from mopsus.logics import compile_spec
from mopsus.model import (
    Acceptance,
    Address,
    Change,
    GuardedMachine,
    Machine,
    MopsusError,
    Place,
    Reading,
    Severity,
    Spec,
    TableMachine,
    TimedMachine,
    Verdict,
)
from mopsus.model.guarded import INITIAL
from mopsus.model.value import Scalar
from mopsus.monitor import Checkpoint, Monitor
from mopsus.monitor.listener import TakeFault
from mopsus.monitor.plan import make_plan

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
        on_move: Callable[[], object],
        on_fault: TakeFault,
        *,
        history: int,
        allow_code: bool = True,
        quiet: bool = False,
    ) -> None:
        """`on_move` is called whenever there is something new for `take_moves`."""
        self.number = number
        self.spec = spec
        self.quiet = quiet
        self.step_by_step = False
        self._observed = False
        self.told_first = 0
        """So many more events are told one by one, for somebody who looks at them."""
        self.active = True
        """A monitor that was stopped gets no events and needs no points."""
        self._all = frozenset(event.name for event in spec.events)
        self.lent = False
        """Has somebody the variables of its instances, to assign them as he likes?"""
        self.why_not_stepped: str | None = None
        """Why it can be stepped by nobody else, as soon as somebody has tried."""
        self.fed = False
        """Does the debugger send its events by itself?"""
        self.fed_in_vain: str | None = None
        """Why that was of no use, if it was so."""
        self.told = 0
        """How many events were delivered one by one."""
        self.functions: dict[str, Any] = {}
        """Where the names in its code are looked up that it does not define itself."""
        self.interface: MonitorInterface
        self.scenario: Engine | None = None
        self.recorder: Recorder | None = None
        self._moves: list[Move] = []
        self._verdicts: list[Verdict] = []
        self._history, self._allow_code = history, allow_code
        self._unmatched: Callable[..., object] | None = None
        self._on_verdict, self._on_move, self._on_fault = on_verdict, on_move, on_fault
        self._compiled = compile_spec(spec)
        self._acceptances = {
            declared.name: {state.name: state.acceptance for state in machine.states}
            for declared, machine in zip(spec.properties, self._compiled.machines, strict=True)
            if isinstance(machine, GuardedMachine)
        }
        self.arrivals = arrivals_of(spec)
        """By place, the events that happen there."""
        self._at: dict[Place, tuple[Arrival, ...]] = {}
        self._needed: frozenset[str] | None = None
        self.looked_for: frozenset[str] = frozenset()
        """The events that it has needed at some time. Nobody knows whether the others happened."""
        self.left_out: dict[str, str] = {}
        """The events that came without the value of a parameter at some time, and why that was."""
        self._elsewhere: bool | None = False
        self._remembered = Remembered()
        self._inherited: Mapping[str, int] = {}
        """How many events of each kind another monitor has seen for it."""
        self.monitor = self._make()

    # ---- its events

    def offers(self) -> Iterable[tuple[Place, Iterable[Reading]]]:
        """All places where an event of its can happen, with what is read there."""
        for place, arrivals in self.arrivals.items():
            yield place, [reading for arrival in arrivals for reading in arrival.asked()]

    @property
    def why_not_fed(self) -> str | None:
        """Why somebody must look at each of its events; None if there is nothing to do at them until somebody reacts to
        what it does."""
        if not self.quiet:
            return "it says what happens at each of its events, as it is not `quiet`"
        if not self.active:
            return "it is stopped"
        if self.recorder is not None:
            return "its events are recorded"
        if self.step_by_step:
            return "it goes step by step"
        if self._unmatched is not None:
            return "a function is called for events that no state takes into account"
        if self.interface.has_callbacks:
            return "functions are called at its events"
        if self._begins_elsewhere:
            return "its slice without parameters was put into another state, in which new slices begin"
        if self.told_first:
            return f"the live view shows its first events, {self.told_first:,} more"
        return self._never_fed or self.fed_in_vain

    @property
    def _begins_elsewhere(self) -> bool:
        """Do instances with parameters begin in a state that is not the initial one? Whoever steps them elsewhere only
        knows that."""
        if self._elsewhere is None:
            sliced = self.spec.parameters and self._acceptances
            roots = [each.state for each in self.monitor.slices() if not each.binding] if sliced else []
            self._elsewhere = roots not in ([], [INITIAL])
        return self._elsewhere

    @cached_property
    def _never_fed(self) -> str | None:
        if self.spec.modifiers.perthread:
            return "it asks which thread an event happens in"
        if any(isinstance(machine, TimedMachine) for machine in self._compiled.machines):
            return "it asks when an event happens"
        return None

    def be_fed(self, fed: bool) -> None:
        """Get events from the debugger itself, and so need all of them: nobody looks at it after each."""
        self.fed, self._needed = fed, None
        if not fed:
            vars(self).pop("stepped", None)  # what is heeded may be something else next time
        self.attend()

    def attend(self) -> None:
        """Hear of the transitions that somebody wants to know of: each costs time."""
        everything = not self.quiet or self.interface.has_callbacks or (self._observed and not self.fed)
        wanted = self._acceptances and (everything or self.scenario is not None)
        self.monitor.heeded = None if everything else self._heeded()
        self.monitor.on_change = self._changed if wanted else None

    def _heeded(self) -> dict[str, tuple[list[str], list[str]]]:
        """By property, the states that the scenario reacts to when they are left, and when they are entered."""

        def of(states: Mapping[str, Acceptance], moment: Moment) -> list[str]:
            if self.scenario is None:
                return []
            return [name for name, each in states.items() if self.scenario.scenario.heeds(moment, name, each)]

        return {
            name: (of(states, Moment.LEAVING), of(states, Moment.ENTERING))
            for name, states in self._acceptances.items()
        }

    def be_observed(self) -> None:
        """Somebody looks at its transitions, where they are told one by one."""
        self._observed = True
        self.attend()

    def feeds(self, place: Place) -> list[Feed]:
        """The events at a place as calls."""
        return [
            Feed(
                self.monitor.event(each.event),
                each.readings,
                self._remembering(each),
                each.number,
                self.stepped,
                self.monitor.needed_in(each.event),
            )
            for each in self._at.get(place, ())
        ]

    @property
    def needs_by_state(self) -> bool:
        """Is it told quickly, by the states that its instances are in, which events it needs?"""
        return all(isinstance(machine, GuardedMachine) for machine in self._compiled.machines)

    def _remembering(self, arrival: Arrival) -> Callable[..., int] | None:
        if len(arrival.names) == arrival.slicing:
            return None
        return self._remembered.carrier(arrival.names, arrival.slicing)

    @cached_property
    def stepped(self) -> Steps | None:
        """How it is stepped elsewhere, too; None if it cannot be."""
        plan = make_plan(self._compiled)
        try:
            stepper = stepper_of(self._compiled, [creates for _, _, creates, *_ in plan.events], self._heeded())
            if stepper.variables:
                stepper.check(self.environment())
        except NoStepperError as error:
            self.why_not_stepped = str(error)
            return None
        self.why_not_stepped = None
        return Steps(self, stepper)

    def refresh(self) -> bool:
        """Has the set of events that it needs changed since the last call?"""
        needed = self.monitor.needed() if self.active else frozenset()
        if self.fed:
            needed = self._all
        if needed is self._needed:  # it is the same object while nothing has changed
            return False
        self._needed = needed
        self.looked_for |= needed
        at = {
            place: tuple(arrival for arrival in arrivals if arrival.event in needed)
            for place, arrivals in self.arrivals.items()
        }
        self._at = {place: arrivals for place, arrivals in at.items() if arrivals}
        return True

    @property
    def places(self) -> Collection[Place]:
        """Where the events happen that it needs."""
        return self._at.keys()

    def at(self, place: Place) -> tuple[Arrival, ...]:
        """The events that it needs there, in the order of declaration."""
        arrivals = self._at.get(place, ())
        if self.fed and len(arrivals) > 1:  # what one makes needed, needs the next arrival
            needed = self.monitor.needed()
            return tuple(arrival for arrival in arrivals if arrival.event in needed)
        return arrivals

    @property
    def crowded(self) -> Collection[Place]:
        """Where it has several events: they cannot be sent one after the other without a look at it."""
        return {place for place, arrivals in self._at.items() if len(arrivals) > 1}

    def values(self, arrival: Arrival, read: Read) -> dict[str, object]:
        """The values of an event, by name."""
        return arrival.values(read, self.environment() if arrival.computes else {}, self.functions)

    def deliver(self, arrival: Arrival, values: Mapping[str, object], where: Where) -> None:
        """The event happens now."""
        self.told += 1
        core, _ = self.monitor.inside()
        row = self._remembered.add(arrival.names, tuple(values.values()), arrival.slicing)
        given = tuple(int(value) if isinstance(value, Address) else value for value in values.values())
        core.row(arrival.number, given, where.time, where.thread, where.location or "", False, row)
        if self.fed and self.stepped is not None:
            self.stepped.tell(given, arrival.number)

    def happened(
        self, records: Records, kinds: Sequence[Kind | None], line: Callable[[int], str | None], clock: Clock
    ) -> None:
        """Events happened that the debugger tells of only now."""
        core, _ = self.monitor.inside()
        told = [None if kind is None else (kind.event, kind.words, kind.location) for kind in kinds]
        tables = self.stepped.tables if self.stepped is not None and self._acceptances else None
        count = core.take_noted(records.data, records.width, told, line, clock, self._remembered.next, tables)
        if not count:
            return
        mine = {number: kind for number, kind in enumerate(kinds) if kind is not None}
        addresses = {number: self._addresses(kind) for number, kind in mine.items()}
        if len(set(addresses.values())) == 1 and not any(self.spec.events[kind.event].fields for kind in mine.values()):
            same = next(iter(addresses.values()))
            self._remembered.add_many(count, repeat(Carried(same, {}), min(count, LIMIT)), same)
            return
        numbers = records.numbers()
        last = [at for at, number in enumerate(numbers) if number in mine][-LIMIT:]
        carried = [Carried(addresses[numbers[at]], self._noted_fields(mine[numbers[at]], records, at)) for at in last]
        self._remembered.add_many(
            count, carried, frozenset().union(*(addresses.get(each, ()) for each in set(numbers)))
        )

    def _addresses(self, kind: Kind) -> frozenset[str]:
        """The parameters that are addresses in events of a kind."""
        values = zip(self.spec.events[kind.event].parameters, kind.values, strict=False)
        return frozenset(name for name, made in values if made is Address)

    def _noted_fields(self, kind: Kind, records: Records, at: int) -> dict[str, Scalar]:
        """Those of an event, by the place of its record."""
        event = self.spec.events[kind.event]
        if not event.fields:
            return {}
        values = [made(word) for made, word in zip(kind.values, records.words(at), strict=False)]
        return dict(zip(event.fields, values[len(event.parameters) :], strict=True))

    def shown(self, binding: Mapping[str, object]) -> dict[str, Any]:
        """The values of parameters as people know them: addresses as such."""
        return self._remembered.shown(binding)

    # ---- what its instances did

    @property
    def stirred(self) -> bool:
        """Is there anything to be taken?"""
        return bool(self._moves or self._verdicts)

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

    def standings(self) -> Iterable[tuple[Mapping[str, object], tuple[int, ...], Mapping[str, object]]]:
        """Of each instance, its binding, by property the number of its state, and its variables."""
        if not self._acceptances:
            return [
                (binding, tuple(int(state) for state in states if state is not None), {})
                for binding, states in self.monitor.instances()
            ]
        numbers = {name: number for number, name in enumerate(self.states())}
        return [(each.binding, (numbers[each.state],), each.environment) for each in self.monitor.slices()]

    def open_slices(self, most: int) -> list[Verdict]:
        """Of each slice to which something has happened and that can still come to a verdict, how far it came, as a
        verdict that says nothing yet. Only so many are looked at, those that changed last."""
        found = []
        for binding, states, events in self.monitor.recall(most):
            for declared, machine, state in zip(self.spec.properties, self._compiled.machines, states, strict=True):
                name = _undecided(machine, state)
                if name is None or not (events or binding or not self._history):
                    continue
                location, time = (events[-1].location, events[-1].time) if events else (None, None)
                category = f"open in {name}" if name else "open"
                verdict = Verdict(
                    self.spec.name, declared.name, category, None, False, binding, location, time, events, Severity.NOTE
                )
                found.append(self._remembered.complete(verdict))
        return found

    def machine(self, property: str) -> Machine:
        """What a property was made into."""
        names = [declared.name for declared in self.spec.properties]
        return self._compiled.machines[names.index(property)]

    def violated_by(self, property: str, category: str) -> bool:
        """Does this category of a property count as a violation?"""
        return self._compiled.severities[property, category] is Severity.ERROR

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
        self.fed_in_vain = None
        self.looked_for = frozenset()
        self.left_out = {}
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

    def bequeath(self) -> Any:  # noqa: ANN401 - plain data
        """All that it knows as plain data; None if its variables are none."""
        try:
            return {"monitor": self.monitor.snapshot(), "remembered": self._remembered.bequeath()}
        except (MopsusError, TypeError, ValueError):
            return None

    def stats(self) -> dict[str, Any]:
        """What it has done, without what it has inherited, by the names that `Stats` has."""
        found = self.monitor.stats()
        seen = {name: count - self._inherited.get(name, 0) for name, count in found.seen.items()}
        occurred = {name: seen[name] if count else 0 for name, count in found.occurred.items()}
        return {**asdict(found), "events": sum(seen.values()), "seen": seen, "occurred": occurred}

    def inherit(self, known: Any) -> None:  # noqa: ANN401 - plain data
        """Know that, before anything has happened."""
        if known is not None:
            self.monitor.restore(known["monitor"])
            self._remembered.inherit(*known["remembered"])
            self._inherited = self.monitor.stats().seen
            self._needed = None

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

    def moved(self) -> None:
        """Its instances are in other states now, by no event."""
        self._elsewhere = None
        if self.stepped is not None:
            self.stepped.renew()

    def _forget(self) -> None:
        self._moves.clear()
        self._verdicts.clear()
        self._needed = None
        self.moved()

    def _make(self) -> Monitor:
        monitor = Monitor(self._compiled, self._verdict, history=self._history, allow_code=self._allow_code)
        monitor.use_functions(self.functions)
        monitor.on_unmatched, monitor.on_fault = self._unmatched, self._on_fault
        return monitor

    def _changed(self, change: Change) -> None:
        states = self._acceptances[change.property]
        assert change.old is not None
        binding = self.shown(change.binding)
        move = Move(change.old, change.new, states[change.old], states[change.new], binding, change)
        self._moves.append(move)
        self._on_move()

    def _verdict(self, verdict: Verdict) -> None:
        verdict = self._remembered.complete(verdict)
        if verdict.property not in self._acceptances:  # of other machines, what they say is all that can be reacted to
            entered = Acceptance.NON_ACCEPTING if verdict.violation else Acceptance.ACCEPTING
            self._moves.append(Move(None, verdict.category, Acceptance.NEUTRAL, entered, verdict.binding))
        self._verdicts.append(verdict)
        self._on_verdict(verdict)
        self._on_move()


def _undecided(machine: Machine, state: int | bool | None) -> str | None:
    """The name of a state in which an instance can still come to something else, "" if it has none; None if it cannot,
    or has done so."""
    if isinstance(machine, GuardedMachine):
        if state is None:
            return None  # it is an instance of another property
        found = machine.states[state]
        return found.name if found.events() and found.acceptance is not Acceptance.NON_ACCEPTING else None
    if isinstance(machine, TableMachine) and state is not None:
        return machine.names[state] if machine.alive[state] else None
    return ""


class Steps:
    """A monitor that is stepped elsewhere, too; see `Stepped`."""

    def __init__(self, watch: Watch, stepper: Stepper) -> None:
        self._watch = watch
        self.stepper = stepper
        self.follow: Follower | None = None

    @cached_property
    def tables(self) -> tuple[bytes, bytes, tuple[str, ...]]:
        """What a guarded machine is for whoever steps it, and so for the core, which makes its steps again."""
        return self.stepper.tables()

    @property
    def lent(self) -> bool:
        return self._watch.lent

    def rows(self) -> list[tuple[object, int, list[int | None]]]:
        return [
            (next(iter(binding.values()), None), self.stepper.rows[states], self._variables(environment))
            if bool(binding) is self.stepper.keyed
            else (None, 0, self._variables(environment))
            for binding, states, environment in self._watch.standings()
        ]

    def tell(self, values: tuple[object, ...], event: int) -> None:
        """The monitor got an event that whoever steps it did not see."""
        if self.follow is not None:
            self.follow.step(values[0] if self.stepper.keyed else None, event, values)

    def renew(self) -> None:
        """The monitor is in another state, by no event."""
        if self.follow is not None:
            self.follow.renew()

    def happened(
        self, records: Records, kinds: Sequence[Kind | None], line: Callable[[int], str | None], clock: Clock
    ) -> None:
        self._watch.happened(records, kinds, line, clock)

    def passed(self, event: int, count: int) -> None:
        self._watch.monitor.inside()[0].pass_over(event, count)

    def _variables(self, environment: Mapping[str, object]) -> list[int | None]:
        return of_environment(self.stepper.variables, environment)
