"""Stage 2: a parsed finite state machine made into a finished one."""

from __future__ import annotations

from mopsus.logics.fsm.syntax import FAIL, Fsm
from mopsus.logics.logic import Request
from mopsus.logics.machines import Automaton, finish
from mopsus.model import TableMachine


def compile_machine(machine: Fsm, request: Request) -> TableMachine:
    """The minimal machine for the categories of `request`; `fail` is a sink that missing transitions lead to."""
    names = [*(state.name for state in machine.states), FAIL]
    numbers = {name: number for number, name in enumerate(names)}
    sink = numbers[FAIL]
    rows = [tuple(numbers[state.target(event)] for event in request.alphabet) for state in machine.states]
    automaton = Automaton(
        alphabet=request.alphabet,
        initial=0,
        table=(*rows, (sink,) * len(request.alphabet)),
        categories=tuple(machine.categories(name) for name in names),
        names=tuple(names),
    )
    return finish(automaton, request)
