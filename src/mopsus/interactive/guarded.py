"""A guarded machine as a table, with code for the cells where its guards and blocks decide.

The code of a cell asks the guards of all transitions of a state for an event, in order, runs the block of the one that
is taken, and ends with the cell that a table would have there. So whoever steps a table can step this, if it can do
sums.
"""

from __future__ import annotations

import ast
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mopsus.interactive.arithmetic import (
    MOST_VARIABLES,
    Assembler,
    Compiler,
    Instruction,
    Label,
    Operation,
)
from mopsus.interactive.cells import CODE, KEEP, ONLY_BEGINS, STOP, NoStepperError
from mopsus.model import GuardedMachine
from mopsus.model.guarded import INITIAL, End, State, Transition
from mopsus.spec.prop.python import parse_body, returns


class Coded(NamedTuple):
    """A machine as cells, by state the row of it, and what the cells need."""

    cells: array[int]
    rows: Mapping[tuple[int, ...], int]
    code: tuple[Instruction, ...]
    variables: tuple[str, ...]


def cells_of(
    machine: GuardedMachine,
    events: Mapping[str, Sequence[str]],
    heeded: tuple[Collection[str], Collection[str]] = ((), ()),
) -> Coded:
    """A machine whose events have values of these names. Somebody reacts to states that are heeded, when they are left
    and when they are entered. `NoStepperError` if it does more than sums."""
    if any(state.final for state in machine.states):
        raise NoStepperError("it has a final state")
    table = _Table(machine, events, heeded)
    try:
        cells = array("I", [table.cell(table.state(INITIAL), event, fresh=True) for event in events])
        for state in machine.states:
            cells.extend(table.cell(state, event, fresh=False) for event in events)
    except RecursionError:
        raise NoStepperError("its code is too long") from None
    rows: dict[tuple[int, ...], int] = {(number,): table.row(state.name) for number, state in enumerate(machine.states)}
    return Coded(cells, rows, table.assembler.done(), machine.variables)


class _Table:
    """Rows and cells of a machine, and the code of all of them."""

    def __init__(
        self,
        machine: GuardedMachine,
        events: Mapping[str, Sequence[str]],
        heeded: tuple[Collection[str], Collection[str]],
    ) -> None:
        if len(machine.variables) > MOST_VARIABLES:
            raise NoStepperError(f"it has more than {MOST_VARIABLES} variables")
        self._goal = machine.goal
        self._events = events
        self._left, self._entered = heeded
        self._numbers = {state.name: number for number, state in enumerate(machine.states)}
        self.states = machine.states
        self.assembler = Assembler(machine.variables)

    def row(self, name: str) -> int:
        """Of a state. Row 0 is that of a value that was never seen."""
        return (self._numbers[name] + 1) * len(self._events)

    def knows(self, name: str) -> bool:
        """Is it a state?"""
        return name in self._numbers

    def state(self, name: str) -> State:
        return self.states[self._numbers[name]]

    def cell(self, state: State, event: str, *, fresh: bool) -> int:
        """What follows on an event: a cell, or where code begins that gives it."""
        begin = self.assembler.next
        _Cell(self, state, self._events[event], fresh).compile(
            [each for each in state.transitions if each.event == event]
        )
        constant = self.assembler.take_constant(begin)
        return begin | CODE if constant is None else constant

    def stops(self, before: State, after: State) -> bool:
        """Does somebody react?"""
        return after.name in self._goal or before.name in self._left or after.name in self._entered


@dataclass(frozen=True, slots=True)
class _Cell:
    """The code of one cell. A value that was never seen gets an instance if some guard has an opinion."""

    table: _Table
    state: State
    values: Sequence[str]
    fresh: bool
    _waiting: dict[tuple[int, bool], Label] = field(default_factory=dict)
    """Where the code is to be for a transition, the ones before it not taken, with an opinion or without."""

    def compile(self, transitions: Sequence[Transition]) -> None:
        asked = [each for each in transitions if each.guard or each.success]
        self._label(0, len(asked) < len(transitions))
        for number, transition in enumerate(asked):
            for relevant in (False, True):
                if self._begins(number, relevant):
                    self._transition(number, transition, relevant)
        here = self.table.row(self.state.name)
        for relevant in (False, True):
            if self._begins(len(asked), relevant):
                self._emit(Operation.END, here if not self.fresh else here | KEEP | ONLY_BEGINS if relevant else 0)

    def _transition(self, number: int, transition: Transition, relevant: bool) -> None:
        assembler = self.table.assembler
        failure = assembler.label()
        if transition.guard is not None:
            success = assembler.label()

            def answer(value: ast.expr | None) -> None:
                if value is None or (isinstance(value, ast.Constant) and value.value is None):
                    self._emit(Operation.JUMP, self._label(number + 1, relevant))
                    return
                assembler.expression(value, self.values)
                self._emit(Operation.JUMP_IF_FALSE, failure)
                self._emit(Operation.JUMP, success)

            Compiler(assembler, self.values, False, answer).compile(parse_body(transition.guard.text))
            assembler.put(success)
        self._end(number, transition.success)
        if transition.guard is not None:
            assembler.put(failure)
            self._end(number, transition.failure)

    def _end(self, number: int, end: End | None) -> None:
        if end is None:
            self._emit(Operation.JUMP, self._label(number + 1, True))
            return
        body = [] if end.block is None else parse_body(end.block.text)

        def answer(value: ast.expr | None) -> None:
            match value:
                case None | ast.Constant(value=None):
                    self._arrive(end, end.target)
                case ast.Constant(value=str() as name) if self.table.knows(name):
                    self._arrive(end, name)
                case _:
                    raise NoStepperError("a block computes the state that it leads to")

        if (
            body
            and not any(returns(body))
            and self.table.stops(self.state, self.table.state(end.target or self.state.name))
        ):
            self._emit(Operation.GIVE_UP)  # Python will run the block, whatever is in it
            return
        Compiler(self.table.assembler, self.values, True, answer).compile(body)
        self._arrive(end, end.target)

    def _arrive(self, end: End, target: str | None) -> None:
        after = self._target(target)
        called = end.action or after.action
        if self.table.stops(self.state, after):
            cell = None if called else self.table.row(after.name) | STOP
        elif called:
            raise NoStepperError(f"it calls `{called}`")
        else:
            cell = self.table.row(after.name) | KEEP
        if cell is None:
            self._emit(Operation.GIVE_UP)
        else:
            self._emit(Operation.END, cell)

    def _target(self, name: str | None) -> State:
        return self.state if name is None else self.table.state(name)

    def _label(self, number: int, relevant: bool) -> Label:
        return self._waiting.setdefault((number, relevant), self.table.assembler.label())

    def _begins(self, number: int, relevant: bool) -> bool:
        label = self._waiting.get((number, relevant))
        if label is not None:
            self.table.assembler.put(label)
        return label is not None

    def _emit(self, operation: Operation, operand: int = 0) -> None:
        self.table.assembler.emit(operation, operand)
