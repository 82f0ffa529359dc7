"""Context-free golden specs and traces (mop.md, section named at each), object death and damaged snapshots."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from random import Random

import pytest
from monitor.test_cfg_verdicts import reports, spec_of

import mopsus
from mopsus.model import MopsusError
from mopsus.monitor import Monitor

SPECS = Path(__file__).resolve().parents[2] / "examples" / "specs"
LOCK = "S -> epsilon | S begin S end | S acquire S release"
LOCK_EVENTS = ("acquire", "release", "begin", "end")


def said(logic, trace, *categories, grammar=LOCK, alphabet=LOCK_EVENTS, **modifiers):
    """The events, from 1, at which each category is reported."""
    found = reports(spec_of(logic, grammar, *categories, alphabet=alphabet, **modifiers), trace.split())
    return {category: [at for at, names in enumerate(found, 1) if category in names] for category in categories}


TRACE = "begin acquire begin acquire end release release end"


@pytest.mark.parametrize("logic", ["lr_lazy", "lalr_lazy"])
def test_lazy_failures_are_reported_and_forgotten(logic):  # §4.17
    assert said(logic, TRACE, "fail") == {"fail": [5, 7]}


@pytest.mark.parametrize("logic", ["cfg", "lr", "lalr"])
def test_a_strict_failure_is_reported_once(logic):  # §4.17
    assert said(logic, TRACE, "fail") == {"fail": [5]}


@pytest.mark.parametrize("logic", ["cfg", "lr", "lr_lazy", "lalr", "lalr_lazy"])
def test_merged_tables_report_no_match_and_no_failure_within_a_nesting(logic):  # §4.17 [E]
    assert said(logic, "acquire acquire release", "match", "fail") == {"match": [], "fail": []}
    assert said(logic, "acquire acquire release release", "match", "fail") == {"match": [4], "fail": []}


@pytest.mark.parametrize("logic", ["cfg", "lr", "lalr"])
def test_the_top_is_read_again_after_every_reduction(logic):  # §4.17 [E]
    trace = "begin begin end begin end end acquire release"
    assert said(logic, trace, "match", "fail") == {"match": [6, 8], "fail": []}


def test_a_lazy_machine_with_merged_tables_undoes_reductions_before_a_failure():  # §4.17 [E]
    # With merged tables, `c` after `a d` is seen to be wrong only after `d` has become a B.
    grammar, events = "S -> a B b | c B c | a S b, B -> d", ("a", "b", "c", "d")
    for logic in ("lr_lazy", "lalr_lazy"):
        assert said(logic, "a d c c b", "match", "fail", grammar=grammar, alphabet=events) == {
            "match": [5],
            "fail": [3, 4],
        }


def test_suffix_matches_of_the_reference():  # §4.9
    events = {"alphabet": ("a", "b"), "grammar": "S -> A b, A -> A a | epsilon"}
    assert said("cfg", "a b b", "match", "fail", **events) == {"match": [2], "fail": [3]}
    assert said("cfg", "a b b", "match", suffix=True, **events) == {"match": [2, 3]}
    has_next = {"alphabet": ("hasnext", "next"), "grammar": "S -> next next"}
    assert said("cfg", "next next next hasnext next next", "match", suffix=True, **has_next) == {"match": [2, 3, 6]}


def test_an_ambiguous_grammar_of_the_reference():  # §4.17
    trace = "a b a b c c a b"
    ambiguous = {"grammar": "S -> S S | a | b S c | b c", "alphabet": ("a", "b", "c")}
    assert said("cfg", trace, "match", "fail", **ambiguous) == {"match": [1, 6, 7], "fail": []}
    assert said("cfg", trace + " c c", "match", "fail", **ambiguous) == {"match": [1, 6, 7, 9], "fail": [10]}


def failures(name, *events):
    """The events, from 1, at which a spec of the examples reports, with the values."""
    found = []
    spec = mopsus.load(SPECS / f"{name.partition('.')[0]}.mop")[name.rpartition(".")[2]]
    with spec.monitor(on_verdict=found.append) as monitor:
        return [
            (at, *verdict.binding.values())
            for at, (event, *values) in enumerate(events, 1)
            for verdict in _said(found, monitor.event(event), values)
        ]


def _said(found, emit, values):
    before = len(found)
    emit(*values)
    return found[before:]


def test_safe_lock(capsys):  # §6.1
    events = [("begin",), ("acquire", "l"), ("begin",), ("end",), ("release", "l"), ("acquire", "m"), ("end",)]
    assert failures("SafeLock.SafeLock", *events) == [(7, "m")]
    assert "improper lock use" in capsys.readouterr().out


def test_safe_lock_from_the_first_acquire():  # §6.1
    events = [("end",), ("acquire", "l"), ("begin",), ("end",), ("release", "l"), ("end",), ("release", "l")]
    assert failures("SafeLock.SafeLockFromFirstAcquire", *events) == [(7, "l")]


def test_improved_leaking_sync():  # §6.1
    events = [("sync", 1), ("begin_sync", 1), ("access", 1), ("begin_sync", 1), ("end_sync", 1), ("end_sync", 1)]
    assert failures("ImprovedLeakingSync", *events, ("access", 2), ("access", 1)) == [(8, 1)]


def test_safe_file_writer():  # §6.1
    events = [("create", 1), ("write", 1), ("create", 2), ("close", 1), ("write", 2), ("write", 1), ("close", 2)]
    assert failures("SafeFileWriter", *events) == [(6, 1)]


class Lock:
    """An object that can die."""


def test_instances_go_with_their_objects():
    spec = mopsus.parse(
        "T(l, t) { event acquire(l, t) event release(l, t) cfg : S -> epsilon | S acquire S release @fail {} }"
    )["T"]
    owner = Lock()
    with Monitor(spec) as monitor:
        for _ in range(1000):
            lock = Lock()
            monitor.emit("acquire", l=lock, t=owner)
            del lock
        gc.collect()
        assert monitor.stats().created == 1000
        assert monitor.stats().alive == 0


def test_what_a_match_still_needs_decides_who_is_kept():
    text = "T(c, i) { event create(c, i) event update(c) event next(i) cfg : S -> create N U next, "
    spec = mopsus.parse(text + "N -> N next | epsilon, U -> U update | update }")["T"]
    with Monitor(spec) as monitor:
        collection, kept = Lock(), Lock()
        for _ in range(100):
            monitor.emit("create", c=collection, i=Lock())  # an iterator that is gone can never be used again
        monitor.emit("create", c=collection, i=kept)
        gc.collect()
        assert monitor.stats().alive == 1
        monitor.emit("update", c=collection)
        del collection  # an update has come already, so the match only needs the iterator
        gc.collect()
        assert monitor.stats().alive == 1
        monitor.emit("next", i=kept)
        assert [verdict.category for verdict in monitor.verdicts] == ["match"]
        assert monitor.stats().alive == 0


@pytest.mark.parametrize(("grammar", "suffix"), [(LOCK, False), (LOCK, True), ("S -> S S | begin | acquire", False)])
def test_damaged_snapshots_are_refused_or_harmless(grammar, suffix):
    spec = spec_of("cfg", grammar, "match", alphabet=LOCK_EVENTS, suffix=suffix)
    rng = Random(3)
    with Monitor(spec, history=0) as monitor:
        for event in ("begin", "acquire", "begin", "acquire"):
            monitor.emit(event)
        good = json.dumps(monitor.snapshot())
    for _ in range(300):
        digits = [at for at, sign in enumerate(good) if sign.isdigit()]
        at = rng.choice(digits)
        bad = good[:at] + str(rng.randrange(10)) + good[at + 1 :]
        try:
            data = json.loads(bad)
        except ValueError:  # a number with a leading zero
            continue
        with Monitor(spec, history=0) as monitor:
            try:
                monitor.restore(data)
            except MopsusError:
                continue
            for event in ("release", "begin", "end", "acquire"):
                monitor.emit(event)
