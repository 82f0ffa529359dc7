"""Stage 3: the monitor of a spec: events in, verdicts out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, TypeVar

from mopsus import _core
from mopsus.logics import CompiledSpec, compile_spec
from mopsus.model import Fault, GuardedMachine, Machine, Scalar, Spec, Value, Verdict, WitnessEvent
from mopsus.monitor.checkpoint import Checkpoint, Variables
from mopsus.monitor.consent import reads_data, refuse_code
from mopsus.monitor.errors import MonitorError, ValuesError
from mopsus.monitor.listener import Heeded, MonitorListener, OnChange, OnUnmatched, OnVerdict, TakeFault
from mopsus.monitor.plan import make_plan
from mopsus.monitor.reading import bad_row, shown_binding, witness_event
from mopsus.monitor.slices import Needs, Reader, Slice, Standing
from mopsus.monitor.snapshot import read_snapshot, write_snapshot
from mopsus.monitor.stats import Stats, count_verdicts

_T = TypeVar("_T")
_LONGEST_HISTORY = 65536
_ONE_SPEC = "take one from `mopsus.load(file)` by its name"


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
        self._plan = make_plan(compiled)
        self._machines = compiled.machines
        self._reads_data = any(map(reads_data, compiled.machines))
        self._numbers = {event.name: k for k, event in enumerate(self.spec.events)}
        self._restored: Mapping[str, int] = {}
        self._needs = Needs(compiled)
        told = on_verdict if on_verdict is not None else self.verdicts.append
        self._listener = MonitorListener(compiled, self._plan, told, history=history, max_live=max_live)
        self._core = self._listener.core

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
        self._listener.libraries.append((folder, tuple(but)))
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
        unheld = {self.spec.events[event].name for event in self._listener.unheld}
        return Stats(
            events=sum(seen.values()),
            ignored=core["ignored"],
            created=core["created"],
            alive=core["alive"],
            most=core["most"],
            fallen={name: number for name, number in zip(seen, core["fallen"], strict=True) if number},
            collected=core["collected"],
            verdicts=count_verdicts(core, self._plan, self._restored),
            bad_rows=core["bad_rows"],
            faults=self._listener.faults.total,
            seen=seen,
            occurred={name: 0 if name in unheld else count for name, count in seen.items()},
            bytes=core["bytes"],
            obligations=core["obligations"],
        )

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The errors in code of the spec, with the first traceback of each and how often it happened."""
        return tuple(self._listener.faults.all)

    @property
    def on_fault(self) -> TakeFault | None:
        """Called with every error in code of the spec and what there is to say about it; else each is logged once."""
        return self._listener.on_fault

    @on_fault.setter
    def on_fault(self, take: TakeFault | None) -> None:
        self._listener.on_fault = take

    def instances(self) -> list[tuple[dict[str, Value], tuple[int | bool | None, ...]]]:
        """Every instance that can still report: its binding, and by property where it stands.

        That is the number of its state if the machine is a table, else whether the formula holds now, or None if
        the machine cannot say.
        """
        return [
            (shown_binding(self._plan.parameters, values, kinds, serials), states)
            for values, kinds, serials, states, _ in self._core.instances()
        ]

    def recall(
        self, most: int
    ) -> list[tuple[dict[str, Value], tuple[int | bool | None, ...], tuple[WitnessEvent, ...]]]:
        """The same of so many, those that were changed last, with the events that changed them, as far as the history
        goes."""
        found = []
        for values, kinds, serials, states, past in self._core.instances(most):
            binding = shown_binding(self._plan.parameters, values, kinds, serials)
            witness = tuple(witness_event(self.spec.events[number], at, binding) for number, at in past)
            found.append((binding, states, witness))
        return found

    def snapshot(self) -> dict[str, Any]:
        """The whole state as plain data (numbers, texts, lists), for a trace to be continued later.

        Only for values that are plain data themselves: a live object cannot be saved.
        """
        return write_snapshot(self._core, self.spec, self._plan, self._restored)

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over a state from `snapshot`. The monitor must be new."""
        self._restored = read_snapshot(self._core, self.spec, self._plan, data)
        self._listener.held.update(event for event, count in enumerate(self._core.stats()["seen"]) if count)

    # ---- slices ----

    @property
    def on_change(self) -> OnChange | None:
        """Called with every transition that a slice of a guarded machine takes, before the verdicts of the event."""
        return self._listener.on_change

    @on_change.setter
    def on_change(self, listener: OnChange | None) -> None:
        self._listener.on_change = listener
        self._listener.listen()

    @property
    def heeded(self) -> Heeded | None:
        """Of which transitions `on_change` is told: those that leave or enter one of these states; None: of all. What
        it is not told of costs next to nothing."""
        return self._listener.heeded

    @heeded.setter
    def heeded(self, states: Heeded | None) -> None:
        self._listener.heeded = states
        self._listener.listen()

    @property
    def on_unmatched(self) -> OnUnmatched | None:
        """Called with the name and values of every event that no slice of a guarded machine took."""
        return self._listener.on_unmatched

    @on_unmatched.setter
    def on_unmatched(self, listener: OnUnmatched | None) -> None:
        self._listener.on_unmatched = listener
        self._listener.listen()

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
        self._listener.use_functions(namespace)

    def checkpoint(self) -> Checkpoint:
        """The state as it is now, for `rewind`. Variables are copied in depth; objects that parameters are bound to are
        kept alive."""
        self._listener.copies = variables = Variables()
        try:
            return Checkpoint(self._outside(self._core.checkpoint), variables)
        finally:
            self._listener.copies = None

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Be again as at a checkpoint of this monitor, as often as one likes. Verdicts already told stay told."""
        self._listener.copies = checkpoint.variables.copy()
        try:
            self._outside(lambda: self._core.rewind(checkpoint.core))
        finally:
            self._listener.copies = None

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

    def _number(self, event: str) -> int:
        number = self._numbers.get(event)
        if number is None:
            near = difflib.get_close_matches(event, self._numbers, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"its events are {', '.join(self._numbers)}"
            raise MonitorError(f"`{self.spec.name}` has no event `{event}`", hint=hint)
        return number


# An event sent by name comes from the line that calls `emit`.
_core.hide(Monitor.emit.__code__)
