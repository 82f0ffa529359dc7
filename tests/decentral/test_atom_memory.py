"""Memories of the core against dictionaries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from oracle import ehe

from mopsus import _core

memories = st.dictionaries(st.tuples(st.integers(0, 6), st.integers(0, 3)), st.booleans())


def made(known):
    return _core.Memory([(*atom, value) for atom, value in known.items()])


def content(memory):
    return {(time, put): value for time, put, value in memory.observations()}


@given(memories)
def test_what_was_added_is_there_in_order(known):
    memory = made(known)
    assert content(memory) == known
    assert memory.observations() == sorted(memory.observations())
    assert len(memory) == len(known)
    for time in range(7):
        for put in range(4):
            assert memory.get(time, put) == known.get((time, put))


@given(memories, memories, memories)
def test_merging_is_the_join_of_the_definition(a, b, c):
    whole = made(a)
    whole.merge(made(b))
    assert content(whole) == ehe.replace(a, b)
    reverse = made(b)
    reverse.merge(made(a))
    assert whole == reverse
    whole.merge(made(c))
    right = made(b)
    right.merge(made(c))
    left = made(a)
    left.merge(right)
    assert whole == left
    left.merge(whole)
    assert left == whole


@given(memories, st.integers(0, 7))
def test_dropping_forgets_all_up_to_a_timestamp(known, time):
    memory = made(known)
    copy = memory.copy()
    assert memory.drop(time) == sum(at <= time for at, _ in known)
    assert content(memory) == {atom: value for atom, value in known.items() if atom[0] > time}
    assert content(copy) == known
    copy.clear()
    assert len(copy) == 0
