"""The worked runs of the literature through every way into the engine."""

from __future__ import annotations

from random import Random

import pytest
from monitor.ways import WAYS
from oracle.strategies import Case
from oracle.vectors import load_vectors

from mopsus.monitor import Monitor
from mopsus.spec import parse_file

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


def test_a_reset_under_suffix_ends_the_match_and_not_those_that_have_begun():
    """Three `next` in a row are two pairs; a handler that resets used to forget the second one."""
    text = "suffix HasNext(i) {\n event hasnext(i)\n event next(i)\n ere : next next\n @match { __RESET }\n}\n"
    for logic in ("ere : next next", "cfg : S -> next next"):
        spec = parse_file(text.replace("ere : next next", logic), "s.mop", logics=("ere", "cfg")).specs["HasNext"]
        monitor = Monitor(spec)
        for row, event in enumerate(["hasnext", "hasnext", "next", "next", "next", "hasnext", "next"], 1):
            monitor.row(event, {"i": "i1"}, row=row)
        assert [verdict.row for verdict in monitor.verdicts] == [4, 5]


def test_an_action_that_resets_forgets_all_matches_that_have_begun():
    text = "suffix Pair(i) {\n event go(i)\n event stop(i) { __RESET }\n ere : go (stop | go)\n}\n"
    monitor = Monitor(parse_file(text, "s.mop", logics=("ere",)).specs["Pair"])
    for event in ("go", "stop", "go"):
        monitor.row(event, {"i": 1})
    assert monitor.verdicts == []


def test_every_reports_a_final_verdict_again():
    text = "every Once(i) {\n event a(i)\n event b(i)\n ptltl : [*] a\n}\n"
    monitor = Monitor(parse_file(text, "s.mop", logics=("ptltl",)).specs["Once"])
    for row, event in enumerate("abab", 1):
        monitor.row(event, {"i": 1}, row=row)
    assert [(verdict.row, verdict.final) for verdict in monitor.verdicts] == [(2, True), (3, True), (4, True)]
