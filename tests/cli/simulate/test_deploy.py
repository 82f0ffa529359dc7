"""`mopsus simulate deploy`, `host` and `relay` on the command line; hosts as processes are tested with deployments."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from decentral.support import LIGHTS

DEPLOYMENT = """
specification = "lights.toml"
algorithm = "migr"
[components.switch]
host = "hall"
peripheries = [{ kind = "text", trace = "s:f>s:t>s:t>s:t>s:f" }]
[components.bulb]
host = "lamp"
peripheries = [{ kind = "text", trace = "l:f>l:f>l:t>l:f>l:t" }]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "lights.toml").write_text(LIGHTS)
    (tmp_path / "deployment.toml").write_text(DEPLOYMENT)
    return tmp_path


def mopsus(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "mopsus", "simulate", *arguments], cwd=folder, capture_output=True, text=True
    )


def test_a_violation_and_everything_about_it(folder):
    done = mopsus(folder, "deploy", "deployment.toml", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    told = json.loads(done.stdout)
    assert {key: told[key] for key in ("verdict", "timestamp", "monitor", "end")} == {
        "verdict": "false",
        "timestamp": 4,
        "monitor": "monitor switch",
        "end": "over",
    }
    assert set(told["hosts"]) == {"hall", "lamp"}
    assert told["measures"]["msg_Ehe"] == told["measures"]["msg_num"] > 0


def test_no_violation_for_people(folder):
    (folder / "deployment.toml").write_text(DEPLOYMENT.replace("s:f>s:t>s:t>s:t>s:f", "s:f>s:f"))
    done = mopsus(folder, "deploy", "deployment.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("verdict: ? (nothing more can happen)\n  hall: process ")
    assert "; observed: bulb 5\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("deploy", "nothing.toml"), "error[DECENTRAL-072]: cannot read nothing.toml"),
        (("deploy", "deployment.toml", "--bus", "nats://127.0.0.1:1"), "error[BUS-001]: cannot connect to"),
        (("deploy", "deployment.toml", "--bus", "hall"), "error[BUS-001]: 'hall' is no address of a NATS server"),
        (("host", "hall", "--bus", "nats://127.0.0.1:1"), "error[BUS-001]: cannot connect to"),
        (("relay", "--bus", "nats://127.0.0.1:1", "--loss", "2"), "error[BUS-005]: 2.0 is no chance of loss"),
        (("relay", "--bus", "nats://127.0.0.1:1", "--delay", "2", "1"), "error[BUS-005]: a message cannot be late"),
        (("relay", "--bus", "nats://127.0.0.1:1", "--listen", "x"), "error[CLI-005]: 'x' is no address"),
    ],
    ids=str,
)
def test_what_is_wrong(folder, arguments, said):
    done = mopsus(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
