"""Bundles: an experiment with all that it needs, which gives the same results elsewhere."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.bundle import render_settings, write_bundle
from mopsus.decentral.experiment.runs import check_specs, run_missing
from mopsus.decentral.experiment.settings import Check, Drawn, Series, Settings, load_experiment
from mopsus.decentral.generate.traces import STANDARD, generate_run
from mopsus.decentral.traces import default_components, write_run

XML = "<specifications><specification id='root' class='LTL'><setLTL>{}</setLTL></specification></specifications>"

SETTINGS = """
title = "Two series"
algorithms = ["orch"]
limit = 15
measures = ["run", "code/mine.py:Rounds"]
check = { oracle = "code/mine.py:all_good", write = true }

[[series]]
name = "files"
components = 2
specs = ["specs/*.xml", "../shared/door.toml"]
traces = "../shared/traces"
first = 1
runs = 2

[[series]]
name = "drawn"
components = 2
specs = "specs.txt"
traces = { profile = "even.profile", length = 10 }
runs = 2
"""

CODE = """
from mopsus.decentral.measures.groups import Measure, MeasureGroup, count

class Rounds(MeasureGroup):
    def __init__(self):
        self.rounds = Measure("rounds_begun", "rounds", 0, count)

    def round(self, time):
        self.rounds.update()

def all_good(specification):
    return True
"""


@pytest.fixture
def here(tmp_path):
    here, shared = tmp_path / "here", tmp_path / "shared"
    for folder in (here / "specs", here / "code", shared):
        folder.mkdir(parents=True)
    (here / "e.toml").write_text(SETTINGS)
    (here / "specs" / "1.xml").write_text(XML.format("G(a0 -> b0)"))
    (here / "specs" / "2.xml").write_text(XML.format("F(a0 &amp; X b1)"))
    (here / "specs.txt").write_text("specs/2.xml\n")
    (here / "code" / "mine.py").write_text(CODE)
    (here / "even.profile").write_text("distribution=UNIFORM\nparams=0,1\nseed=4\n")
    (shared / "door.toml").write_text('[monitors.root]\nspec = "Door.mop"\ninputs = { open = "a0", shut = "b0" }\n')
    (shared / "Door.mop").write_text("Door(d) {\n  event open(d)\n  event shut(d)\n  ere: (open shut)*\n  @fail\n}\n")
    for number in range(4):
        write_run(shared / "traces", number, generate_run(STANDARD["normal"], number, default_components(3, 2), 10))
    return here


def results(experiment):
    assert check_specs(experiment, 1) == {}
    assert run_missing(experiment, {}, 1).failures == ()
    with sqlite3.connect(experiment.results) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute("SELECT * FROM bench ORDER BY series, spec, trace, alg")]
    connection.close()
    return found


def test_a_bundle_gives_the_same_results_elsewhere(here, tmp_path):
    file = write_bundle(load_experiment(here / "e.toml"), tmp_path / "bundle")
    expected = results(load_experiment(here / "e.toml"))
    (tmp_path / "far").mkdir()
    shutil.move(file.parent, tmp_path / "far" / "bundle")
    shutil.rmtree(here)
    shutil.rmtree(tmp_path / "shared")
    bundle = load_experiment(tmp_path / "far" / "bundle" / file.name)
    assert len(list(bundle.cache.iterdir())) == 2  # the automata of both formulas
    found = results(bundle)
    assert len(found) == len(expected) == 8
    moved = [{**row, "spec": row["spec"].replace("elsewhere/a/", "../shared/")} for row in found]
    assert sorted(moved, key=str) == sorted(expected, key=str)
    traces = sorted(path.name for path in (tmp_path / "far" / "bundle" / "elsewhere").rglob("*.trace"))
    assert traces == ["1-a.trace", "1-b.trace", "1-c.trace", "2-a.trace", "2-b.trace", "2-c.trace"]
    assert (tmp_path / "far" / "bundle" / "Makefile").is_file()


def test_settings_are_written_as_they_are_read(tmp_path):
    settings = Settings(
        algorithms=["orch", 'odd "name".py:A'],
        series=[
            Series(specs=["a.xml"], traces="t", runs=3, components=2, tags={"k k": "v\n", "n": 1.5, "b": True}),
            Series(specs=[], traces=Drawn("beta-1", seed=3), runs=1, components=1, name="größer"),
        ],
        limit=7,
        measures=[],
        options={"migr": {"active": 2}},
        environment={"A": "b"},
        check=Check(skip=True, timeout_s=0.5),
        network="loss=0.5",
    )
    (tmp_path / "e.toml").write_text(render_settings(settings), encoding="utf-8")
    assert load_experiment(tmp_path / "e.toml").settings == settings


def test_nothing_is_written_over(here, tmp_path):
    with pytest.raises(DecentralError, match="is not empty"):
        write_bundle(load_experiment(here / "e.toml"), here)
    (here / "even.profile").unlink()
    with pytest.raises(DecentralError, match=r"cannot copy .*even\.profile"):
        write_bundle(load_experiment(here / "e.toml"), tmp_path / "bundle")
