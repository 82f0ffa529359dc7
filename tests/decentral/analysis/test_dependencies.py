"""Who depends on whom, and circles, against searching all ways."""

from __future__ import annotations

from itertools import permutations

import pytest
from decentral.support import networks
from hypothesis import given

from mopsus.decentral.analysis.dependencies import (
    DependencyPicture,
    cycles,
    dependencies,
    dependencies_first,
    refuse_cycles,
)
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import specification_of
from mopsus.logics import draw


def test_light_switch():  # the reference's vector
    lights = specification_of({"m0": "G(s -> X(@m1 U !s))", "m1": "l"})
    assert dependencies(lights) == {"m0": {"m1"}, "m1": frozenset()}
    refuse_cycles(lights)
    assert draw(DependencyPicture(lights), "text", "lights") == (
        "lights: who tells whom its verdicts\n * m0\n   m1\n       verdicts -> m0\n"
    )


def test_a_circle_is_shown():
    ring = specification_of({"root": "@a", "a": "x | @b", "b": "y & X @c", "c": "F @a"})
    with pytest.raises(DecentralError, match="a -> b -> c -> a") as caught:
        refuse_cycles(ring)
    assert caught.value.code == "DECENTRAL-025"
    assert cycles(dependencies(ring)) == (("a", "b", "c"),)


@given(graph=networks)
def test_cycles(graph):
    def leads(way):
        return all(after in graph[before] for before, after in zip(way, (*way[1:], way[0]), strict=True))

    ways = [way for size in range(1, 5) for way in permutations(graph, size) if leads(way)]
    found = cycles(graph)
    for cycle in found:
        assert cycle in ways
        assert len(cycle) == min(len(way) for way in ways if cycle[0] in way)
    assert len({name for cycle in found for name in cycle}) == sum(map(len, found))
    for way in ways:
        assert any(leads(cycle) and set(way) & reached(cycle[0], graph) for cycle in found)
    if not found:
        order = dependencies_first(graph)
        assert sorted(order) == sorted(graph)
        assert all(order.index(other) < order.index(name) for name in graph for other in graph[name])


def reached(start, graph):
    found = {start}
    while more := {other for name in found for other in graph[name]} - found:
        found |= more
    return found
