"""Minimisation against the naive method, and what it keeps of names and categories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from logics.formulas import ALPHABET, automata, compiled, expressions, run, words

from mopsus.logics import Request, distinguish, load_logic
from mopsus.logics.machines.automaton import Automaton
from mopsus.logics.machines.minimise import minimise

GOALS = st.frozensets(st.sampled_from(("x", "y")))


def classes(automaton, goal):
    """Moore's method: split until nothing changes; gives the class of each state."""
    of = [frozenset(held & goal) for held in automaton.categories]
    while True:
        finer = [(of[state], *(of[target] for target in row)) for state, row in enumerate(automaton.table)]
        if len(set(finer)) == len(set(of)):
            return of
        of = finer


def reachable(automaton):
    found, work = {automaton.initial}, [automaton.initial]
    while work:
        fresh = set(automaton.table[work.pop()]) - found
        found |= fresh
        work += fresh
    return found


@given(automaton=automata(max_states=9), goal=GOALS)
def test_result_is_as_small_as_the_naive_method_says(automaton, goal):
    of = classes(automaton, goal)
    small = minimise(automaton, goal)
    assert len(small.table) == len({of[state] for state in reachable(automaton)})
    assert len(set(classes(small, goal))) == len(small.table)


@given(automaton=automata(max_states=9), goal=GOALS, word=words)
def test_result_has_the_same_goal_categories_after_every_word(automaton, goal, word):
    small = minimise(automaton, goal)
    for before, after in zip(run(automaton, word), run(small, word), strict=True):
        assert automaton.categories[before] & goal == small.categories[after] & goal
        assert small.categories[after] <= automaton.categories[before]


@given(automaton=automata(max_states=9), goal=GOALS, data=st.data())
def test_result_does_not_depend_on_the_numbering_of_states(automaton, goal, data):
    order = data.draw(st.permutations(range(len(automaton.table))))
    place = {state: number for number, state in enumerate(order)}
    shuffled = Automaton(
        ALPHABET,
        place[automaton.initial],
        tuple(tuple(place[target] for target in automaton.table[state]) for state in order),
        tuple(automaton.categories[state] for state in order),
        tuple(automaton.names[state] for state in order),
    )
    one, other = minimise(automaton, goal), minimise(shuffled, goal)
    assert (one.table, one.categories) == (other.table, other.categories)


@given(expression=expressions, goal=st.frozensets(st.sampled_from(("match", "fail")), min_size=1))
def test_finished_machines_are_minimal(expression, goal):
    machine = load_logic("ere").compile(expression, Request(ALPHABET, goal))
    assert len(set(classes(machine, goal))) == len(machine.table)


@given(automaton=automata(), other=automata(), goal=GOALS)
def test_distinguishing_trace_distinguishes_and_is_shortest(automaton, other, goal):
    trace = distinguish(automaton, other, goal)
    if trace is None:
        assert distinguish(other, automaton, goal) is None
        return
    differs = [
        automaton.categories[mine] & goal != other.categories[theirs] & goal
        for mine, theirs in zip(run(automaton, trace), run(other, trace), strict=True)
    ][1:]
    assert differs == [False] * (len(trace) - 1) + [True]
    assert len(distinguish(other, automaton, goal)) == len(trace)


def test_equal_automata_are_not_distinguished():
    machine = compiled("ere", "(a b)*", "a b", "match", "fail")
    assert distinguish(machine, compiled("ere", "epsilon | (a b)+", "b a", "match", "fail"), machine.goal) is None
    assert distinguish(machine, compiled("ere", "(a b)+ a", "a b", "match", "fail"), machine.goal) == ("a", "b")


def test_only_handled_categories_keep_states_apart_and_names_stay_readable():
    text = "idle [ go -> left, jump -> right ] left [ go -> idle ] right [ go -> idle ]"
    machine = compiled("fsm", text, "go jump", "fail")
    assert machine.names == ("idle", "left/right", "fail")
    assert machine.categories[1] == frozenset()
    assert compiled("fsm", text, "go jump", "fail", "left").names == ("idle", "left", "right", "fail")


def test_long_merged_names_are_cut():
    states = " ".join(f"q{n} [ a -> q{n + 1} ]" for n in range(5)) + " q5 [ a -> q5 ]"
    assert compiled("fsm", states, "a", "fail").names == ("q0/q1/q2/…",)
