"""The studies run, at a size that says nothing; monitors of the home say what formulas say of its signals."""

from __future__ import annotations

import pytest
from oracle.signals import evaluate
from studies.decentral import __main__ as command
from studies.decentral import page, results
from studies.decentral.apartment import recordings
from studies.decentral.apartment.specs import GROUPS, part, references, whole
from studies.decentral.apartment.study import told, watch
from studies.decentral.chiron import NAMES
from studies.decentral.chiron import study as chiron
from studies.decentral.experiments import carry_out
from studies.decentral.synthetic import study as synthetic
from studies.error import StudyError

from mopsus.decentral.analysis.dependencies import dependencies, dependencies_first

DAY = "2017-01-31"
SECONDS = 3600
"""Of a day: the morning, in which most things happen."""


def ignore(done, total):
    pass


@pytest.fixture(scope="module")
def morning(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    recordings.generate_day(DAY, folder)
    specification, system = part(GROUPS["ADL+M"], *whole())
    traces = recordings.replay(folder, DAY, system, SECONDS)
    return specification, traces, watch(specification, system, traces)


def test_monitors_say_what_formulas_say(morning):
    specification, traces, outcome = morning
    observed = {name: [event[name] for event in trace] for trace in traces.values() for name in trace[0]}
    said = {}
    for name in dependencies_first(dependencies(specification)):
        monitor = specification.monitors[name]
        signals = observed | {each: said[each] for each in monitor.references}
        said[name] = evaluate(monitor.formula, signals, SECONDS)
        for verdict in (True, False):
            seconds = {second for begin, end in told(outcome, name, verdict) for second in range(begin, end)}
            assert seconds == {second for second, value in enumerate(said[name]) if value is verdict}, name


def test_every_reference_is_told_each_second(morning):
    specification, _, outcome = morning
    # What looks ahead is not told at the very end.
    assert outcome.measures["answers"] / SECONDS == pytest.approx(references(specification), rel=0.01)


def test_the_interface_runs(tmp_path):
    found = chiron.run(chiron.prepare(tmp_path, runs=2), 1, ignore)
    assert found.runs == 2 * (4 + 1) * len(NAMES)  # choreography twice
    assert found.verdicts == {"1": "?", "2": "?", "3": "true", "5": "?", "15a": "?", "15b": "true"}
    assert found.edges["15b"] == 2
    # What does not depend on formulas is as published: messages, and their size.
    assert found.cells["orch/5"]["messages"].mean == pytest.approx(2.95, abs=0.005)
    assert found.cells["orch/5"]["data"].mean == pytest.approx(87.46, abs=0.05)


def test_the_benchmark_runs_once(tmp_path):
    experiment = synthetic.prepare(tmp_path, formulas=1, traces=1)
    found = synthetic.run(experiment, 1, ignore)
    assert (found.formulas, found.traces, found.cases, found.runs) == (1, 4, 4 * 4, 4 * 4 * 4)
    assert found.sizes.keys() == {f"{name}/{size}" for name in page.ALGORITHMS for size in page.SIZES}
    assert found.distributions.keys() == {f"{name}/{each}" for name in page.ALGORITHMS for each in page.DISTRIBUTIONS}
    with pytest.raises(StudyError, match="64 runs were there before"):
        carry_out(experiment, 1, ignore)


def test_the_page_shows_what_is_stored():
    assert page.write(check=True) == 0, "run python -m studies.decentral page"


def test_a_study_that_is_not_there(capsys):
    with pytest.raises(SystemExit):
        command.main(["run", "kitchen"])
    assert "there is no study kitchen" in capsys.readouterr().err


def test_activities_are_detected_in_recordings(tmp_path, capsys):
    assert command.main(["record", str(tmp_path)]) == 0
    assert command.main(["detect", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert told.strip() in page.PAGE.read_text(encoding="utf-8")
    (tmp_path / DAY / "349.csv").unlink()
    assert command.main(["detect", str(tmp_path)]) == 2
    assert "349.csv" in capsys.readouterr().err


def test_results_are_stored_and_loaded(tmp_path, monkeypatch):
    stored = results.load_results()
    monkeypatch.setattr(results, "FILE", tmp_path / "results.json")
    results.store(stored)
    assert results.load_results() == stored
