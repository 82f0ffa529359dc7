"""The drawing of an automaton: everything is in it once, where there is room for it, marked as its slices stand."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ui import pictures

from mopsus.interactive.live.picture import Automaton, Node, Now
from mopsus.model import Acceptance
from mopsus.model.drawing import Edge
from mopsus.ui.live.drawing import draw_automaton, in_words, now_of_slice
from mopsus.ui.live.layout import MOST_STATES, lay_out

WORDS = st.text("ab <>&\"'\\_é\n", max_size=40)


@st.composite
def automata(draw):
    nodes = draw(st.lists(st.builds(Node, WORDS, WORDS, st.sampled_from(Acceptance)), min_size=1, max_size=8))
    numbers = st.integers(0, len(nodes) - 1)
    edges = draw(st.lists(st.builds(Edge, numbers, WORDS, numbers), max_size=12))
    return Automaton("p", tuple(nodes), tuple(edges), draw(st.none() | numbers))


@st.composite
def moments(draw):
    """An automaton, and where its slices are."""
    automaton = draw(automata())
    nodes = st.integers(0, len(automaton.nodes) - 1)
    edges = st.integers(0, len(automaton.edges) - 1) if automaton.edges else st.nothing()
    counts = draw(st.dictionaries(nodes, st.integers(1, 2_000_000), max_size=4))
    return automaton, Now("p", counts, tuple(draw(st.sets(nodes))), tuple(draw(st.sets(edges))))


def class_of(number, node, now):
    """How a state is marked, as the manual says it."""
    current = number in now.counts
    was = number in now.previous and not current
    return {"state", node.acceptance.value, "current" * current, "previous" * was} - {""}


@settings(deadline=None, max_examples=60)
@given(moments())
def test_everything_is_drawn_and_marked(moment):
    automaton, now = moment
    layout = lay_out(automaton)
    root = ET.fromstring(draw_automaton(automaton, layout, now).replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    states = [each for each in root.iter("g") if "data-state" in each.attrib]
    assert [set(each.get("class").split()) for each in states] == [
        class_of(number, node, now) for number, node in enumerate(automaton.nodes)
    ]
    counts = [each.findtext("text[@class='count']") for each in states]
    shown = "●" if sum(now.counts.values()) == 1 else None
    assert counts == [
        (shown or f"{now.counts[number]:,}") if number in now.counts else None for number in range(len(automaton.nodes))
    ]
    ways = {each.get("data-edge"): each for each in root.iter("g") if "data-edge" in each.attrib}
    assert ways.keys() == {str(number) for number in range(len(automaton.edges))}
    assert {int(number) for number, way in ways.items() if "taken" in way.get("class").split()} == set(now.taken)
    assert (root.find("g[@class='way begin']") is not None) == (automaton.initial is not None)


@settings(deadline=None, max_examples=30)
@given(automata())
def test_no_state_lies_on_another(automaton):
    layout = lay_out(automaton)
    for number, one in enumerate(layout.boxes):
        assert one.width / 2 <= one.x + 1
        assert one.x + one.width / 2 <= layout.width + 1
        for other in layout.boxes[:number]:
            apart = abs(one.x - other.x) - (one.width + other.width) / 2
            above = abs(one.y - other.y) - (one.height + other.height) / 2
            assert max(apart, above) > 0


def test_a_long_chain_is_not_drawn_in_one_line():
    chain = Automaton(
        "p",
        tuple(Node(f"state_number_{number}") for number in range(12)),
        tuple(Edge(number, "an event that happens", number + 1) for number in range(11)),
        0,
    )
    layout = lay_out(chain)
    assert layout.height > layout.width


def test_what_is_too_large_or_cannot_be_drawn_is_not(monkeypatch, tmp_path):
    large = Automaton("p", tuple(Node(str(number)) for number in range(MOST_STATES + 1)), (), 0)
    assert lay_out(large) is None
    assert lay_out(Automaton("p", (), (), None)) is None
    lay_out.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lay_out(pictures.SHOP) is None
    (tmp_path / "dot").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "dot").chmod(0o755)
    lay_out.cache_clear()
    assert lay_out(pictures.SHOP) is None
    lay_out.cache_clear()


@pytest.mark.parametrize(
    ("slice_", "expected"),
    [
        (pictures.ticket(1, 3, 1, 1), Now("efsm", {3: 1}, (1,), (1,))),
        (pictures.ticket(2, 0), Now("efsm", {0: 1})),
    ],
)
def test_one_slice_alone(slice_, expected):
    assert now_of_slice(slice_, "efsm") == expected
    assert now_of_slice(slice_, "other") == Now("other", {})


def test_where_slices_are_is_said_in_words():
    assert in_words(pictures.SHOP, Now("efsm", {})) == "No slice is there yet."
    assert in_words(pictures.SHOP, Now("efsm", {4: 1})) == "In back_twice."
    assert in_words(pictures.SHOP, Now("efsm", {3: 2, 1: 12_000})) == "In held x12,000, sold x2."
