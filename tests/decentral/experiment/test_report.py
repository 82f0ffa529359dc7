"""Reports of experiments: the numbers are those of the runs, in the table, on the page and in the plots."""

from __future__ import annotations

import re
import statistics
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.report.figures import FIGURES, Verdicts, compare, distribution
from mopsus.decentral.experiment.report.page import render_page, render_text
from mopsus.decentral.experiment.report.plots import draw_plots
from mopsus.decentral.measures.store import Failure, RunKey, Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "r.db") as store:
        for components in (3, 10):
            for algorithm, messages in (("chor", 8), ("mine", 4), ("orch", 6)):
                store.write(
                    [
                        (
                            RunKey(str(components), "s.xml", trace, algorithm),
                            {
                                "comps": components,
                                "verdict": [True, False, None][trace % 3] if algorithm != "mine" else None,
                                "run_len": 2,
                                "msg_num": messages * (trace + 1),
                                "simp_max": components,
                                "delay_gap_sum": 0,
                                "delay_gap_num": 0,
                                "kind": "odd" if trace % 2 else "even",
                            },
                        )
                        for trace in range(4)
                    ]
                )
        store.write([], [Failure(RunKey("3", "<b>.xml", 9, "orch"), "no <trace>")])
        yield store


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_distributions(numbers):
    found = distribution(numbers)
    assert found.mean == pytest.approx(statistics.fmean(numbers), abs=1e-6)
    assert found.deviation == pytest.approx(statistics.pstdev(numbers), abs=1e-3)
    cuts = statistics.quantiles(numbers, n=20, method="inclusive")
    assert found.quantiles == pytest.approx([cuts[0], cuts[4], cuts[9], cuts[14], cuts[18]], abs=1e-6)


def test_figures_of_runs(store):
    found = compare(store)
    assert found.groups == (("orch", 3), ("orch", 10), ("chor", 3), ("chor", 10), ("mine", 3), ("mine", 10))
    assert set(found.figures) == {"messages", "simplifications_max", "delay_gap"}
    assert found.figures["messages"]["orch", 3].mean == (3 + 6 + 9 + 12) / 4
    assert found.figures["simplifications_max"]["orch", 10].mean == 10
    assert found.figures["delay_gap"]["orch", 3].mean == 0
    assert found.verdicts["orch", 3] == Verdicts(2, 1, 1)
    assert found.verdicts["mine", 3] == Verdicts(0, 0, 4)
    assert found.disagreements == 0
    by_kind = compare(store, ["kind"])
    assert by_kind.groups[:2] == (("orch", "even"), ("orch", "odd"))
    assert by_kind.figures["messages"]["orch", "odd"].mean == 9


def test_different_verdicts_are_counted(store):
    store.write([(RunKey("3", "s.xml", 0, "migr"), {"comps": 3, "verdict": False})])
    assert compare(store).disagreements == 1
    assert "different verdicts" in render_text(compare(store))


def test_text(store):
    lines = render_text(compare(store)).splitlines()
    assert lines[0].split() == [
        "alg",
        "comps",
        "runs",
        "true",
        "false",
        "?",
        "delay",
        "(gap)",
        "messages",
        "simp.",
        "(max)",
    ]
    assert lines[1].split() == ["orch", "3", "4", "2", "1", "1", "0.00", "(0.00)", "7.50", "(3.35)", "3.00", "(0.00)"]
    assert lines[-1] == "1 run failed, not in the table"


def test_the_page_holds_all_and_asks_for_nothing(store):
    comparison = compare(store)
    plots = draw_plots(comparison, FIGURES, ("svg", "png"))
    assert set(plots) == set(comparison.figures)
    for forms in plots.values():
        assert forms["png"].startswith(b"\x89PNG\r\n")
        ElementTree.fromstring(forms["svg"])
    assert b"components" in plots["messages"]["svg"]
    messages = next(figure for figure in FIGURES if figure.key == "messages")
    assert draw_plots(comparison, [messages], ("svg", "png")) == {"messages": plots["messages"]}
    page = render_page("A <title>", comparison, {key: forms["svg"] for key, forms in plots.items()})
    assert page.count("<svg") == 3
    assert "A &lt;title&gt;" in page
    assert "3 &lt;b&gt;.xml trace 9 orch: no &lt;trace&gt;" in page
    assert "<td>7.50 <small>(3.35)</small></td>" in page
    assert not re.search(r"(?:src|href)=\"(?!#)(?!http://www.w3.org)", page.replace("xlink:href", "href"))


def test_what_cannot_be_reported(store, tmp_path):
    with pytest.raises(DecentralError, match="runs have no 'kinds'") as caught:
        compare(store, ["kinds"])
    assert caught.value.hint == "did you mean 'kind'?"
    with Store(tmp_path / "empty.db") as empty:
        empty.write([], [])
        with pytest.raises(DecentralError, match="runs have no 'comps'"):
            compare(empty)
        with pytest.raises(DecentralError, match="no run is stored"):
            compare(empty, [])


def test_runs_may_lack_what_they_are_told_apart_by(tmp_path):
    with Store(tmp_path / "r.db") as store:
        for trace, kind in enumerate((2, None, "x", 1.5)):
            store.write([(RunKey("s", "a", trace, "orch"), {"kind": kind, "verdict": 1})])
        assert [group[1] for group in compare(store, ("kind",)).groups] == [None, 1.5, 2, "x"]


def test_numbers_that_no_run_has_are_refused(tmp_path):
    with Store(tmp_path / "r.db") as store:
        store.write([(RunKey("s", "a", trace, "orch"), {"simp_max": 1e308, "verdict": 1}) for trace in range(3)])
        with pytest.raises(DecentralError, match="values that no run has") as caught:
            compare(store, ())
        assert caught.value.code == "DECENTRAL-082"
