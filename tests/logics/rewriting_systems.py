"""Random rewriting systems, and the systems of the MOP reference."""

from __future__ import annotations

from hypothesis import strategies as st

from mopsus.logics.srs.syntax import Rule, System

ALPHABET = ("a", "b", "c")
AUXILIARY = ("X", "Y")

SAFE_LOCK = """
    begin end -> #epsilon . acquire release -> #epsilon .
    begin release -> #fail . acquire end -> #fail .
"""
SAFE_LOCK_EVENTS = ("begin", "end", "acquire", "release")

SORTING = """
    e1 e0 -> e0 e1 . e2 e0 -> e0 e2 . e2 e1 -> e1 e2 . e0 e1 -> E .
    E e1 -> e1 E . E e0 -> e0 E . E e2 -> #epsilon . e2 E -> #epsilon .
"""
EQUALITY = SORTING + "^ done -> #succeed . e0 done -> #fail . e1 done -> #fail . e2 done -> #fail . E done -> #fail ."
EQUALITY_EVENTS = ("e0", "e1", "e2", "done")

symbols = st.sampled_from(ALPHABET + AUXILIARY)


@st.composite
def rules(draw):
    """A rule that makes strings shorter, so that rewriting ends."""
    left = tuple(draw(st.lists(symbols, min_size=1, max_size=4)))
    verdict = draw(st.sampled_from((None, None, None, "fail", "succeed")))
    right = () if verdict else tuple(draw(st.lists(symbols, max_size=len(left) - 1)))
    anchors = st.sampled_from((False, False, False, True))
    return Rule(left, right, verdict, draw(anchors), draw(anchors))


@st.composite
def systems(draw):
    """Confluent or not; every auxiliary symbol of a left side is brought in by some right side."""
    made = draw(st.lists(rules(), min_size=1, max_size=5))
    known = set(ALPHABET)
    while True:  # a rule that goes may have brought in what another one needs
        kept = [rule for rule in made if known.union(*(other.right for other in made)).issuperset(rule.left)]
        if len(kept) == len(made):
            return System(tuple(kept) or (Rule(("a", "b")),), ALPHABET, AUXILIARY)
        made = kept


words = st.lists(st.sampled_from(ALPHABET), max_size=9).map(tuple)
