"""The worked runs of the literature through every way into the engine."""

from __future__ import annotations

from random import Random

import pytest
from monitor.ways import WAYS
from oracle.strategies import Case
from oracle.vectors import load_vectors

from mopsus.monitor import Monitor

VECTORS = load_vectors()


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_golden_vectors(vector, way):
    assert way.reports(Case(vector.spec, vector.trace), Random(0)) == vector.reports


def test_an_instance_that_can_reach_no_goal_is_never_created():
    vector = VECTORS[0]
    with Monitor(vector.spec) as monitor:
        for event, binding, _ in vector.trace:
            monitor.emit(event, **binding)
        # <m1,c1>, <m2,c2> and <m1,c1,i1>, but not <m2,c2,i1>
        assert monitor.stats().created == 3
