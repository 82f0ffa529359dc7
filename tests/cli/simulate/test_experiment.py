"""`mopsus simulate experiment` and `report`, as their users start them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

SETTINGS = """
title = "Lamps & more"
algorithms = ["orch", "migrr"]
[[series]]
components = 2
specs = "specs/*.xml"
traces = { profile = "beta-1", length = 8 }
runs = 3
"""

XML = "<specifications><specification id='root' class='LTL'><setLTL>{}</setLTL></specification></specifications>"


@pytest.fixture
def mopsus(tmp_path):
    (tmp_path / "specs").mkdir()
    for number, formula in enumerate(["G(a0 -> b0)", "F(a0 &amp; b0)", "G F a0"]):
        (tmp_path / "specs" / f"{number}.xml").write_text(XML.format(formula))
    (tmp_path / "e.toml").write_text(SETTINGS)

    def run(*arguments, **options):
        command = [sys.executable, "-m", "mopsus", "simulate", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False, **options
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_from_the_file_to_the_report(mopsus, tmp_path):
    import pyarrow.parquet as parquet

    status, out, err = mopsus("experiment", "e.toml", "--parquet", "e.parquet")
    assert (status, err) == (0, "")
    refused, summary = out.splitlines()
    assert refused.startswith("not run: specs/2.xml: monitor 'root' reaches no verdict")
    assert summary == "e.db: 12 of 12 runs have results"
    assert parquet.read_table(tmp_path / "e.parquet").num_rows == 12
    assert mopsus("experiment", "e.toml", "--quiet") == (0, "", "")
    told = json.loads(mopsus("experiment", "e.toml", "--json")[1])
    assert (told["runs"], told["finished_before"], told["failed"]) == (12, 12, [])
    assert list(told["discarded"]) == ["specs/2.xml"]

    status, out, err = mopsus("report", "e.db", "-o", "out", "--by", "comps")
    assert (status, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["alg", "comps", "runs"],
        ["orch", "2", "6"],
        ["migrr", "2", "6"],
    ]
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<svg") == 10
    assert "<h1>Lamps &amp; more</h1>" in page
    assert (tmp_path / "out" / "messages.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads(mopsus("report", "e.db", "--json")[1])
    assert [group["alg"] for group in told["groups"]] == ["orch", "migrr"]
    assert told["groups"][0]["figures"]["messages"]["count"] == 6


def test_what_fails_is_named_with_its_reason(mopsus, tmp_path):
    (tmp_path / "lights.toml").write_text('[monitors]\nlight = "b0"\nroot = "G(a0 -> @light)"\n')
    (tmp_path / "e.toml").write_text(
        SETTINGS.replace("specs/*.xml", "lights.toml").replace("migrr", "general").replace("runs = 3", "runs = 7")
    )
    status, out, err = mopsus("experiment", "e.toml", "-q")
    assert (status, err) == (1, "")
    failed, *_, summary = out.splitlines()
    assert failed.startswith("failed: lights.toml trace 0 orch, lights.toml trace 1 orch, ")
    assert "trace 4 orch and 2 more: error[DECENTRAL-051]: the algorithm monitors one formula" in failed
    assert summary == "e.db: 7 of 14 runs have results, 7 failed"
    report = mopsus("report", "e.db")[1].splitlines()
    assert report[1].split()[:3] == ["general", "2", "7"]
    assert report[-1] == "7 runs failed, not in the table"


def test_a_bundle_is_an_experiment(mopsus, tmp_path):
    assert mopsus("experiment", "e.toml", "--bundle", "b")[:2] == (
        0,
        "b/experiment.toml: the experiment and all that it needs\n",
    )
    assert not (tmp_path / "e.db").exists()
    assert mopsus("experiment", "b/experiment.toml", "-j", "1")[0] == 0
    assert (tmp_path / "b" / "results.db").exists()


def test_progress_is_shown_to_people(tmp_path, mopsus):
    (tmp_path / "slow.py").write_text(
        "import time\nfrom mopsus.decentral.measures.groups import MeasureGroup\n"
        "class Slow(MeasureGroup):\n    def run_end(self, outcome):\n        time.sleep(0.2)\n"
    )
    (tmp_path / "e.toml").write_text(f'measures = ["run", "slow.py:Slow"]\n{SETTINGS}')
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mopsus", "simulate", "experiment", "e.toml", "-j", "1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with open(ours, "rb", buffering=0) as terminal:
        try:
            while part := terminal.read(4096):
                shown += part
        except OSError:  # the other end is closed
            pass
    assert process.wait() == 0
    assert b"runs/s" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("experiment", "none.toml"), "cannot read none.toml"),
        (("experiment", "specs/0.xml"), "invalid statement"),
        (("report", "none.db"), "there are no results none.db"),
        (("report", "e.toml"), "cannot use e.toml for results"),
        (("experiment", "e.toml", "--bundle", "specs"), "is not empty"),
    ],
)
def test_misuse_is_said(mopsus, arguments, says):
    status, out, err = mopsus(*arguments)
    assert (status, out) == (2, "")
    assert says in err.lower()
