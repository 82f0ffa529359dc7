"""What the thesis concludes from its experiments follows from what was measured here, too."""

from __future__ import annotations

from itertools import pairwise

import pytest
from studies.decentral.chiron.study import SEQUENTIAL
from studies.decentral.page import DISTRIBUTIONS, SIZES
from studies.decentral.results import load_results
from studies.decentral.thesis import load_thesis

RESULTS = load_results()
THESIS = load_thesis()


def means(algorithm, column):
    """A measure of random formulas, by number of components."""
    return [RESULTS.synthetic.sizes[f"{algorithm}/{size}"][column].mean for size in SIZES]


def test_delays():
    assert max(means("orch", "delay_verdict")) <= 1
    for slow, fast in zip(means("migrr", "delay_verdict"), means("migr", "delay_verdict"), strict=True):
        assert fast < slow
    for algorithm in ("migr", "migrr"):
        assert all(fewer < more for fewer, more in pairwise(means(algorithm, "delay_verdict")))
    choreography = means("chor", "delay_wait")
    assert choreography[-1] < 1.5 * choreography[0]  # while that of migration doubles


@pytest.mark.parametrize("algorithm", ["migr", "migrr"])
def test_both_tables_of_delays_are_those_of_the_thesis(algorithm):
    assert means(algorithm, "delay_wait") == pytest.approx(
        [each[0] for each in THESIS.synthetic["delay"][algorithm]], rel=0.12
    )
    by_distribution = [
        RESULTS.synthetic.distributions[f"{algorithm}/{each}"]["delay_verdict"] for each in DISTRIBUTIONS
    ]
    theirs = [each[0] for each in THESIS.distributions["delay"][algorithm]]
    assert sum(each.mean for each in by_distribution) == pytest.approx(sum(theirs), rel=0.15)


def test_messages():
    order = [means(algorithm, "messages")[-1] for algorithm in ("migr", "migrr", "chor", "orch")]
    assert order == sorted(order)
    for algorithm in ("migr", "migrr"):
        theirs = [each[0] for each in THESIS.synthetic["messages"][algorithm]]
        assert means(algorithm, "messages") == pytest.approx(theirs, abs=0.08)


def test_data():
    """That of migration grows with the number of components, a message of the others keeps its size."""
    for algorithm in ("migr", "migrr"):
        data = means(algorithm, "data")
        assert data[-1] > 5 * data[0]
    for algorithm in ("orch", "chor"):
        each = [
            data / count for data, count in zip(means(algorithm, "data"), means(algorithm, "messages"), strict=True)
        ]
        assert max(each) < 1.1 * min(each)
    # Variance, not only size: the deviation of migration is larger than its mean.
    assert all(
        RESULTS.synthetic.sizes[f"migr/{size}"]["data"].deviation > mean
        for size, mean in zip(SIZES, means("migr", "data"), strict=True)
    )


def test_balance():
    for size, *shares in zip(SIZES, *(means(name, "conv_e") for name in ("orch", "migr", "migrr")), strict=True):
        assert shares == pytest.approx([1 - 1 / int(size)] * 3, abs=0.02)
    assert max(means("chor", "conv_e")) < 0.25


def test_waiting_in_turn_is_what_makes_a_choreography_slow():
    ages = {name: RESULTS.chiron.cells[f"{name}/15b"]["delay_age"].mean for name in ("orch", "chor", SEQUENTIAL)}
    assert ages["chor"] <= ages["orch"]
    assert ages[SEQUENTIAL] > 50


def test_messages_of_the_home_are_its_references():
    told = {name: round(costs.verdicts) for name, costs in RESULTS.apartment.costs.items()}
    assert told == {"ADL": 24, "ADL+H": 39, "ADL+2": 41, "ADL+M": 47}
    assert all(costs.messages_held < 1 for costs in RESULTS.apartment.costs.values())


def test_days_of_danger():
    assert RESULTS.apartment.aras["firehazard"] == THESIS.apartment.aras["firehazard"]


def test_a_better_specification_of_napping():
    precision = {name: numbers[0] for name, numbers in RESULTS.apartment.napping.items()}
    assert max(precision, key=precision.__getitem__) == "dark"
    assert min(precision, key=precision.__getitem__) == "present"
