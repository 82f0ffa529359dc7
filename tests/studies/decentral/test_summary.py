"""Measures of runs are normalized and summed up as the definitions say."""

from __future__ import annotations

from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.decentral.summary import COLUMNS, summarize

KEYS = [f"delay_{kind}_{part}" for kind in ("gap", "batch", "age") for part in ("sum", "num")] + [
    "msg_num",
    "msg_data",
    "msg_bytes",
    "run_len",
    "simp_max",
    "simp_crit",
    "conv_e",
]
VERDICT = {"verdict_time": st.integers(1, 30), "verdict_round": st.integers(30, 60)}
NONE = dict.fromkeys(VERDICT, st.none())
runs = st.lists(
    st.builds(
        dict.__or__,
        st.fixed_dictionaries(dict.fromkeys(KEYS, st.integers(1, 1000))),
        st.one_of(st.fixed_dictionaries(VERDICT), st.fixed_dictionaries(NONE)),
    ),
    min_size=1,
    max_size=8,
)


@given(runs)
def test_means_and_deviations(measured):
    found = summarize(measured)
    for name, column in COLUMNS.items():
        values = [column(each) for each in measured]
        assert found[name].mean == pytest.approx(fmean(values), abs=1e-3)
        assert found[name].deviation == pytest.approx(pstdev(values), abs=1e-2)


def test_a_run():
    measures = dict.fromkeys(KEYS, 0) | {"run_len": 65, "verdict_time": 2, "verdict_round": 4}
    measures |= {"msg_num": 10, "conv_e": 3, "simp_crit": 8, "simp_max": 5, "delay_gap_sum": 6, "delay_gap_num": 4}
    found = {name: column(measures) for name, column in COLUMNS.items()}
    assert found["messages"] == 2.5
    assert found["messages_by_timestamp"] == 5.0
    assert found["conv_e"] == 0.75
    assert found["s_crit"] == 2.0
    assert found["s_max"] == 5.0
    assert found["delay_gap"] == 1.5
    assert found["delay_age"] == 0.0  # nothing was resolved
    assert found["delay_verdict"] == 2.0
    assert found["delay_wait"] == 1.5  # one timestamp, then two


def test_a_run_without_verdict():
    measures = dict.fromkeys(KEYS, 0) | {"run_len": 65, "msg_num": 130, "verdict_time": None, "verdict_round": None}
    found = {name: column(measures) for name, column in COLUMNS.items()}
    assert found["messages"] == found["messages_by_timestamp"] == 2.0
    assert found["delay_verdict"] == found["delay_wait"] == 0.0


def test_no_runs():
    assert summarize([]) == {}
