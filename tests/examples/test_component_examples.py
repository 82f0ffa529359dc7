"""The example systems do what their pages say: those that are right violate nothing, and each fault is found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "components"


def run(spec, *program, outline=False):
    way = ["--outline"] if outline else []
    command = [sys.executable, "-m", "mopsus", "run", *way, "--json", spec, "--", *program]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr), done.stdout


@pytest.mark.parametrize("outline", [False, True])
@pytest.mark.parametrize(
    ("spec", "program", "properties"),
    [
        ("calculator.hml", ("calculator.py", "right"), set()),
        ("calculator.hml", ("calculator.py", "wrong"), {"serve"}),
        ("calculator.hml", ("calculator.py", "twice"), {"serve_2"}),
        ("tokens.hml", ("tokens.py",), set()),
        ("tokens.hml", ("tokens.py", "leak"), {"serve"}),
        ("tcp_calculator.hml", ("tcp_calculator.py",), set()),
    ],
)
def test_faults_are_found(spec, program, properties, outline):
    report, _ = run(spec, *program, outline=outline)
    assert {each["property"] for each in report["verdicts"] if each["severity"] == "error"} == properties
    assert report["stats"]["events"] > 5


@pytest.mark.parametrize("profile", ["steady", "pulse", "burst"])
def test_a_load_is_the_same_again_and_violates_nothing(profile):
    words = ("load.py", "--workers", "12", "--requests", "20", "--duration", "0.2", "--profile", profile, "--json")
    report, printed = run("load.hml", *words)
    assert not [each for each in report["verdicts"] if each["severity"] == "error"]
    plain = subprocess.run([sys.executable, *words], cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed)["messages"] == json.loads(plain)["messages"] > 300
    assert report["stats"]["specs"]["load"]["seen"]["start"] == 12
