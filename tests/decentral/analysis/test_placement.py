"""Placements against trying them all."""

from __future__ import annotations

from itertools import product

import pytest
from decentral.support import networks, pins, systems
from hypothesis import given

from mopsus.decentral.analysis import placement
from mopsus.decentral.analysis.placement import best_placement, compatible_placement, network_of, place
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import specification_of
from mopsus.decentral.system import Link, System


def all_placements(network, system, pinned):
    """By the definition: whatever a monitor's messages reach, its component must reach."""
    ways = {(one, other) for one in network for other in reach(one, network)}
    for choice in product(system.components, repeat=len(network)):
        placed = dict(zip(network, choice, strict=True))
        if all(placed[name] == where for name, where in pinned.items()) and all(
            placed[other] in system.costs[placed[one]] for one, other in ways
        ):
            yield placed


def reach(start, network):
    found = {start}
    while more := {other for name in found for other in network[name]} - found:
        found |= more
    return found


@given(network=networks, system=systems, pinned=pins)
def test_against_all_placements(network, system, pinned):
    every = list(all_placements(network, system, pinned))
    some = compatible_placement(network, system, pinned)
    best = best_placement(network, system, pinned)
    assert (some is None) == (best is None) == (not every)
    if every:
        assert some in every
        assert best.components in every

        def cost(placed):
            return sum(system.costs[placed[one]][placed[other]] for one in network for other in network[one])

        assert best.cost == cost(best.components) == min(map(cost, every))


def test_the_example_of_the_reference():
    links = (Link("c0", "c1"), Link("c0", "c2"), Link("c2", "c3"), Link("c1", "c2"))
    system = System(dict.fromkeys(("c0", "c1", "c2", "c3"), ()), links)
    network = {"m0": frozenset({"m1"}), "m1": frozenset(), "m2": frozenset({"m1"})}
    found = compatible_placement(network, system, {"m0": "c0", "m2": "c2"})
    assert found["m1"] in ("c2", "c3")
    assert compatible_placement(network, system, {"m0": "c0", "m2": "c2", "m1": "c1"}) is None


def test_a_specification_is_placed():
    rooms = {"office": ("a",), "hall": ("b",), "roof": ()}
    spec = specification_of({"root": "@m1 | @m2", "m1": "a", "m2": "b"})
    assert network_of(spec) == {"root": frozenset(), "m1": {"root"}, "m2": {"root"}}
    far = System(rooms, (Link("office", "roof", 1), Link("hall", "roof", 1)))
    assert place(spec, far).components == {"root": "roof", "m1": "office", "m2": "hall"}
    assert place(spec, System(rooms)).cost == 1
    apart = System(rooms, (Link("office", "roof"),))
    with pytest.raises(DecentralError, match="no placement") as caught:
        place(spec, apart)
    assert caught.value.code == "DECENTRAL-026"
    pinned = specification_of({"root": "a & @m", "m": "b"})
    with pytest.raises(DecentralError) as caught:
        place(pinned, apart)
    assert "'m' on 'hall' are needed by 'root' on 'office'" in caught.value.hint


def test_too_many_tries(monkeypatch):
    monkeypatch.setattr(placement, "MAX_TRIES", 2)
    network = {name: frozenset("abcdef") for name in "abcdef"}
    with pytest.raises(DecentralError) as caught:
        best_placement(network, System(dict.fromkeys("ABC", ())), {})
    assert caught.value.code == "DECENTRAL-027"
