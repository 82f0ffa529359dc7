"""Random runs, and encodings of them that know a part."""

from __future__ import annotations

from hypothesis import strategies as st
from oracle import ehe
from oracle.ehe import Atom
from oracle.tables import Table, tables

from mopsus import _core


@st.composite
def runs(draw, states=3, inputs=2, length=3):
    """An automaton, a trace of it, and all observations that could be made."""
    table = draw(tables(states, inputs))
    letter = st.tuples(*[st.booleans()] * table.inputs)
    trace = draw(st.lists(letter, min_size=1, max_size=length))
    return table, trace, [(time, put, value) for time, each in enumerate(trace, 1) for put, value in enumerate(each)]


@st.composite
def partly_known(draw, **sizes):
    table, trace, everything = draw(runs(**sizes))
    return table, trace, draw(st.lists(st.sampled_from(everything), unique=True))


def new(table: Table, ticks: int) -> _core.Ehe:
    encoding = _core.Ehe(table.core)
    for _ in range(ticks):
        encoding.tick()
    return encoding


def informed(table, ticks, observations):
    encoding = new(table, ticks)
    for each in observations:
        encoding.learn(*each)
    return encoding


def known(observations):
    return {Atom(time, str(put)): value for time, put, value in observations}


def defined(table, trace):
    return ehe.mov(table.labelled, {(0, 0): True}, 0, len(trace))


def expression(encoding, time, state):
    return ehe.disjunction(
        ehe.conjunction(Atom(at, str(put)) if value else ("not", Atom(at, str(put))) for at, put, value in product)
        for product in encoding.expression(time, state)
    )


def states_of(table, trace):
    """The run of the automaton that sees everything."""
    states = [0]
    for letter in trace:
        states.append(table.step(states[-1], letter))
    return states


@st.composite
def replicas(draw, count, **sizes):
    """Replicas of one run that have seen different parts of it, to different timestamps, and have forgotten some."""
    table, trace, everything = draw(runs(**sizes))
    made = []
    for _ in range(count):
        end = draw(st.integers(0, len(trace)))
        seen = [each for each in draw(st.lists(st.sampled_from(everything), unique=True)) if each[0] <= end]
        replica = informed(table, end, seen)
        while draw(st.booleans()) and replica.resolve():
            if draw(st.booleans()):
                replica.drop_resolved()
        made.append(replica)
    return table, trace, made
