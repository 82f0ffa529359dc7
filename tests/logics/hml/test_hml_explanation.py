"""The explanations that the monitor gives: their steps are right, and the verdict follows from them alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from oracle.modal import cases
from oracle.symbolic import WORKER, spec_of

from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.explanation import verdict_of
from mopsus.logics.hml.parse import parse_whole
from mopsus.logics.hml.printer import print_whole
from mopsus.model.term import Atom
from mopsus.monitor import Monitor
from mopsus.spec.hml.events import FIELDS


def explained(logic, text, word):
    """The first verdict on a word whose events are rows of a trace."""
    monitor = Monitor(spec_of(logic, text))
    for number, (name, data) in enumerate(word, 1):
        values = dict(zip(FIELDS[name], data, strict=True))
        monitor.row(name, {"component": WORKER, **values}, row=number, source="trace")
    return next(iter(monitor.verdicts), None)


def check(case, *, linear):
    text = print_whole(case[0])
    verdict = explained("maxhml" if linear else "shml", text, case[1])
    if verdict is not None:
        found = verdict_of(Reading(linear), parse_whole(text, ()), text, verdict.steps)
        assert found == verdict.category


@given(cases(linear=True))
def test_linear(case):
    check(case, linear=True)


@given(cases(linear=False))
def test_sets_of_obligations(case):
    check(case, linear=False)


TEXT = "with jobs:worker(A) monitor max X.([_ ? B when B =:= A]ff and [_ ? _]X)"
WORD = [
    ("start", ("jobs", "worker", [3])),
    ("recv", (WORKER, 1)),
    ("recv", (WORKER, Atom("a"))),
    ("recv", (WORKER, 3)),
]


def test_rounds_of_a_loop_that_change_nothing_are_left_out():
    verdict = explained("shml", TEXT, WORD)
    assert [(step.row, step.modality, step.fitted, dict(step.binding), step.unfolded) for step in verdict.steps] == [
        (1, "with", True, {"A": 3}, ("X",)),
        (4, "[_ ? B when B =:= A]", True, {"B": 3}, ()),
    ]


def test_what_bound_the_values_is_told():
    text = (
        "with jobs:worker(_) monitor max X.([_ ? {job, N}]max Y.("
        "[_:_ ! M when M =:= N]X and [_:_ ! M when M =/= N]ff and [_ ? more]Y))"
    )
    job, more = Atom("job"), ("recv", (WORKER, Atom("more")))
    word = [
        ("start", ("jobs", "worker", [3])),
        ("recv", (WORKER, (job, 1))),
        more,
        ("send", (WORKER, WORKER, 1)),
        ("recv", (WORKER, (job, 2))),
        more,
        more,
        ("send", (WORKER, WORKER, 1)),
    ]
    verdict = explained("shml", text, word)
    assert [(step.row, dict(step.binding), step.unfolded) for step in verdict.steps] == [
        (1, {}, ("X",)),
        (5, {"N": 2}, ("Y",)),
        (8, {"M": 1}, ()),
    ]
    assert verdict_of(Reading(False), parse_whole(text, ()), text, verdict.steps) == "rejection"


def test_a_step_left_out_is_noticed():
    verdict = explained("shml", TEXT, WORD)
    whole = parse_whole(TEXT, ())
    assert verdict_of(Reading(False), whole, TEXT, verdict.steps) == "rejection"
    assert verdict_of(Reading(False), whole, TEXT, verdict.steps[:-1]) is None
    wrong = replace(verdict.steps[-1], data=(WORKER, 4))
    assert verdict_of(Reading(False), whole, TEXT, (*verdict.steps[:-1], wrong)) is None
    with pytest.raises(ValueError, match="does not begin"):
        verdict_of(Reading(False), whole, TEXT, verdict.steps[1:])
