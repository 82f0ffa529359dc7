"""Enable, coenable, creation, finality and aliveness against exhaustive enumeration of words."""

from __future__ import annotations

from itertools import combinations, product
from unittest.mock import patch

import pytest
from hypothesis import given
from logics.formulas import ALPHABET, automata, compiled, expressions, requests
from oracle.machines import analysed

from mopsus.logics import Request, load_logic
from mopsus.logics.machines import analyse
from mopsus.logics.machines.finish import finish

LENGTH = 6
"""Long enough for every event set of a machine of two states over three events."""

LENGTH_WITH_RESETS = 3
"""Each event can then end in two ways, so words must be shorter."""


def runs(machine, request, start, length):
    """Every way the machine can go in `length` events from `start`, as lists of (event, reported, state after)."""
    ways = [((), start)]
    for _ in range(length):
        ways = [
            ((*steps, (event, reported(machine, state, target), landing)), landing)
            for steps, state in ways
            for event, target in zip(machine.alphabet, machine.table[state], strict=True)
            for landing in landings(machine, request, state, target)
        ]
    return [steps for steps, _ in ways]


def landings(machine, request, source, target):
    """Where the machine can be after a transition: a handler of what it reports may have reset it."""
    reset = request.interrupted or reported(machine, source, target) & request.restart
    return {target, machine.initial} if reset else {target}


def reported(machine, source, target):
    return (machine.categories[target] & machine.goal) - (machine.final[target] & machine.final[source])


def events(steps):
    return frozenset(event for event, _, _ in steps)


def small_machines(test):
    return given(automaton=automata(max_states=3), request=requests())(test)


@small_machines
def test_enable_and_coenable_sets_are_those_of_all_words(automaton, request):
    machine = finish(automaton, request)
    resets = request.restart or request.interrupted
    length = LENGTH_WITH_RESETS if resets else LENGTH
    exact = not resets and len(machine.table) <= 2
    enable = {category: {event: set() for event in ALPHABET} for category in request.goal}
    coenable = {category: {event: set() for event in ALPHABET} for category in request.goal}
    for steps in runs(machine, request, machine.initial, length):
        for end, (_, categories, _) in enumerate(steps, 1):
            for category in categories:
                for at in range(end):
                    event = steps[at][0]
                    enable[category][event].add(events(steps[:at]))
                    if at + 1 < end:
                        coenable[category][event].add(events(steps[at + 1 : end]))
    for category, event in product(request.goal, ALPHABET):
        # Every set found by enumeration must be there; what a longer word alone gives may be there too.
        assert enable[category][event] <= machine.enable[category][event]
        assert coenable[category][event] <= machine.coenable[category][event]
        if exact:
            assert enable[category][event] == machine.enable[category][event]
            assert coenable[category][event] == machine.coenable[category][event]
    first = {event for families in machine.enable.values() for event in ALPHABET if frozenset() in families[event]}
    assert machine.creation == first


@small_machines
def test_alive_sets_are_the_minimal_ones(automaton, request):
    machine = finish(automaton, request)
    for state in range(len(machine.table)):
        found = set()
        sources = [source for source, row in enumerate(machine.table) if state in row]
        for start in {state}.union(*(landings(machine, request, source, state) for source in sources)):
            for steps in runs(machine, request, start, 3):
                found |= {events(steps[: end + 1]) for end, (_, categories, _) in enumerate(steps) if categories}
        minimal = {one for one in found if not any(other < one for other in found)}
        if len(machine.table) <= 2:
            assert machine.alive[state] == minimal
        for one in found:
            assert any(kept <= one for kept in machine.alive[state])
        assert all(not one < other for one in machine.alive[state] for other in machine.alive[state])


@given(automaton=automata(max_states=5), request=requests())
def test_first_event_reports_what_holds_then(automaton, request):
    machine = finish(automaton, request)
    for letter, target in enumerate(machine.table[machine.initial]):
        wanted = automaton.categories[automaton.table[automaton.initial][letter]] & request.goal
        assert reported(machine, machine.initial, target) == wanted


@given(automaton=automata(max_states=5), request=requests())
def test_analyses_keep_within_those_of_every_word_that_holds_a_goal(automaton, request):
    machine = finish(automaton, request)
    wide = analysed(
        machine.alphabet,
        machine.initial,
        machine.table,
        machine.categories,
        machine.goal,
        request.restart,
        anytime=request.interrupted,
    )
    for category, event in product(request.goal, ALPHABET):
        assert machine.enable[category][event] <= wide.enable[category][event]
    # How a reset ends a final verdict is seen differently there, so these are compared without one.
    if not request.restart and not request.interrupted:
        assert machine.final == wide.final
        assert machine.alive == wide.alive


@given(expression=expressions)
def test_suffix_machine_is_created_by_what_begins_a_match(expression):
    ere = load_logic("ere")
    whole = ere.compile(expression, Request(ALPHABET, frozenset({"match"})))
    suffix = ere.compile(expression, Request(ALPHABET, frozenset({"match"}), suffix=True))
    assert suffix.creation == whole.creation
    for event in suffix.creation:
        assert frozenset() in suffix.enable["match"][event]


def test_sets_are_kept_by_the_state_that_is_reached():
    # The smallest machine on which keying them by the state that is left loses sets (mop.md §4.13).
    machine = compiled("fsm", "zero [ b -> one, c -> zero ] one [ a -> zero ]", "a b c", "one")
    everything = [frozenset(part) for size in range(4) for part in combinations("abc", size)]
    after_b = {part for part in everything if "b" in part}
    assert machine.enable["one"]["a"] == after_b
    assert machine.enable["one"]["c"] == {frozenset(), frozenset("c"), frozenset("ab"), frozenset("abc")}


def wide(events, alike=(), **more):
    """`(e0 | e1 | …)* done done` over many events: its exact sets are all subsets."""
    names = [f"e{number}" for number in range(events)]
    return compiled("ere", f"({' | '.join(names)})* done done", " ".join([*names, "done"]), alike=alike, **more)


def test_sixteen_ordinary_events_are_exact():
    names = [f"e{number}" for number in range(16)]
    machine = compiled("ere", " ".join(names), " ".join(names))
    assert machine.enable["match"]["e15"] == {frozenset(names[:15])}
    assert machine.alive[machine.initial] == {frozenset(names)}


def test_too_many_sets_become_unrestricted():
    machine = wide(14)
    assert machine.enable == {"match": {}}
    assert machine.coenable["match"]["e0"] == {frozenset()}
    assert machine.creation == set(machine.alphabet)
    # Aliveness keeps minimal sets only, and these are few.
    assert machine.alive[machine.initial] == {frozenset({"done"})}


def test_too_many_sets_are_told_by_groups_where_that_suffices():
    group = frozenset(f"e{number}" for number in range(14))
    machine = wide(14, alike=(group, frozenset({"done"})))
    done = frozenset({"done"})
    assert machine.enable["match"]["done"] == {frozenset(), group, done, group | done}
    assert machine.enable["match"]["e3"] == {frozenset(), group}
    assert machine.coenable["match"]["e3"] == {done, group | done}


@pytest.mark.parametrize("limit", [0, 1, 3])
@given(automaton=automata(max_states=4), request=requests())
def test_bounded_answers_cover_the_exact_ones(automaton, request, limit):
    exact = finish(automaton, request)
    with patch.object(analyse, "MAX_SETS", limit):
        rough = finish(automaton, request)
    assert rough.creation == exact.creation
    for category, event in product(request.goal, ALPHABET):
        assert event not in rough.enable[category] or rough.enable[category][event] == exact.enable[category][event]
        assert rough.coenable[category][event] in ({frozenset()}, exact.coenable[category][event])
    for state, family in enumerate(rough.alive):
        assert bool(family) == bool(exact.alive[state])
        assert family in ({frozenset()}, exact.alive[state])
