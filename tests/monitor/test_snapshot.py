"""A snapshot carries everything that later reports depend on."""

from __future__ import annotations

import json
from random import Random

import pytest
from monitor.ways import COLUMNS, HISTORIES, Recorder, feed_rows
from oracle.compiled import subject_of
from oracle.slicing import AlgorithmC, run
from oracle.strategies import random_case

import mopsus
from mopsus.model import MopsusError
from mopsus.monitor import Monitor

SCALARS = (*COLUMNS, (1, 1.0, True, "1", b"1", 2**70))


def test_a_trace_cut_by_snapshots_gives_the_same_reports():
    for seed in range(300):
        rng = Random(seed)
        case = random_case(rng, SCALARS, noise=True)
        recorder = Recorder(case)
        recorder.index = None
        history = rng.choice(HISTORIES)
        cuts = sorted(rng.randint(0, len(case.trace)) for _ in range(rng.choice((1, 1, 2, 3))))
        stored = None
        for begin, end in zip([0, *cuts], [*cuts, len(case.trace)], strict=True):
            with Monitor(case.spec, on_verdict=recorder, history=history) as monitor:
                if stored is not None:
                    monitor.restore(json.loads(stored))
                feed_rows(monitor, case.trace[begin:end], first=begin + 1)
                stored = json.dumps(monitor.snapshot())
        assert recorder.result() == run(AlgorithmC, subject_of(case.spec), case.trace), f"seed {seed}\n{case}"


def test_witnesses_and_statistics_survive_a_snapshot():
    for seed in range(100):
        rng = Random(seed)
        case = random_case(rng, COLUMNS, noise=True)
        whole, cut = [], []
        half = rng.randint(0, len(case.trace))
        with Monitor(case.spec, on_verdict=whole.append) as monitor:
            feed_rows(monitor, case.trace)
            expected = monitor.stats()
        with Monitor(case.spec, on_verdict=cut.append) as monitor:
            feed_rows(monitor, case.trace[:half])
            stored = json.dumps(monitor.snapshot())
        with Monitor(case.spec, on_verdict=cut.append) as monitor:
            monitor.restore(json.loads(stored))
            feed_rows(monitor, case.trace[half:], first=half + 1)
            found = monitor.stats()
        assert sorted(map(repr, cut)) == sorted(map(repr, whole)), f"seed {seed}\n{case}"
        assert (found.events, found.ignored, found.verdicts) == (expected.events, expected.ignored, expected.verdicts)
        assert found.alive == expected.alive


@pytest.mark.parametrize("data", [None, [], {}, {"version": -1}, {"version": 10**9}, "text", 1])
def test_what_is_no_snapshot_is_refused(data):
    case = random_case(Random(1))
    with Monitor(case.spec) as monitor, pytest.raises(MopsusError):
        monitor.restore(data)


def test_a_snapshot_of_another_spec_is_refused():
    one, other = random_case(Random(1)).spec, random_case(Random(2)).spec
    with Monitor(one) as first, Monitor(other) as second, pytest.raises(MopsusError):
        second.restore(first.snapshot())


def test_a_damaged_snapshot_is_refused_or_harmless():
    spec = mopsus.parse("S(i) { event e(i)\n event f(i)\n ere : e+ f\n @match }")["S"]
    with spec.monitor() as monitor:
        for row in range(1, 6):
            monitor.row("e", {"i": row % 2}, source="trace.csv", row=row)
        whole = monitor.snapshot()
    refused = 0
    for at, item in enumerate(whole["items"]):
        if not isinstance(item, int):
            continue
        for wrong in (item + 1, 10**6, -1, 2**40):
            damaged = {**whole, "items": [*whole["items"][:at], wrong, *whole["items"][at + 1 :]]}
            with spec.monitor() as monitor:
                try:
                    monitor.restore(damaged)
                except MopsusError:
                    refused += 1
                    continue
                for value in (0, 1, 2):
                    monitor.row("f", {"i": value}, source="trace.csv", row=9)
    assert refused > 20
