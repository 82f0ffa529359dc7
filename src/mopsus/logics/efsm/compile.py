"""Stage 2: a parsed machine with guards made into one that the core can run, with what is odd about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mopsus.logics.efsm.syntax import Efsm, categories_of
from mopsus.logics.logic import Request
from mopsus.model import Acceptance, Code, GuardedMachine, Remark, guarded
from mopsus.model.guarded import INITIAL
from mopsus.spec.cursor import Block, Word
from mopsus.spec.prop import tree
from mopsus.spec.prop.check import place_in
from mopsus.spec.prop.python import assigned, parse_body, returns


def compile_automaton(automaton: Efsm, request: Request) -> GuardedMachine:
    """The machine for the categories of `request`."""
    values = request.values or dict.fromkeys(request.alphabet, ())
    states = tuple(_state(automaton, state, request) for state in automaton.states)
    initial = next(state for state in states if state.name == INITIAL)
    return GuardedMachine(
        alphabet=request.alphabet,
        goal=request.goal,
        creation=initial.events(),
        enable={},
        coenable={},
        truth={name: _truth(automaton, name) for name in sorted(categories_of(automaton))},
        remarks=tuple(_remarks(automaton, values)),
        states=states,
        initialization=_code(automaton.initialization, request),
        variables=tuple(dict.fromkeys(_variables(automaton, values))),
        values=dict(values),
    )


def _truth(automaton: Efsm, name: str) -> bool | None:
    state = automaton.state(name)
    neutral = state is None or state.acceptance is Acceptance.NEUTRAL
    return None if neutral or state is None else state.acceptance is Acceptance.ACCEPTING


def _state(automaton: Efsm, state: tree.State[Word], request: Request) -> guarded.State:
    return guarded.State(
        str(state.name),
        state.acceptance,
        state.final,
        _text(state.action),
        tuple(
            guarded.Transition(
                str(transition.event),
                _code(transition.guard, request),
                _end(transition.success, request),
                _end(transition.failure, request),
            )
            for transition in automaton.transitions_of(state)
        ),
    )


def _end(end: tree.End | None, request: Request) -> guarded.End | None:
    if end is None:
        return None
    returned = tuple(dict.fromkeys(name for name in _returned(end.block) if name is not None))
    return guarded.End(_code(end.block, request), _text(end.action), _text(end.target), returned)


def _code(block: Block | None, request: Request) -> Code | None:
    if block is None or not block.text:
        return None
    return Code(block.text, request.place(block.starts[0], 1) if request.place else None)


def _text(word: Word | None) -> str | None:
    return None if word is None else str(word)


def _variables(automaton: Efsm, values: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The names that the initialization and blocks assign; in a block, a value of the event hides such a name."""
    if automaton.initialization is not None:
        yield from (name for name, _ in assigned(parse_body(automaton.initialization.text)))
    for transition in automaton.transitions():
        for _, end in transition.ends():
            if end.block is not None:
                names = (name for name, _ in assigned(parse_body(end.block.text)))
                yield from (name for name in names if name not in values[transition.event])


def _remarks(automaton: Efsm, values: Mapping[str, tuple[str, ...]]) -> Iterator[Remark]:
    variables = set(_variables(automaton, values))
    yield from _hidden(automaton, values, variables)
    for transition in automaton.transitions():
        if transition.guard is not None:
            yield from _assignments(transition.guard, variables)
        if not any(transition.ends()):
            hint = "say where it leads: success state"
            yield Remark("LOGIC-093", "this transition is never taken", hint, transition.start, len("transition"))
    reached = _reached(automaton)
    for state in automaton.states:
        place = state.name.start, len(state.name)
        if state.name not in reached:
            hint = "no transition leads to it; remove it, or lead one there"
            yield Remark("LOGIC-091", f"state '{state.name}' cannot be reached", hint, *place)
        elif state.final and automaton.transitions_of(state):
            hint = "an instance is forgotten on arrival; remove them, or the word 'final'"
            yield Remark("LOGIC-092", f"'{state.name}' is final, so its transitions are never taken", hint, *place)


def _hidden(automaton: Efsm, values: Mapping[str, tuple[str, ...]], variables: set[str]) -> Iterator[Remark]:
    """Variables that cannot be seen where an event has a value of the same name: told once for each event."""
    for event in {str(each.event): each.event for each in reversed([*automaton.transitions()])}.values():
        for name in values[event]:
            if name in variables:
                hint = "rename one of them: what is assigned to the value is lost"
                message = f"'{name}', a value of event '{event}', hides the variable of that name"
                yield Remark("LOGIC-094", message, hint, event.start, len(event))


def _assignments(guard: Block, variables: set[str]) -> Iterator[Remark]:
    for name, node in assigned(parse_body(guard.text)):
        if name in variables:
            start, end = place_in(guard, node)
            hint = "a guard looks only: assign in the block of an end"
            yield Remark("LOGIC-090", f"the guard changes '{name}', which has no effect", hint, start, end - start)


def _reached(automaton: Efsm) -> frozenset[str]:
    """The states that transitions lead to from the first on; all, if one computes where it leads."""
    found, waiting = {INITIAL}, [INITIAL]
    while waiting:
        here = automaton.state(waiting.pop())
        for target in _targets(automaton, here) if here is not None else ():
            if target is None:
                return categories_of(automaton)
            if target not in found:
                found.add(target)
                waiting.append(target)
    return frozenset(found)


def _targets(automaton: Efsm, state: tree.State[Word]) -> Iterator[str | None]:
    """Where the transitions of a state may lead; None: wherever a block says."""
    for transition in automaton.transitions_of(state):
        for _, end in transition.ends():
            yield str(end.target or state.name)
            yield from _returned(end.block)


def _returned(block: Block | None) -> Iterator[str | None]:
    """The states that a block returns; None: one that it computes."""
    for statement in returns(parse_body(block.text)) if block is not None else ():
        match statement.value:
            case None | ast.Constant(value=None):
                pass
            case ast.Constant(value=name):
                yield str(name)
            case _:
                yield None
