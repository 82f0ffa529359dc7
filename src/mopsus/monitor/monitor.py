"""Stage 3: the monitor of a spec: events in, verdicts out."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar

from mopsus import _core
from mopsus.logics import CompiledSpec, compile_spec
from mopsus.logics.reset import may_reset
from mopsus.model import (
    Change,
    Code,
    Fault,
    GuardedMachine,
    Machine,
    Property,
    Scalar,
    Spec,
    SymbolicMachine,
    Value,
    Verdict,
    WitnessEvent,
)
from mopsus.monitor import guarded
from mopsus.monitor.caught import is_caught
from mopsus.monitor.checkpoint import Checkpoint, Variables
from mopsus.monitor.code import Compiler, Function
from mopsus.monitor.consent import reads_data, refuse_code
from mopsus.monitor.errors import LiveLimitError, MonitorError, ValuesError
from mopsus.monitor.faults import FaultBook
from mopsus.monitor.instance import Instance
from mopsus.monitor.plan import make_plan
from mopsus.monitor.reading import bad_row, last_use, read_place, shown
from mopsus.monitor.slices import Needs, Reader, Slice, Standing, read_binding
from mopsus.monitor.symbolic import read_steps
from mopsus.spec.program import is_end

OnVerdict: TypeAlias = "Callable[[Verdict], object]"
OnChange: TypeAlias = "Callable[[Change], object]"
TakeFault: TypeAlias = "Callable[[BaseException, Fault], object]"
OnUnmatched: TypeAlias = "Callable[[str, Mapping[str, object]], object]"
Heeded: TypeAlias = "Mapping[str, tuple[Collection[str], Collection[str]]]"
"""By property: states that are left, states that are entered."""

_T = TypeVar("_T")
_SNAPSHOT_VERSION = 3
_LONGEST_HISTORY = 65536
_ONE_SPEC = "take one from `mopsus.load(file)` by its name"
_log = logging.getLogger("mopsus")
_ERRORS = (Exception, GeneratorExit)
"""What code of a spec may raise without its being a wish: to end a generator of the program's is none."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What a monitor has done so far."""

    events: int = 0
    """Events taken."""
    ignored: int = 0
    """Rows of traces whose event the spec does not declare."""
    created: int = 0
    alive: int = 0
    collected: int = 0
    """Instances created; those that can still report; those that cannot, and were dropped."""
    most: int = 0
    """Instances that there were at a time, at the most; under `perthread`, in one thread."""
    fallen: int = 0
    """Of the collected: those that an event without a report took to where nothing can be reported any more."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """By category."""
    bad_rows: int = 0
    faults: int = 0
    """Errors in handlers, actions, conditions and callbacks; `Monitor.faults` says which."""
    seen: Mapping[str, int] = field(default_factory=dict)
    """By event."""
    bytes: int = 0
    """Memory of the core's own for values, instances and indexes."""
    obligations: int = 0
    """Of formulas with data: the largest number of obligations that an instance had at a time."""


class Monitor:
    """Watches events against one spec.

    Verdicts go to `on_verdict`, or collect in `verdicts`. `history` is how many events a witness
    has at the most; 0 turns it off, and explanations of formulas with data, and costs nothing. If more than `max_live`
    instances can still report at a time, the monitor is given up: it drops them all, ignores further events, and
    reports that as a fault (0: no limit; specs of components have none). Events may come
    from any thread. An event sent from within the handling of another (an action, a condition) is taken after
    it. An error in a handler or callback is logged once with its traceback, counted, and never reaches the program.
    """

    def __init__(
        self,
        spec: Spec | CompiledSpec,
        on_verdict: OnVerdict | None = None,
        *,
        history: int = 32,
        max_live: int = 0,
        allow_code: bool = True,
    ) -> None:
        if not isinstance(spec, Spec | CompiledSpec):
            raise MonitorError(f"this is no specification: {spec!r}", hint=_ONE_SPEC, code="MONITOR-008")
        if not isinstance(history, int) or not 0 <= history <= _LONGEST_HISTORY:
            raise MonitorError(f"history is a number from 0 to {_LONGEST_HISTORY}, not {history!r}", code="MONITOR-008")
        if not isinstance(max_live, int) or max_live < 0:
            raise MonitorError(f"max_live is a number from 0 on, not {max_live!r}", code="MONITOR-008")
        if on_verdict is not None and not callable(on_verdict):
            raise MonitorError(f"on_verdict must be callable, not {on_verdict!r}", code="MONITOR-008")
        compiled = spec if isinstance(spec, CompiledSpec) else compile_spec(spec)
        self.spec = compiled.spec
        if not allow_code:
            refuse_code(compiled)
        self.verdicts: list[Verdict] = []
        self._on_verdict = on_verdict if on_verdict is not None else self.verdicts.append
        self._plan = make_plan(compiled)
        self._machines = compiled.machines
        self._reads_data = any(map(reads_data, compiled.machines))
        self._severities = compiled.severities
        self._numbers = {event.name: k for k, event in enumerate(self.spec.events)}
        self._libraries: list[tuple[str, tuple[str, ...]]] = []
        self._ends = frozenset(event.name for event in self.spec.events if is_end(event.pointcut))
        self._restored: Counter[str] = Counter()
        self._faults = FaultBook(self.spec.name)
        self._needs = Needs(compiled)
        self._copies: Variables | None = None  # while a checkpoint is taken or put back
        self._initialized: dict[str, Any] | None = None  # for environments that are restored
        self._on_change: OnChange | None = None
        self._heeded: Heeded | None = None
        self._on_unmatched: OnUnmatched | None = None
        self.on_fault: TakeFault | None = None
        """Called with every error in code of the spec and what there is to say about it; else each is logged once."""
        self._compile_code()
        self._core = self._make_core(history, max_live)

    # ---- events ----

    def emit(self, event: str, /, **values: object) -> None:
        """An event by name, with the values of its parameters and fields by name."""
        number = self._number(event)
        declared = self.spec.events[number]
        names = declared.parameters + declared.fields
        if values.keys() != set(names):
            wanted = ", ".join(names) or "nothing"
            raise ValuesError(f"event `{event}` binds {wanted}, not {', '.join(values) or 'nothing'}")
        self._core.emit(number, tuple(values[name] for name in names))

    def event(self, name: str) -> Callable[..., None]:
        """A native callable that sends this event; it takes the values of parameters and fields in declared order."""
        return self._core.emitter(self._number(name))

    def look_beyond(self, folder: str, but: Iterable[str] = ()) -> None:
        """From now on, what happens in files below a folder, too, is located where other code called it, and what such
        a file has tried, and itself catches the exception of, is not reported.

        `but` are folders below it with code that is other code, too.
        """
        self._libraries.append((folder, tuple(but)))
        self._core.look_beyond(folder, list(but))

    def number_by(self, part: _core.Part) -> None:
        """Events that come from a running program carry the number of the part of the run that they belong to, as
        their row; none if they belong to no part."""
        self._core.number_by(part)

    def inside(self, *events: str) -> tuple[_core.Monitor, tuple[int, ...]]:
        """The monitor in the core, and the numbers of some of its events, for sources of events that live there."""
        return self._core, tuple(map(self._number, events))

    def run(
        self,
        data: object,
        *,
        source: str = "",
        first_row: int = 1,
        bad_rows: Literal["stop", "skip"] = "stop",
    ) -> None:
        """Every row of Arrow data (a table, a list of batches, a stream) as an event, in order.

        The column `event` names the event, a column named like a parameter has its values; the columns
        `time`, `thread`, `location` and `#row` are used if they are there. A row that lacks a value of
        its event raises `TraceError` when all rows before it are done, or is counted with `skip`. The
        data must be valid Arrow data.
        """
        if bad_rows not in ("stop", "skip"):
            raise MonitorError(f"bad_rows is 'stop' or 'skip', not {bad_rows!r}", code="MONITOR-008")
        if isinstance(data, list | tuple):
            for batch in data:
                self.run(batch, source=source, first_row=first_row, bad_rows=bad_rows)
                first_row += len(batch)
            return
        if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
            hint = "give a table, a record batch, a list of them, or a reader, of any library that speaks Arrow"
            raise MonitorError(f"a {type(data).__name__} is no Arrow data", hint=hint, code="MONITOR-004")
        try:
            bad = self._core.run(data, source, first_row, bad_rows == "skip")
        except ValueError as error:
            raise MonitorError(str(error), code="MONITOR-004") from error
        if bad is not None:
            raise bad_row(source, *bad)

    def row(
        self,
        event: str,
        values: Mapping[str, object],
        *,
        time: int | float | None = None,
        thread: Scalar = None,
        location: str | None = None,
        source: str = "",
        row: int | None = None,
    ) -> None:
        """One row of a trace; the same as `run` on a table of one row.

        The event `#release` says that the given values will not occur again.
        """
        if event == "#release":
            places = {name: place for place, name in enumerate(self._plan.parameters)}
            self._core.release({places[k]: v for k, v in values.items() if k in places and v is not None}, thread)
            return
        number = self._numbers.get(event)
        if number is None:
            self._core.ignore()
            return
        declared = self.spec.events[number]
        for name in declared.parameters:
            if values.get(name) is None:
                raise bad_row(source, "null" if name in values else "missing", row or 0, name, event, "")
        for name in declared.fields if self._reads_data else ():
            if name not in values:
                raise bad_row(source, "missing", row or 0, name, event, "")
        given = tuple(values.get(name) for name in declared.parameters + declared.fields)
        place = location if location is not None else source
        self._core.row(number, given, time, thread, place, location is None, row or 0)

    # ---- state ----

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The machine of each property, in the order of the spec."""
        return self._machines

    def stats(self) -> Stats:
        """Counts so far."""
        core = self._core.stats()
        seen = dict(zip(self._numbers, core["seen"], strict=True))
        return Stats(
            events=sum(seen.values()),
            ignored=core["ignored"],
            created=core["created"],
            alive=core["alive"],
            most=core["most"],
            fallen=core["fallen"],
            collected=core["collected"],
            verdicts=dict(self._verdict_counts(core)),
            bad_rows=core["bad_rows"],
            faults=self._faults.total,
            seen=seen,
            bytes=core["bytes"],
            obligations=core["obligations"],
        )

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The errors in code of the spec, with the first traceback of each and how often it happened."""
        return tuple(self._faults.all)

    def instances(self) -> list[tuple[dict[str, Value], tuple[int | bool | None, ...]]]:
        """Every instance that can still report: its binding, and by property where it stands.

        That is the number of its state if the machine is a table, else whether the formula holds now, or None if
        the machine cannot say.
        """
        return [
            (self._binding(values, kinds, serials), states)
            for values, kinds, serials, states, _ in self._core.instances()
        ]

    def recall(
        self, most: int
    ) -> list[tuple[dict[str, Value], tuple[int | bool | None, ...], tuple[WitnessEvent, ...]]]:
        """The same of so many, those that were changed last, with the events that changed them, as far as the history
        goes."""
        found = []
        for values, kinds, serials, states, past in self._core.instances(most):
            binding = self._binding(values, kinds, serials)
            found.append((binding, states, tuple(self._witness(number, at, binding) for number, at in past)))
        return found

    def snapshot(self) -> dict[str, Any]:
        """The whole state as plain data (numbers, texts, lists), for a trace to be continued later.

        Only for values that are plain data themselves: a live object cannot be saved.
        """
        try:
            items = self._core.snapshot()
        except ValueError as error:
            raise MonitorError(str(error), hint="snapshots are for traces", code="MONITOR-006") from error
        return {
            "version": _SNAPSHOT_VERSION,
            "spec": self.spec.name,
            "plan": self._fingerprint(),
            "verdicts": dict(self._verdict_counts(self._core.stats())),
            "items": items,
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over a state from `snapshot`. The monitor must be new."""
        wrong = "the snapshot is of another version or specification"
        if not isinstance(data, Mapping):
            raise MonitorError("this is no snapshot", hint="give what `snapshot` returned", code="MONITOR-005")
        if data.get("version") != _SNAPSHOT_VERSION or data.get("plan") != self._fingerprint():
            raise MonitorError(wrong, hint="use the very spec and history it was made with", code="MONITOR-005")
        before = self._core.stats()
        if before["created"] or before["bad_rows"] or any(before["seen"]):
            raise MonitorError("the monitor has already seen events", hint="restore into a new one", code="MONITOR-005")
        try:
            verdicts = {str(category): _count(number) for category, number in data["verdicts"].items()}
            self._core.restore(data["items"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise MonitorError(f"the snapshot is damaged: {error}", code="MONITOR-005") from error
        self._restored = Counter(verdicts)

    # ---- slices ----

    @property
    def on_change(self) -> OnChange | None:
        """Called with every transition that a slice of a guarded machine takes, before the verdicts of the event."""
        return self._on_change

    @on_change.setter
    def on_change(self, listener: OnChange | None) -> None:
        self._on_change = listener
        self._listen()

    @property
    def heeded(self) -> Heeded | None:
        """Of which transitions `on_change` is told: those that leave or enter one of these states; None: of all. What
        it is not told of costs next to nothing."""
        return self._heeded

    @heeded.setter
    def heeded(self, states: Heeded | None) -> None:
        self._heeded = states
        self._listen()

    @property
    def on_unmatched(self) -> OnUnmatched | None:
        """Called with the name and values of every event that no slice of a guarded machine took."""
        return self._on_unmatched

    @on_unmatched.setter
    def on_unmatched(self, listener: OnUnmatched | None) -> None:
        self._on_unmatched = listener
        self._listen()

    def needed(self) -> frozenset[str]:
        """The events that can matter now; whoever makes events need not make others. The same object while nothing has
        changed."""
        return self._needs.of(self._core.occupied())

    def needed_in(self, event: str) -> tuple[bytes, ...] | None:
        """By property, a byte for each state that tells whether the event can matter there; None if that is not said by
        states."""
        return self._needs.states_of(event)

    def slices(self) -> list[Slice]:
        """Every slice, in the order in which they were made; of other machines, the instances that can still report."""
        return self._reader().slices()

    def standing(self) -> Standing:
        """Where all slices are, for a glance at very many of them."""
        return self._reader().standing()

    def _reader(self) -> Reader:
        names = tuple(prop.name for prop in self.spec.properties)
        return Reader(self._core, names, self._machines, self._plan.parameters)

    def put(self, slice: Slice, state: str) -> None:
        """Let a slice of a guarded machine be in this state from now on. Nothing runs, and nothing is reported."""
        machine = self._machines[[prop.name for prop in self.spec.properties].index(slice.property)]
        if not isinstance(machine, GuardedMachine):
            raise MonitorError(f"the states of `{slice.property}` cannot be set", code="MONITOR-010")
        names = [each.name for each in machine.states]
        if state not in names:
            near = difflib.get_close_matches(state, names, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"its states are {', '.join(names)}"
            raise MonitorError(f"`{slice.property}` has no state `{state}`", hint=hint, code="MONITOR-010")
        if not self._outside(lambda: self._core.put(slice.reference, names.index(state))):
            raise MonitorError("the slice is no longer there", hint="ask `slices()` again", code="MONITOR-010")

    def use_functions(self, namespace: dict[str, Any]) -> None:
        """Let the code of guarded machines find functions and other names here, as they are at that moment.

        Before the first event: `initialization` runs when the first slice is made.
        """
        self._names = guarded.names(self._imported, namespace)
        self._core.use_names(self._names)

    def checkpoint(self) -> Checkpoint:
        """The state as it is now, for `rewind`. Variables are copied in depth; objects that parameters are bound to are
        kept alive."""
        self._copies = variables = Variables()
        try:
            return Checkpoint(self._outside(self._core.checkpoint), variables)
        finally:
            self._copies = None

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Be again as at a checkpoint of this monitor, as often as one likes. Verdicts already told stay told."""
        self._copies = checkpoint.variables.copy()
        try:
            self._outside(lambda: self._core.rewind(checkpoint.core))
        finally:
            self._copies = None

    def _outside(self, do: Callable[[], _T]) -> _T:
        """What cannot be done while an event is being handled."""
        try:
            return do()
        except RuntimeError as error:
            hint = "do it when the event is done, for instance in `on_change`"
            raise MonitorError(
                "a monitor cannot be changed from within a guard, block or action", hint=hint, code="MONITOR-010"
            ) from error
        except ValueError as error:
            raise MonitorError(str(error), code="MONITOR-006") from error

    def close(self) -> None:
        """Stop watching: no event is taken any more, no object is watched any more.

        While an event is being handled, that is the last one, and nothing more comes of it.
        """
        self._core.close()

    @property
    def closed(self) -> bool:
        """Has it stopped watching?"""
        return self._core.closed

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- for instances ----

    def reset(self, reference: tuple[int, int, int, int], *, reported: bool = False) -> bool:
        """Put one instance back into its initial state, or end only what it has `reported`; False if it is gone."""
        return self._core.reset(reference, reported)

    def skip(self, result: object = None) -> None:
        """Leave out what the program is about to do, and let this be its result.

        Only while this thread handles an `around` event; other events have happened, or will, whatever is said.
        """
        _core.skip(result)

    # ---- making ----

    def _compile_code(self) -> None:
        spec = self.spec
        codes = [each.code for prop in spec.properties for each in prop.handlers if each.code is not None]
        self._resets = any(map(may_reset, codes))
        compiler = Compiler(spec)
        self._imported = compiler.namespace
        self._names = guarded.names(self._imported, None)
        self._initials = [(variable, compiler.expression(variable.initial)) for variable in spec.variables]
        self._conditions = [compiler.expression(each.condition) if each.condition else None for each in spec.events]
        self._actions = [compiler.statements(each.action) if each.action else None for each in spec.events]
        self._handlers: list[dict[str, Function]] = [
            {each.category: compiler.statements(each.code) for each in prop.handlers if each.code is not None}
            for prop in spec.properties
        ]

    def _make_core(self, history: int, max_live: int) -> _core.Monitor:
        modifiers = self.spec.modifiers
        variables = bool(self.spec.variables)
        self._guarded = any(isinstance(machine, GuardedMachine) for machine in self._machines)
        saved = variables or self._guarded
        return _core.Monitor(
            parameters=self._plan.parameters,
            modes=[parameter.by or "" for parameter in self.spec.parameters],
            events=self._plan.events,
            machines=self._plan.machines,
            binding=modifiers.binding.value,
            connected=modifiers.connected,
            immediate=self._resets,
            variables=variables,
            history=history,
            max_live=0 if any(isinstance(each, SymbolicMachine) for each in self._machines) else max_live,
            per_thread=modifiers.perthread,
            synchronized=not modifiers.unsynchronized,
            decentralized=modifiers.decentralized,
            report=self._report,
            admit=self._admit,
            fork=self._fork if variables else None,
            save=self._save_variables if saved else None,
            load=self._load_variables if saved else None,
            fault=self._raised,
            codes=[code.compile() for code in self._plan.codes],
            names=self._names,
        )

    def _listen(self) -> None:
        self._core.listen(
            self._changed if self._on_change is not None else None,
            self._unmatched if self._on_unmatched is not None else None,
            [] if self._heeded is None else [*map(self._heeded_states, self.spec.properties, self._machines)],
        )

    def _heeded_states(self, prop: Property, machine: Machine) -> tuple[bytes, bytes]:
        """By the number of a state: is leaving it heeded, is entering it?"""
        assert self._heeded is not None
        left, entered = self._heeded.get(prop.name, ((), ()))
        names = [state.name for state in machine.states] if isinstance(machine, GuardedMachine) else []
        return bytes(name in left for name in names), bytes(name in entered for name in names)

    def _verdict_counts(self, core: Mapping[str, Any]) -> Counter[str]:
        counts = self._restored.copy()
        for prop, category, count in core["reported"]:
            counts[self._plan.categories[prop][category]] += count
        return counts

    def _fingerprint(self) -> str:
        return hashlib.sha256(repr((self.spec.name, self._plan)).encode()).hexdigest()

    def _number(self, event: str) -> int:
        number = self._numbers.get(event)
        if number is None:
            near = difflib.get_close_matches(event, self._numbers, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"its events are {', '.join(self._numbers)}"
            raise MonitorError(f"`{self.spec.name}` has no event `{event}`", hint=hint)
        return number

    # ---- called by the core ----

    def _fork(self, parent: Instance | None) -> Instance:
        if parent is not None:
            return parent.derive()
        instance = Instance(self)
        for variable, initial in self._initials:
            try:
                setattr(instance, variable.name, initial(instance, (None,) * len(self._plan.parameters)))
            except _ERRORS as error:
                self._fault(error, f"initial value of variable {variable.name}", variable.initial)
        return instance

    def _save_variables(self, variables: Any) -> str:  # noqa: ANN401 - an environment or an `Instance`
        if self._copies is not None:
            return self._copies.put(variables)
        return json.dumps(guarded.plain(variables) if self._guarded else variables.variables())

    def _load_variables(self, text: str) -> Any:  # noqa: ANN401 - an environment or an `Instance`
        if self._copies is not None:
            return self._copies.get(text)
        if self._guarded:
            if self._initialized is None:
                self._initialized = guarded.initialized(self._plan.codes, self._names)
            return guarded.revived(self._initialized, json.loads(text))
        instance = Instance(self)
        vars(instance).update(json.loads(text))
        return instance

    def _admit(
        self,
        event: int,
        reference: tuple[int, int, int, int],
        user: Instance | None,
        values: tuple[Any, ...],
        stamp: _core.Stamp,
    ) -> bool:
        instance = user if user is not None else Instance(self)
        instance._reference, instance.verdict, instance.location = reference, None, read_place(stamp)[2]
        condition, action = self._conditions[event], self._actions[event]
        declared = self.spec.events[event]
        try:
            if condition is not None and not condition(instance, values):
                return False
        except _ERRORS as error:
            self._fault(error, f"condition of event {declared.name}", declared.condition, event, stamp)
            return False  # nobody knows whether it would hold
        if action is not None:
            try:
                action(instance, values)
            except _ERRORS as error:
                self._fault(error, f"action of event {declared.name}", declared.action, event, stamp)
            except BaseException as wish:  # Ctrl-C, or an order to exit: after the event, which has happened
                self._core.wish(wish)
        return True

    def _changed(
        self,
        prop: int,
        old: int,
        new: int,
        transition: int,
        success: bool,
        values: tuple[Any, ...],
        kinds: str,
        serials: tuple[int, ...],
    ) -> None:
        machine = self._machines[prop]
        assert isinstance(machine, GuardedMachine)
        assert self._on_change is not None
        left = machine.states[old]
        self._on_change(
            Change(
                self.spec.properties[prop].name,
                read_binding(self._plan.parameters, values, kinds),
                left.name,
                machine.states[new].name,
                left.transitions[transition],
                "success" if success else "failure",
            )
        )

    def _unmatched(self, event: int, values: tuple[object, ...]) -> None:
        assert self._on_unmatched is not None
        declared = self.spec.events[event]
        self._on_unmatched(declared.name, dict(zip(declared.names, values, strict=True)))

    def _report(
        self,
        prop: int,
        category: int,
        final: bool,
        event: int,
        values: tuple[Any, ...],
        states: str,
        serials: tuple[int, ...],
        stamp: _core.Stamp,
        past: tuple[tuple[int, _core.Stamp], ...],
        reference: tuple[int, int, int, int],
        user: Instance | None,
        steps: list[_core.ExplainedStep],
    ) -> None:
        declared = self.spec.properties[prop]
        machine = self._machines[prop]
        last = self.spec.events[event]
        if self._libraries and last.advice == "after" and self._is_caught():
            return
        name = self._plan.categories[prop][category]
        binding = self._binding(values, states, serials)
        row, time, location = read_place(stamp)
        witness = tuple(self._witness(number, at, binding) for number, at in past)
        if last.name in self._ends or (row is None and location is None):
            row, location = last_use(witness, self._ends) or (row, location)
        verdict = Verdict(
            spec=self.spec.name,
            property=declared.name,
            category=name,
            truth=self._machines[prop].truth.get(name),
            final=final,
            binding=binding,
            location=location,
            time=time,
            witness=witness,
            severity=self._severities[declared.name, name],
            row=row,
            steps=read_steps(steps, machine, declared.formula, self.spec.events, read_place)
            if isinstance(machine, SymbolicMachine)
            else (),
        )
        handler = self._handlers[prop].get(name)
        if handler is not None:
            instance = user if user is not None else Instance(self)
            instance._reference, instance.verdict, instance.location = reference, verdict, location
            live = tuple(None if state == "d" else value for value, state in zip(values, states, strict=True))
            try:
                handler(instance, live)
            except _ERRORS as error:
                code = next(each.code for each in declared.handlers if each.category == name)
                self._fault(error, f"handler @{name} of {declared.name}", code, event, stamp)
            finally:  # whatever it raises
                self._on_verdict(verdict)
        else:
            self._on_verdict(verdict)

    def _is_caught(self) -> bool:
        """Does what is reported tell of an exception that the library in whose code it came up catches by itself?"""
        error = _core.ended_with()
        return error is not None and is_caught(sys._getframe(2), error, self._is_library)

    def _is_library(self, file: str) -> bool:
        return any(file.startswith(folder) and not file.startswith(but) for folder, but in self._libraries)

    def _binding(self, values: tuple[Any, ...], states: str, serials: tuple[int, ...]) -> dict[str, Value]:
        return {
            parameter: shown(value, state, serial)
            for parameter, value, state, serial in zip(self._plan.parameters, values, states, serials, strict=True)
            if state != "u"
        }

    def _witness(self, event: int, stamp: _core.Stamp, binding: Mapping[str, Value]) -> WitnessEvent:
        declared = self.spec.events[event]
        row, time, location = read_place(stamp)
        return WitnessEvent(declared.name, {name: binding[name] for name in declared.parameters}, location, time, row)

    def _raised(self, error: BaseException, code: int, event: int, stamp: _core.Stamp | None) -> None:
        """The core has met an error: in code of a guarded machine, in a callback, or on the way to an event."""
        if isinstance(error, LiveLimitError):
            self._fault(error, "live monitors", None)
        elif code >= 0:
            planned = self._plan.codes[code]
            self._fault(error, planned.role.told, planned.source, event, stamp)
        elif event >= 0:
            self._fault(error, f"event {self.spec.events[event].name}", None, event, stamp)
        else:
            self._fault(error, "callback", None)

    def _fault(
        self, error: BaseException, code: str, source: Code | None, event: int = -1, stamp: _core.Stamp | None = None
    ) -> None:
        fault, new = self._faults.add(error, code, source, self.spec.events[event].name if event >= 0 else None, stamp)
        if self.on_fault is not None:
            self.on_fault(error, fault)
        elif new:
            _log.error("fault in a monitor of %s", self.spec.name, exc_info=error)


# An event sent by name comes from the line that calls `emit`.
_core.hide(Monitor.emit.__code__)


def _count(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError("a count of verdicts is none")
    return number
