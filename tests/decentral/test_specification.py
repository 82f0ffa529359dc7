"""Systems and specifications: what they say, and what they refuse."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Specification, monitor_of, specification_of
from mopsus.decentral.system import Link, System

LIGHTS = specification_of({"root": "G(s -> X(@m1 U !s))", "m1": "l"})
ROOM = System({"switch": ("s",), "bulb": ("l",)})


def refused(make, code):
    with pytest.raises(DecentralError) as caught:
        make()
    assert caught.value.code == code
    return caught.value


def test_who_reads_what():
    root = LIGHTS.monitors["root"]
    assert (root.dependencies, root.propositions) == ({"m1"}, {"s"})
    assert LIGHTS.pins(ROOM) == {"root": "switch", "m1": "bulb"}
    assert monitor_of("m", "a & (@x | !@x)").dependencies == set()


def test_the_root():
    assert LIGHTS.root == "root"
    assert specification_of({"a": "x", "b": "@a"}).root == "b"
    assert specification_of({"a": "x", "b": "@a"}, "a").root == "a"
    assert specification_of({"root": "x", "b": "@root"}).root == "root"


def test_a_centralized_specification_reads_all():
    alone = specification_of({"root": "G(s -> X(l U !s))"})
    assert alone.centralized
    assert alone.pins(ROOM) == {}
    placed = Specification({"root": monitor_of("root", "G(s -> l)", place="bulb")})
    assert placed.pins(ROOM) == {"root": "bulb"}


def test_what_is_refused():
    two = refused(lambda: System({"A": ("a", "b"), "B": ("b",)}), "DECENTRAL-020")
    assert "'b' is observed by 'A' and by 'B'" in str(two)
    refused(lambda: System({"A": ()}, (Link("A", "C"),)), "DECENTRAL-021")
    for cost in (-1, float("nan"), float("inf")):
        refused(lambda cost=cost: System({"A": (), "B": ()}, (Link("A", "B", cost),)), "DECENTRAL-021")
    refused(lambda: specification_of({"m": "a"}, "n"), "DECENTRAL-024")
    assert "m, n" in refused(lambda: specification_of({"m": "a", "n": "b"}).root, "DECENTRAL-024").hint
    refused(lambda: specification_of({"m": "a | @n", "n": "b | @m"}).root, "DECENTRAL-024")
    refused(lambda: specification_of({"root": "@root"}), "DECENTRAL-023")
    missing = refused(lambda: specification_of({"root": "@lihgt", "light": "l"}), "DECENTRAL-023")
    assert missing.hint == "did you mean 'light'?"
    far = specification_of({"root": "s & l & @m", "m": "s"})
    refused(lambda: far.pins(ROOM), "DECENTRAL-022")
    nowhere = specification_of({"root": "s & @m", "m": "x"})
    refused(lambda: nowhere.pins(ROOM), "DECENTRAL-022")
    misplaced = Specification({"root": monitor_of("root", "@m"), "m": monitor_of("m", "l", place="switch")})
    refused(lambda: misplaced.pins(ROOM), "DECENTRAL-022")
    lost = Specification({"root": monitor_of("root", "l", place="attic")})
    refused(lambda: lost.pins(ROOM), "DECENTRAL-021")


links = st.lists(st.builds(Link, st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.integers(0, 5)), max_size=8)


@given(links=links)
def test_cheapest_ways(links):
    system = System(dict.fromkeys("ABCD", ()), tuple(links))
    for one in "ABCD":
        for other in "ABCD":
            ways = []
            between = set("ABCD") - {one, other}
            for count in range(len(between) + 1):
                for middle in permutations(sorted(between), count):
                    stops = [one, *middle, other] if one != other else [one]
                    steps = [
                        min((link.cost for link in links if (link.source, link.target) == step), default=None)
                        for step in pairwise(stops)
                    ]
                    if None not in steps:
                        ways.append(sum(steps))
            assert system.costs[one].get(other) == min(ways, default=None)


def test_everyone_reaches_everyone_without_links():
    assert System({"A": (), "B": ()}).costs == {"A": {"A": 0, "B": 1}, "B": {"A": 1, "B": 0}}
