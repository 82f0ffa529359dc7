"""Stage 2: an automaton of another tool made into a finished machine.

Over infinite words the machine says what no continuation can change: `violation` when no
infinite continuation is accepted, `validation` when all are. The first needs the set of states that
can be reached and accept something; nothing of it left is a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from mopsus.logics.hoa.automaton import Hoa, Reading
from mopsus.logics.hoa.emptiness import Graph, Way, accepting, cases, reaching
from mopsus.logics.hoa.syntax import categories_of
from mopsus.logics.logic import LogicError, Request
from mopsus.logics.machines import Automaton, finish
from mopsus.logics.machines.automaton import explore
from mopsus.logics.machines.automaton import reaching as reaching_in_table
from mopsus.model import Remark, TableMachine

TRUTH = {"validation": True, "violation": False}
UNDECIDED, VIOLATION, VALIDATION = frozenset({"?"}), frozenset({"violation"}), frozenset({"validation"})
MATCH, FAIL = frozenset({"match"}), frozenset({"fail"})

States: TypeAlias = "frozenset[int]"


def compile_automaton(automaton: Hoa, request: Request) -> TableMachine:
    """The minimal machine; what it reports unless told otherwise is the automaton's own to say."""
    known = categories_of(automaton)
    if not request.goal <= known:  # nobody handles a category that there is not: these are the logic's defaults
        request = replace(request, goal=frozenset(automaton.goal) or request.goal & known or request.goal)
    match automaton.reading:
        case Reading.OMEGA:
            return _compile_infinite(automaton, request)
        case Reading.FINITE:
            return finish(_finite(automaton, request.alphabet), request)
        case Reading.CATEGORIES:
            truth = {category: value for category, value in TRUTH.items() if category in known}
            return finish(_categorised(automaton, request.alphabet), request, truth=truth)


def _compile_infinite(automaton: Hoa, request: Request) -> TableMachine:
    graph = ways_of(automaton, request.alphabet)
    letters = len(request.alphabet)
    choices = cases(automaton.condition)
    live = accepting(graph, choices)
    always = frozenset() in choices
    certain = _certain(automaton, graph, letters)

    def categories(states: States) -> frozenset[str]:
        if not states:
            return VIOLATION
        return VALIDATION if states & certain else UNDECIDED

    start, step = _subsets(automaton, graph, request.alphabet, live)
    shape = explore(request.alphabet, start, step, categories, lambda states: "" if states else "violation")
    if always:
        # Every run that never ends is accepted, so everything is unless the runs can end.
        open_ = reaching_in_table(shape.table, [n for n, held in enumerate(shape.categories) if held is VIOLATION])
        shape = replace(
            shape,
            categories=tuple(held if n in open_ else VALIDATION for n, held in enumerate(shape.categories)),
        )
    machine = finish(shape, request, truth=TRUTH)
    exact = always or len(_deterministic(graph)) == len(graph)
    if exact or "validation" not in request.goal:
        return machine
    return replace(
        machine,
        remarks=(
            Remark(
                "LOGIC-043",
                "the automaton is nondeterministic: it may hold for good without a 'validation'",
                hint="make it deterministic first; tools for automata can",
            ),
        ),
    )


def ways_of(automaton: Hoa, alphabet: Sequence[str]) -> Graph:
    """The transitions of each state for the letters of `alphabet`, marked with what the state is marked with too."""
    masks = [automaton.letter(event) for event in alphabet]
    return [
        [
            Way(letter, edge.target, edge.marks | state.marks)
            for edge in state.edges
            for letter, mask in enumerate(masks)
            if edge.letters & mask
        ]
        for state in automaton.states
    ]


def _deterministic(graph: Graph) -> set[int]:
    """The states from which every word has at most one run."""
    several = [state for state, ways in enumerate(graph) if len({way.letter for way in ways}) < len(ways)]
    return set(range(len(graph))) - reaching(graph, several)


def _certain(automaton: Hoa, graph: Graph, letters: int) -> set[int]:
    """States that accept every word; all of them among those from which every word has at most one run."""
    decided = _deterministic(graph)
    ending = [state for state in decided if len(graph[state]) < letters]
    refusing = accepting(graph, cases(automaton.condition, negated=True))
    return decided - refusing - reaching(graph, ending)


def _subsets(
    automaton: Hoa, graph: Graph, alphabet: Sequence[str], live: set[int]
) -> tuple[States, Callable[[States, int], States]]:
    """The live states that a word can lead to: at the start, and after one more letter."""
    following: list[list[set[int]]] = [[set() for _ in alphabet] for _ in graph]
    for state, ways in enumerate(graph):
        for way in ways:
            if way.target in live:
                following[state][way.letter].add(way.target)

    def step(states: States, letter: int) -> States:
        return frozenset[int]().union(*(following[state][letter] for state in states))

    return frozenset(automaton.initial) & live, step


def _finite(automaton: Hoa, alphabet: tuple[str, ...]) -> Automaton:
    if any(edge.marks for state in automaton.states for edge in state.edges):
        raise _unfit("over finite words it is states that accept, not transitions", "put the marks on the states")
    graph = ways_of(automaton, alphabet)
    accepted = {number for number, state in enumerate(automaton.states) if 0 in state.marks}
    start, step = _subsets(automaton, graph, alphabet, reaching(graph, accepted))

    def categories(states: States) -> frozenset[str]:
        if not states:
            return FAIL
        return MATCH if states & accepted else UNDECIDED

    return explore(
        alphabet,
        start,
        step,
        categories,
        lambda states: "" if states else "fail",
        lambda states: bool(states & accepted),
    )


def _categorised(automaton: Hoa, alphabet: tuple[str, ...]) -> Automaton:
    if len(automaton.initial) != 1:
        raise _unfit(f"a machine has one initial state, not {len(automaton.initial)}", "give it one 'Start:'")
    table: list[tuple[int, ...]] = []
    for number, ways in enumerate(ways_of(automaton, alphabet)):
        targets: list[list[int]] = [[] for _ in alphabet]
        for way in ways:
            targets[way.letter].append(way.target)
        for event, found in zip(alphabet, targets, strict=True):
            if len(found) != 1:
                raise _unfit(
                    f"state {number} has {len(found) or 'no'} transition{'s' * (len(found) > 1)} for '{event}'",
                    "a machine needs one for each event",
                )
        table.append(tuple(found[0] for found in targets))
    return Automaton(
        alphabet,
        automaton.initial[0],
        tuple(table),
        tuple(frozenset(automaton.categories[mark] for mark in state.marks) for state in automaton.states),
        tuple(state.name for state in automaton.states),
    )


def _unfit(message: str, hint: str) -> LogicError:
    return LogicError(message, code="LOGIC-041", hint=hint)
