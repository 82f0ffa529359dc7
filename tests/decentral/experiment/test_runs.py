"""Whole experiments: every run once, whatever fails, and whoever is killed in between."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys

import pytest

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.runs import check_specs, run_missing
from mopsus.decentral.experiment.settings import load_experiment
from mopsus.decentral.generate.traces import STANDARD, generate_run
from mopsus.decentral.load import load_specification
from mopsus.decentral.measures.store import RunKey
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.traces import default_components, read_run, system_of, write_run

XML = "<specifications><specification id='root' class='LTL'><setLTL>{}</setLTL></specification></specifications>"

SMALL = """
algorithms = ["orch", "migr"]
limit = 25

[[series]]
components = 2
specs = "specs/*.xml"
traces = { profile = "normal", length = 20 }
runs = 5
"""

MEASURE = """
import os, signal, sqlite3
from pathlib import Path
from mopsus.decentral.measures.groups import Measure, MeasureGroup, count

HERE = Path(__file__).parent

class Steps(MeasureGroup):
    def __init__(self):
        self.steps = Measure("steps_taken", "turns of monitors", 0, count)

    def step(self, time, monitor):
        self.steps.update()

class Ender(Steps):
    "Ends the experiment, once, when some of its runs are stored."

    def run_end(self, outcome):
        with open(HERE / "log", "a") as log:
            log.write("run\\n")
        ended = HERE / "ended"
        database = sqlite3.connect(HERE / "e.db", timeout=60)
        stored = database.execute("SELECT count(*) FROM bench").fetchone()[0]
        database.close()
        if stored and not ended.exists():
            ended.touch()
            os.kill(os.getppid(), getattr(signal, os.environ["END_BY"]))
"""

FATAL = """
import os
from mopsus.decentral.measures.groups import MeasureGroup

class Fatal(MeasureGroup):
    def round(self, time):
        if time == 20:
            os._exit(9)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "specs").mkdir()
    for number, formula in enumerate(["F(a0 &amp; X b1)", "G(a0 -> b0)", "(a0 U b0) | X X X a1"]):
        (tmp_path / "specs" / f"{number}.xml").write_text(XML.format(formula))
    (tmp_path / "e.toml").write_text(SMALL)
    (tmp_path / "mine.py").write_text(MEASURE)
    return tmp_path


def write(folder, text):
    (folder / "e.toml").write_text(text)
    return load_experiment(folder / "e.toml")


def rows(path, columns="*"):
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        found = {
            (row["series"], row["spec"], row["trace"], row["alg"]): dict(row)
            for row in connection.execute(f"SELECT {columns} FROM bench")
        }
    connection.close()
    return found


def mopsus(folder, *arguments, **options):
    command = [sys.executable, "-m", "mopsus", "simulate", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, **options)


def test_rows_are_what_each_run_gives_by_itself(folder):
    experiment = load_experiment(folder / "e.toml")
    advances = []
    summary = run_missing(experiment, {}, 2, lambda *advance: advances.append(advance))
    assert (summary.runs, summary.before, summary.failures, summary.finished) == (30, 0, (), 30)
    assert advances == [(done, 30) for done in range(1, 31)]
    found = rows(experiment.results)
    assert len(found) == 30
    for trace in range(5):
        traces = generate_run(STANDARD["normal"], trace, default_components(2, 2), 20)
        for spec in range(3):
            specification = load_specification(folder / "specs" / f"{spec}.xml").specification
            for name in ("orch", "migr"):
                algorithm, task = load_algorithm(name), Task(specification, system_of(traces))
                outcome = simulate(set_up(algorithm, task), task, traces, algorithm=algorithm, limit=25)
                row = found["", f"specs/{spec}.xml", trace, name]
                assert row["comps"] == 2
                for key in ("verdict", "verdict_time", "msg_num", "msg_data", "simp_total", "run_len"):
                    assert row[key] == outcome.measures[key]


def test_a_run_of_an_experiment_is_what_the_command_runs(folder):
    """Also if there are timestamps at which nobody observes anything."""
    for trace in range(4):
        run = generate_run(STANDARD["beta-2"], trace, default_components(2, 2), 12)
        pauses = {number for number in range(12) if (number + trace) % 3}
        paused = {name: [{} if n in pauses else event for n, event in enumerate(each)] for name, each in run.items()}
        write_run(folder / "traces", trace, paused)
    settings = SMALL.replace('{ profile = "normal", length = 20 }', '"traces"').replace("runs = 5", "runs = 4")
    experiment = write(folder, settings)
    assert run_missing(experiment, {}, 2).failures == ()
    found = rows(experiment.results)
    for spec, trace, algorithm in ((0, 0, "orch"), (1, 1, "migr"), (2, 2, "orch"), (2, 3, "migr")):
        options = ["--spec", f"specs/{spec}.xml", "--traces", "traces", "--run", trace, "--algorithm", algorithm]
        told = json.loads(mopsus(folder, "run", *options, "--limit", 25, "--json").stdout)
        row = found["", f"specs/{spec}.xml", trace, algorithm]
        for key in ("verdict", "verdict_time", "verdict_round", "msg_num", "msg_data", "eval_total"):
            assert row[key] == told["measures"][key]


def test_results_do_not_depend_on_who_runs_what(folder):
    one = write(folder, f'network = "loss=0.3,duplicate=0.2"\nresults = "one.db"\n{SMALL}')
    other = write(folder, f'network = "loss=0.3,duplicate=0.2"\nresults = "other.db"\n{SMALL}')
    run_missing(one, {}, 1)
    run_missing(other, {"specs/0.xml": "later"}, 2)
    assert run_missing(other, {}, 1).before == 20
    assert rows(one.results) == rows(other.results)
    assert sum(row["msg_lost"] for row in rows(one.results).values()) > 0


def test_three_of_a_thousand_fail(folder):
    """They are named, all others are there; once they are repaired, only they are run."""
    for trace in range(1000):
        write_run(folder / "traces", trace, generate_run(STANDARD["normal"], trace, default_components(2, 2), 6))
    damaged, missing, fatal = (folder / "traces" / name for name in ("77-a.trace", "500-b.trace", "901-a.trace"))
    damaged.write_text("a0:t,a1:f\na0:maybe\n")
    missing.unlink()
    fatal.write_text("a0:f,a1:f\n" * 20)  # no run lasts as long
    (folder / "mine.py").write_text(FATAL)
    (folder / "e.toml").write_text(
        'algorithms = ["orch"]\nmeasures = ["run", "mine.py:Fatal"]\n'
        '[[series]]\ncomponents = 2\nspecs = "specs/1.xml"\ntraces = "traces"\nruns = 1000\n'
    )
    done = mopsus(folder, "experiment", "e.toml", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["runs"], told["finished"]) == (1, 1000, 997)
    failed = {each["trace"]: each["message"] for each in told["failed"]}
    assert sorted(failed) == [77, 500, 901]
    assert "'a0:maybe' is no observation" in failed[77]
    assert "77-a.trace:2" in failed[77]
    assert "500-b.trace does not exist" in failed[500]
    assert failed[901] == "its process ended with status 9"
    assert {key[2] for key in rows(folder / "e.db")} == set(range(1000)) - {77, 500, 901}

    for path in (damaged, missing, fatal):
        path.write_text(f"{path.stem[-1]}0:f,{path.stem[-1]}1:f\n" * 6)
    again = mopsus(folder, "experiment", "e.toml")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == "e.db: 1,000 of 1,000 runs have results, 997 of them from before\n"
    assert len(rows(folder / "e.db")) == 1000


@pytest.mark.parametrize(("end_by", "status"), [("SIGKILL", -signal.SIGKILL), ("SIGINT", 130)])
def test_an_experiment_goes_on_where_it_was_ended(folder, end_by, status, monkeypatch):
    settings = SMALL.replace("runs = 5", "runs = 100")
    whole = write(folder, f'measures = ["run", "mine.py:Steps"]\nresults = "whole.db"\n{settings}')
    run_missing(whole, {}, 2)
    write(folder, f'measures = ["run", "mine.py:Ender"]\nresults = "e.db"\n{settings}')
    monkeypatch.setenv("END_BY", end_by)
    assert mopsus(folder, "experiment", "e.toml", "-j", "2").returncode == status
    before = rows(folder / "e.db", "rowid, *")
    assert 0 < len(before) < 600

    (folder / "log").unlink()
    done = mopsus(folder, "experiment", "e.toml", "-j", "2", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["finished"], told["finished_before"]) == (0, 600, len(before))
    assert len((folder / "log").read_text().split()) == 600 - len(before)
    after = rows(folder / "e.db", "rowid, *")
    assert {key: row for key, row in after.items() if key in before} == before
    assert rows(folder / "e.db") == rows(folder / "whole.db")


def test_measures_and_tags_are_columns(folder):
    experiment = write(folder, f'measures = ["communication", "mine.py:Steps"]\n{SMALL}tags = {{ kind = "even" }}\n')
    run_missing(experiment, {}, 1)
    row = rows(experiment.results)["", "specs/0.xml", 0, "orch"]
    assert (row["kind"], row["comps"]) == ("even", 2)
    assert row["steps_taken"] > 0
    assert row["msg_num"] == row["msg_Memory"]
    assert "verdict" not in row
    assert "simp_max" not in row


def test_specifications_are_checked_first(folder):
    (folder / "specs" / "3.xml").write_text(XML.format("G F a0"))
    (folder / "specs" / "4.xml").write_text(XML.format("G (a0"))
    (folder / "specs" / "5.xml").write_text("<specifications>")
    experiment = write(folder, f"check = {{ write = true }}\n{SMALL}")
    discarded = check_specs(experiment, 1)
    assert list(discarded) == ["specs/3.xml", "specs/4.xml", "specs/5.xml"]
    assert "reaches no verdict from state q0" in discarded["specs/3.xml"]
    assert (folder / "e.toml.keep").read_text().split() == ["specs/0.xml", "specs/1.xml", "specs/2.xml"]
    lines = (folder / "e.toml.discard").read_text().splitlines()
    assert [line.split()[0] for line in lines] == list(discarded)
    assert run_missing(experiment, discarded, 1).runs == 30
    kept = write(folder, SMALL.replace("specs/*.xml", "e.toml.keep").replace("limit", "check = { skip = true }\nlimit"))
    assert kept.specs == (("specs/0.xml", "specs/1.xml", "specs/2.xml"),)
    assert check_specs(kept, 2) == {}
    with pytest.raises(DecentralError, match="no specification is left"):
        run_missing(experiment, dict.fromkeys(experiment.specs[0], "bad"), 2)


def test_an_oracle_of_ones_own(folder):
    (folder / "mine.py").write_text(
        "def short(specification):\n    return len(specification.monitors['root'].automaton.verdicts) < 4\n"
        "def none(specification):\n    return 'too long'\n"
    )
    assert check_specs(write(folder, f'check = {{ oracle = "mine.py:short" }}\n{SMALL}'), 1) == {
        "specs/2.xml": "the oracle refuses it"
    }
    assert set(check_specs(write(folder, f'check = {{ oracle = "mine.py:none" }}\n{SMALL}'), 1).values()) == {
        "too long"
    }
    refused = check_specs(write(folder, f'check = {{ oracle = "shrot" }}\n{SMALL}'), 1)
    assert set(refused.values()) == {"there is no 'shrot'"}


def test_specifications_with_a_system_of_their_own(folder):
    (folder / "lights.toml").write_text(
        '[components]\nswitch = ["a0", "a1"]\nbulb = ["b0", "b1"]\n[monitors]\nroot = "G(a0 -> X b0)"\n'
    )
    for trace in range(2):
        write_run(folder / "traces", trace, generate_run(STANDARD["normal"], trace, default_components(2, 2), 10))
    settings = SMALL.replace("specs/*.xml", "lights.toml").replace("runs = 5", "runs = 2")
    settings = settings.replace('{ profile = "normal", length = 20 }', '"traces"').replace("components = 2\n", "")
    experiment = write(folder, settings)
    assert run_missing(experiment, {}, 1).failures == ()
    specification = load_specification(folder / "lights.toml")
    traces = dict(zip(specification.system.components, read_run(folder / "traces", 0, 2).values(), strict=True))
    task = Task(specification.specification, specification.system)
    outcome = simulate(set_up(load_algorithm("orch"), task), task, traces, algorithm=load_algorithm("orch"), limit=25)
    assert rows(experiment.results)["", "lights.toml", 0, "orch"]["verdict_time"] == outcome.time
    wrong = write(folder, settings.replace("[[series]]", '[[series]]\ncomponents = 3\nname = "wrong"'))
    failures = run_missing(wrong, {}, 1).failures
    assert {failure.message for failure in failures} == {
        "the specification is about 2 components, the experiment about 3"
    }
    assert failures[0].run == RunKey("wrong", "lights.toml", 0, "migr")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace('"migr"', '"migrate"'), "there is no 'migrate'"),
        (lambda text: f"options = {{ migr = {{ speed = 3 }} }}\n{text}", "no option 'speed'"),
        (lambda text: f'measures = ["none"]\n{text}', "there is no 'none'"),
        (lambda text: text.replace('"normal"', '"norml.txt"'), "cannot read the profile"),
    ],
)
def test_what_cannot_be_run_is_said_of_each_run(folder, change, says):
    summary = run_missing(write(folder, change(SMALL)), {}, 1)
    assert summary.failures
    assert all(says in failure.message for failure in summary.failures)


def test_results_of_other_settings_are_not_mixed(folder):
    run_missing(write(folder, SMALL), {}, 1)
    assert run_missing(write(folder, SMALL.replace('"migr"', '"migr", "migrr"')), {}, 1).before == 30
    with pytest.raises(DecentralError, match="other settings"):
        run_missing(write(folder, SMALL.replace("limit = 25", "limit = 24")), {}, 1)
    done = mopsus(folder, "experiment", "e.toml")
    assert done.returncode == 2
    assert "choose another file" in done.stderr
