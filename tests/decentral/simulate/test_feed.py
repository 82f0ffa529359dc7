"""Observations by event and by change are the same run."""

from __future__ import annotations

import pytest
from decentral.support import OWN, PROPOSITIONS, traces
from hypothesis import given
from logics.temporal_formulas import formulas

from mopsus.decentral import DecentralError, System, monitor_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.core import KnowledgeError
from mopsus.decentral.simulate.feed import Change, Changes, feed_of
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.specification import Specification
from mopsus.logics.temporal.syntax import FUTURE

SYSTEM = System(OWN)


def changes_of(trace):
    found = {name: [] for name in OWN}
    for name, own in OWN.items():
        values = dict.fromkeys(own, False)
        for time, events in enumerate(trace, 1):
            found[name] += [Change(time, each, value) for each, value in events[name].items() if values[each] != value]
            values = events[name]
    return Changes(len(trace), found)


@pytest.mark.parametrize("name", ["orch", "migr", "migrr"])
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=5), trace=traces(7))
def test_a_value_that_does_not_change_is_seen_again(name, formula, trace):
    task = Task(Specification({"root": monitor_of("root", formula)}), SYSTEM)
    algorithm = load_algorithm(name)
    parts = set_up(algorithm, task)
    events = {component: [each[component] for each in trace] for component in OWN}
    dense = simulate(parts, task, events, algorithm=algorithm)
    held = simulate(parts, task, changes_of(trace), algorithm=algorithm)
    assert (held.verdict, held.time, held.round) == (dense.verdict, dense.time, dense.round)
    assert held.measures == dense.measures


def test_observations_can_be_listed():
    events = {"A": [{"a0": True}, {}, {"a1": False}], "C": [{"c0": True}]}
    assert list(feed_of(SYSTEM, events).observations()) == [
        (1, "A", {"a0": True}),
        (1, "C", {"c0": True}),
        (3, "A", {"a1": False}),
    ]
    changes = Changes(5, {"A": [Change(2, "a0", True), Change(2, "a1", True)], "C": [Change(1, "c0", True)]})
    feed = feed_of(SYSTEM, changes)
    assert feed.length == 5
    assert list(feed.observations()) == [(1, "C", {"c0": True}), (2, "A", {"a0": True, "a1": True})]


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ({"Z": []}, DecentralError, "'Z', which is no component"),
        ({"A": [{"b0": True}]}, DecentralError, "observes 'b0', which is none"),
        (Changes(3, {"A": [Change(1, "b0", True)]}), DecentralError, "observes 'b0'"),
        (Changes(3, {"A": [Change(4, "a0", True)]}), KnowledgeError, "no timestamp 4"),
        (Changes(3, {"A": [Change(2, "a0", True), Change(1, "a0", False)]}), KnowledgeError, "order of their times"),
    ],
)
def test_what_does_not_fit_is_refused(source, error, words):
    with pytest.raises(error, match=words):
        feed_of(SYSTEM, source)
