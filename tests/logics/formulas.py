"""Random formulas and words, and the reports of a machine along a word read off its table."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from mopsus.logics import Request, load_logic
from mopsus.logics.ere.syntax import Ere, Op, combine
from mopsus.logics.fsm.syntax import FAIL, Fsm, State
from mopsus.logics.machines.automaton import Automaton

ALPHABET = ("a", "b", "c")

words = st.lists(st.sampled_from(ALPHABET), max_size=7).map(tuple)


def _operators(inner):
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    one = inner.map(lambda part: (part,))
    return st.one_of(
        st.builds(combine, st.sampled_from((Op.OR, Op.AND, Op.SEQUENCE, Op.SEQUENCE)), several),
        st.builds(combine, st.sampled_from((Op.NOT, Op.STAR, Op.PLUS)), one),
        st.builds(lambda part, count: combine(Op.POWER, part, count=count), one, st.integers(0, 3)),
    )


expressions = st.recursive(
    st.one_of(
        st.sampled_from(ALPHABET).map(lambda name: Ere(Op.EVENT, event=name)),
        st.sampled_from((Ere(Op.EMPTY), Ere(Op.EPSILON))),
    ),
    _operators,
    max_leaves=7,
)


@st.composite
def state_machines(draw):
    names = [f"q{number}" for number in range(draw(st.integers(1, 5)))]
    targets = st.sampled_from([*names, FAIL])
    states = tuple(
        State(name, draw(st.dictionaries(st.sampled_from(ALPHABET), targets)), draw(st.none() | targets))
        for name in names
    )
    members = st.lists(targets, min_size=1, max_size=3, unique=True).map(tuple)
    return Fsm(states, draw(st.dictionaries(st.sampled_from(("g", "h")), members)), ALPHABET)


@st.composite
def automata(draw, max_states=5, categories=("x", "y")):
    """Complete automata with overlapping categories, all states reachable or not."""
    size = draw(st.integers(1, max_states))
    row = st.tuples(*(st.integers(0, size - 1) for _ in ALPHABET))
    held = st.frozensets(st.sampled_from(categories), max_size=len(categories))
    return Automaton(
        ALPHABET,
        draw(st.integers(0, size - 1)),
        tuple(draw(row) for _ in range(size)),
        tuple(draw(held) for _ in range(size)),
        tuple(f"q{number}" for number in range(size)),
    )


@st.composite
def requests(draw, categories=("x", "y")):
    goal = draw(st.frozensets(st.sampled_from(categories), min_size=1))
    restart = draw(st.just(frozenset()) | st.frozensets(st.sampled_from(sorted(goal))))
    return Request(ALPHABET, goal, restart=restart, interrupted=draw(st.sampled_from((False, False, False, True))))


def compiled(logic, text, events, *goal, **more):
    """The machine of a formula's text over events given as one string."""
    alphabet = tuple(events.split())
    plugin = load_logic(logic)
    request = Request(alphabet, frozenset(goal or plugin.default_goal), **more)
    return plugin.compile(plugin.parse(text, alphabet), request)


def run(machine, word):
    """The states of a machine after each prefix of a word, the empty one first."""
    states = [machine.initial]
    for event in word:
        states.append(machine.table[states[-1]][machine.alphabet.index(event)])
    return states


def reported(machine, word):
    """What the machine reports at each event of a word."""
    states = run(machine, word)
    return [
        (machine.categories[after] & machine.goal) - (machine.final[after] & machine.final[before])
        for before, after in pairwise(states)
    ]
