"""Stage 3: what the core asks of a monitor, and tells it, while it handles events.

Variables, conditions and actions of a spec, changes, verdicts and faults all come through here; nothing else is called
by the core.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from mopsus import _core, untouched
from mopsus.logics import CompiledSpec
from mopsus.model import Change, Code, Fault, GuardedMachine, Machine, Property, SymbolicMachine, Verdict
from mopsus.model.machine import EXHAUSTED
from mopsus.monitor import guarded
from mopsus.monitor.caught import is_caught
from mopsus.monitor.checkpoint import Variables
from mopsus.monitor.code import CompiledCode
from mopsus.monitor.errors import LiveLimitError
from mopsus.monitor.faults import FaultBook
from mopsus.monitor.instance import Instance
from mopsus.monitor.plan import Plan
from mopsus.monitor.reading import last_use, read_place, shown_binding, witness_event
from mopsus.monitor.signals import is_for_the_program, is_of_a_signal
from mopsus.monitor.slices import read_binding
from mopsus.monitor.symbolic import Predicate, code_of, read_steps
from mopsus.spec.program import is_end

OnVerdict: TypeAlias = "Callable[[Verdict], object]"
OnChange: TypeAlias = "Callable[[Change], object]"
TakeFault: TypeAlias = "Callable[[BaseException, Fault], object]"
OnUnmatched: TypeAlias = "Callable[[str, Mapping[str, object]], object]"
Heeded: TypeAlias = "Mapping[str, tuple[Collection[str], Collection[str]]]"
"""By property: states that are left, states that are entered."""

_log = logging.getLogger("mopsus")


class MonitorListener:
    """Makes the monitor in the core, and answers it. It owns the instances, as they live as long as the core does."""

    def __init__(
        self, compiled: CompiledSpec, plan: Plan, on_verdict: OnVerdict, *, history: int, max_live: int
    ) -> None:
        self._spec = compiled.spec
        self._plan = plan
        self._machines = compiled.machines
        self._severities = compiled.severities
        self._ends = frozenset(event.name for event in self._spec.events if is_end(event.pointcut))
        self._guarded = any(isinstance(machine, GuardedMachine) for machine in self._machines)
        self._code = CompiledCode(self._spec)
        self._names = guarded.names(self._code.imported, None)
        self._initialized: dict[str, Any] | None = None  # for environments that are restored
        self.copies: Variables | None = None  # while a checkpoint is taken or put back
        self.libraries: list[tuple[str, tuple[str, ...]]] = []
        self.faults = FaultBook(self._spec.name)
        self.held: set[int] = set()
        """The events whose condition has held."""
        self._refused: set[int] = set()
        self.on_verdict = on_verdict
        self.on_change: OnChange | None = None
        self.heeded: Heeded | None = None
        self.on_unmatched: OnUnmatched | None = None
        self.on_fault: TakeFault | None = None
        self.core = self._make_core(history, max_live)

    @property
    def unheld(self) -> set[int]:
        """The events whose condition was asked, and has never held."""
        return self._refused - self.held

    def use_functions(self, namespace: dict[str, Any]) -> None:
        """See `Monitor.use_functions`."""
        self._names = guarded.names(self._code.imported, namespace)
        self.core.use_names(self._names)

    def listen(self) -> None:
        """Let the core tell of those changes that somebody wants to hear of by now."""
        self.core.listen(
            self._changed if self.on_change is not None else None,
            self._unmatched if self.on_unmatched is not None else None,
            [] if self.heeded is None else [*map(self._heeded_states, self._spec.properties, self._machines)],
        )

    def _heeded_states(self, prop: Property, machine: Machine) -> tuple[bytes, bytes]:
        """By the number of a state: is leaving it heeded, is entering it?"""
        assert self.heeded is not None
        left, entered = self.heeded.get(prop.name, ((), ()))
        names = [state.name for state in machine.states] if isinstance(machine, GuardedMachine) else []
        return bytes(name in left for name in names), bytes(name in entered for name in names)

    def _make_core(self, history: int, max_live: int) -> _core.Monitor:
        modifiers = self._spec.modifiers
        variables = bool(self._spec.variables)
        saved = variables or self._guarded
        return _core.Monitor(
            parameters=self._plan.parameters,
            modes=[parameter.by or "" for parameter in self._spec.parameters],
            events=self._plan.events,
            machines=self._plan.machines,
            binding=modifiers.binding.value,
            connected=modifiers.connected,
            immediate=self._code.resets,
            variables=variables,
            history=history,
            max_live=max_live,
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

    # ---- for instances ----

    def reset(self, reference: tuple[int, int, int, int], *, reported: bool = False) -> bool:
        """Put one instance back into its initial state, or end only what it has `reported`; False if it is gone."""
        return self.core.reset(reference, reported)

    def skip(self, result: object = None) -> None:
        """Leave out what the program is about to do, and let this be its result.

        Only while this thread handles an `around` event; other events have happened, or will, whatever is said.
        """
        _core.skip(result)

    # ---- called by the core ----

    def _fork(self, parent: Instance | None) -> Instance:
        if parent is not None:
            return parent.derive()
        instance = Instance(self)
        for variable, initial in self._code.initials:
            try:
                setattr(instance, variable.name, initial(instance, (None,) * len(self._plan.parameters)))
            except BaseException as error:
                if is_for_the_program(error):
                    raise
                self._fault(error, f"initial value of variable {variable.name}", variable.initial)
        return instance

    def _save_variables(self, variables: Any) -> str:  # noqa: ANN401 - an environment or an `Instance`
        if self.copies is not None:
            return self.copies.put(variables)
        return json.dumps(guarded.plain(variables) if self._guarded else variables.variables())

    def _load_variables(self, text: str) -> Any:  # noqa: ANN401 - an environment or an `Instance`
        if self.copies is not None:
            return self.copies.get(text)
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
        condition, action = self._code.conditions[event], self._code.actions[event]
        declared = self._spec.events[event]
        try:
            if condition is not None:
                if not condition(instance, values):
                    self._refused.add(event)
                    return False
                self.held.add(event)
        except BaseException as error:
            if is_for_the_program(error):
                raise
            self._fault(error, f"condition of event {declared.name}", declared.condition, event, stamp)
            return False  # nobody knows whether it would hold
        if action is not None:
            try:
                action(instance, values)
            except BaseException as error:
                if is_for_the_program(error):
                    self.core.wish(error)  # after the event, which has happened
                else:
                    self._fault(error, f"action of event {declared.name}", declared.action, event, stamp)
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
        assert self.on_change is not None
        left = machine.states[old]
        self.on_change(
            Change(
                self._spec.properties[prop].name,
                read_binding(self._plan.parameters, values, kinds),
                left.name,
                machine.states[new].name,
                left.transitions[transition],
                "success" if success else "failure",
            )
        )

    def _unmatched(self, event: int, values: tuple[object, ...]) -> None:
        assert self.on_unmatched is not None
        declared = self._spec.events[event]
        self.on_unmatched(declared.name, dict(zip(declared.names, values, strict=True)))

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
        declared = self._spec.properties[prop]
        machine = self._machines[prop]
        last = self._spec.events[event]
        if self.libraries and last.advice == "after" and self._is_caught():
            return
        name = self._plan.categories[prop][category]
        binding = shown_binding(self._plan.parameters, values, states, serials)
        row, time, location = read_place(stamp)
        witness = tuple(witness_event(self._spec.events[number], at, binding) for number, at in past)
        if last.name in self._ends or (row is None and location is None):
            row, location = last_use(witness, self._ends) or (row, location)
        verdict = Verdict(
            spec=self._spec.name,
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
            steps=read_steps(steps, machine, declared.formula, self._spec.events, read_place)
            if isinstance(machine, SymbolicMachine)
            else (),
            remarks=tuple(filter(None, [machine.spent()])) if name == EXHAUSTED else (),
        )
        handler = self._code.handlers[prop].get(name)
        if handler is not None:
            instance = user if user is not None else Instance(self)
            instance._reference, instance.verdict, instance.location = reference, verdict, location
            live = tuple(None if state == "d" else value for value, state in zip(values, states, strict=True))
            failure = wish = None
            try:
                handler(instance, live)
            except BaseException as error:
                if is_for_the_program(error):
                    wish = error
                else:
                    failure = error
            try:
                self.on_verdict(verdict)  # it was reached, whatever the handler has raised
            finally:
                if failure is not None:  # after the verdict: faults may end the monitoring
                    code = next(each.code for each in declared.handlers if each.category == name)
                    self._fault(failure, f"handler @{name} of {declared.name}", code, event, stamp)
            if wish is not None:
                raise wish
        else:
            self.on_verdict(verdict)

    def _is_caught(self) -> bool:
        """Does what is reported tell of an exception that the library in whose code it came up catches by itself?"""
        error = _core.ended_with()
        return error is not None and is_caught(untouched.frame_above(2), error, self._is_library)

    def _is_library(self, file: str) -> bool:
        return any(file.startswith(folder) and not file.startswith(but) for folder, but in self.libraries)

    def _raised(
        self, error: BaseException, code: int, event: int, stamp: _core.Stamp | None, predicate: Predicate | None
    ) -> bool:
        """The core has met an error: in code of a machine, in a callback, or on the way to an event.

        Return whether it is not a fault but for the program, which gets it when the event is done.
        """
        if is_of_a_signal(error):
            return True
        if isinstance(error, LiveLimitError):
            self._fault(error, "live monitors", None)
        elif predicate is not None:
            source = code_of(predicate, zip(self._spec.properties, self._plan.machines, strict=True))
            self._fault(error, f"guard `{predicate.text}`", source, event, stamp)
        elif code >= 0:
            planned = self._plan.codes[code]
            self._fault(error, planned.role.told, planned.source, event, stamp)
        elif event >= 0:
            self._fault(error, f"event {self._spec.events[event].name}", None, event, stamp)
        else:
            self._fault(error, "callback", None)
        return False

    def _fault(
        self, error: BaseException, code: str, source: Code | None, event: int = -1, stamp: _core.Stamp | None = None
    ) -> None:
        fault, new = self.faults.add(error, code, source, self._spec.events[event].name if event >= 0 else None, stamp)
        if self.on_fault is not None:
            self.on_fault(error, fault)
        elif new:
            _log.error("fault in a monitor of %s", self._spec.name, exc_info=error)
