"""Guarded machines in the core against their definition: the same transitions, slices, variables and verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.automata import Case, Happened, cases

from mopsus.logics import compile_spec, load_logic
from mopsus.logics.efsm.reference import Slices
from mopsus.model import Acceptance, Change, GuardedMachine
from mopsus.model.guarded import Transition
from mopsus.monitor import Monitor


class Definition:
    """The definition, with a count of the calls of actions."""

    def __init__(self, case: Case) -> None:
        (prop,) = case.spec.properties
        alphabet = tuple(event.name for event in case.spec.events)
        self.automaton = load_logic("efsm").parse(prop.formula, alphabet)
        self.calls = 0
        self._slices = Slices(self.automaton, tuple(each.name for each in case.spec.parameters), {"act": self._act})

    def _act(self) -> None:
        self.calls += 1

    def apply(self, happened: Happened) -> list[tuple[Any, ...]]:
        taken = self._slices.apply(happened.event, happened.binding, happened.values)
        return [(each.binding, each.old, each.new, each.transition, each.end) for each in taken]

    def bad(self, state: str) -> bool:
        found = self.automaton.state(state)
        return found is not None and found.acceptance is Acceptance.NON_ACCEPTING

    def standing(self) -> list[tuple[Any, ...]]:
        return [
            (each.binding, each.state, _plain(each.environment), self._parent(each)) for each in self._slices.slices
        ]

    def _parent(self, slice_: Any) -> Any:
        alive = slice_.parent is not None and slice_.parent in self._slices.slices
        return slice_.parent.binding if alive else None

    def needed(self) -> frozenset[str]:
        return self._slices.needed()


class Ours:
    """The monitor, with what it tells of."""

    def __init__(self, case: Case, history: int) -> None:
        compiled = compile_spec(case.spec)
        (machine,) = compiled.machines
        assert isinstance(machine, GuardedMachine)
        self._states = {state.name: state for state in machine.states}
        self.monitor = Monitor(compiled, history=history)
        self.calls = 0
        self.changes: list[Change] = []
        self.unmatched: list[tuple[str, Any]] = []
        self.monitor.use_functions({"act": self._act})
        self.monitor.on_change = self.changes.append
        self.monitor.on_unmatched = lambda event, values: self.unmatched.append((event, values))

    def _act(self) -> None:
        self.calls += 1

    def apply(self, happened: Happened) -> list[tuple[Any, ...]]:
        self.monitor.emit(happened.event, **happened.values)
        return self.taken()

    def taken(self) -> list[tuple[Any, ...]]:
        found = [
            (each.binding, each.old, each.new, _number(self._states[each.old].transitions, each.transition), each.end)
            for each in self.changes
        ]
        self.changes.clear()
        return found

    def standing(self) -> list[tuple[Any, ...]]:
        return [
            (each.binding, each.state, _plain(each.environment), each.parent.binding if each.parent else None)
            for each in self.monitor.slices()
        ]


def _number(transitions: tuple[Transition, ...], transition: Transition) -> int:
    return next(number for number, each in enumerate(transitions) if each is transition)


def _plain(environment: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in environment.items() if name != "math"}


@settings(deadline=None)
@given(case=cases(), history=st.sampled_from((0, 3, 32)))
def test_every_event_does_what_the_definition_says(case: Case, history: int) -> None:
    definition, ours = Definition(case), Ours(case, history)
    assert ours.standing() == definition.standing()
    wanted = []
    for happened in case.trace:
        taken = definition.apply(happened)
        assert ours.apply(happened) == taken
        assert ours.unmatched == ([] if taken else [(happened.event, happened.values)])
        ours.unmatched.clear()
        assert ours.standing() == definition.standing()
        assert ours.monitor.needed() == definition.needed()
        assert ours.calls == definition.calls
        wanted += [(binding, new) for binding, _, new, *_ in taken if definition.bad(new)]
    assert [(each.binding, each.category) for each in ours.monitor.verdicts] == wanted
    assert ours.monitor.stats().faults == 0


@settings(deadline=None)
@given(case=cases())
def test_an_event_that_is_not_needed_changes_nothing(case: Case) -> None:
    every, needed = Ours(case, 0), Ours(case, 0)
    for happened in case.trace:
        every.monitor.emit(happened.event, **happened.values)
        if happened.event in needed.monitor.needed():
            needed.monitor.emit(happened.event, **happened.values)
    assert every.taken() == needed.taken()
    assert every.standing() == needed.standing()


@settings(deadline=None)
@given(case=cases(), history=st.sampled_from((0, 32)))
def test_rows_and_tables_give_what_events_give(case: Case, history: int) -> None:
    live, rows, table = (Monitor(compile_spec(case.spec), history=history) for _ in range(3))
    for monitor in (live, rows, table):
        monitor.use_functions({"act": lambda: None})
    for number, happened in enumerate(case.trace, 1):
        live.emit(happened.event, **happened.values)
        rows.row(happened.event, happened.values, row=number)
    names = [*(each.name for each in case.spec.parameters), "x"]
    columns = {name: pyarrow.array([each.values.get(name) for each in case.trace], pyarrow.int64()) for name in names}
    events = pyarrow.array([each.event for each in case.trace], pyarrow.string())
    table.run(pyarrow.table({"event": events, **columns}))
    for monitor in (rows, table):
        assert [(each.binding, each.state) for each in monitor.slices()] == [
            (each.binding, each.state) for each in live.slices()
        ]
        assert [_plain(each.environment) for each in monitor.slices()] == [
            _plain(each.environment) for each in live.slices()
        ]
        assert [(each.binding, each.category) for each in monitor.verdicts] == [
            (each.binding, each.category) for each in live.verdicts
        ]
    assert [each.witness for each in rows.verdicts] == [each.witness for each in table.verdicts]


@settings(deadline=None)
@given(case=cases(), data=st.data())
def test_going_back_is_as_if_nothing_had_happened(case: Case, data: st.DataObject) -> None:
    ours = Ours(case, 32)
    at = data.draw(st.integers(0, len(case.trace)))
    for happened in case.trace[:at]:
        ours.apply(happened)
    checkpoint = ours.monitor.checkpoint()
    results = []
    for _ in range(2):
        ours.monitor.verdicts.clear()
        taken = [ours.apply(happened) for happened in case.trace[at:]]
        stats = replace(ours.monitor.stats(), bytes=0)
        results.append((taken, ours.monitor.verdicts[:], ours.standing(), stats))
        ours.monitor.rewind(checkpoint)
    assert results[0] == results[1]


@settings(deadline=None)
@given(case=cases(), data=st.data())
def test_a_snapshot_goes_on_where_it_was_taken(case: Case, data: st.DataObject) -> None:
    whole, first, second = (Monitor(compile_spec(case.spec)) for _ in range(3))
    at = data.draw(st.integers(0, len(case.trace)))
    for monitor in (whole, first, second):
        monitor.use_functions({"act": lambda: None})
    for number, happened in enumerate(case.trace, 1):
        whole.row(happened.event, happened.values, row=number)
    for number, happened in enumerate(case.trace[:at], 1):
        first.row(happened.event, happened.values, row=number)
    second.restore(first.snapshot())
    for number, happened in enumerate(case.trace[at:], at + 1):
        second.row(happened.event, happened.values, row=number)
    assert first.verdicts + second.verdicts == whole.verdicts
    assert [(each.binding, each.state) for each in second.slices()] == [
        (each.binding, each.state) for each in whole.slices()
    ]
    assert second.needed() == whole.needed()
