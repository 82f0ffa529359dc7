"""`mopsus simulate analyse` says what can be known before a specification runs."""

from __future__ import annotations

import json

import pytest
from decentral.support import LIGHTS

from mopsus.cli.main import main

SPLIT = LIGHTS.replace("X(l U", "X(@on U") + 'on = "l"\n'
CIRCLE = """
[components]
A = ["a"]
B = ["b"]
[monitors]
root = "a | @other"
other = "b | @root"
"""


@pytest.fixture
def analyse(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"lights": LIGHTS, "split": SPLIT, "circle": CIRCLE}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "early.toml").write_text(SPLIT.replace("X(@on", "(@on"))

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["simulate", "analyse", *arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_places_depths_and_costs_are_told(analyse):
    status, out, err = analyse("split.toml")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "check  on switch; 3 states; depends on on; a verdict after 2 rounds",
        "on     on bulb; 3 states; a verdict after 1 round",
        "a verdict of each costs 1 in messages, on the cheapest placement",
        "monitorable",
    ]
    told = json.loads(analyse("split.toml", "--json")[1])
    assert (told["cost"], told["proven"], told["monitors"]["check"]["depends_on"]) == (1, True, ["on"])


def test_one_monitor_of_all_components_has_no_place(analyse):
    assert analyse("lights.toml")[:2] == (0, "check  3 states; a verdict after 1 round\nmonitorable\n")


def test_nothing_is_proven_of_a_circle(analyse):
    status, out, _ = analyse("circle.toml")
    assert status == 1
    assert out.splitlines()[-2:] == [
        "not proven to be monitorable",
        "   they depend on each other: root -> other -> root",
    ]


def test_two_specifications_are_compared(analyse):
    assert analyse("split.toml", "lights.toml")[:2] == (0, "the verdicts are the same on all traces\n")
    status, out, _ = analyse("split.toml", "early.toml")
    assert status == 1
    assert out.splitlines()[1:] == ["   1: s", "split.toml: ?", "early.toml: false"]
    told = json.loads(analyse("split.toml", "early.toml", "--json")[1])
    assert told == {"equivalent": False, "trace": [["s"]], "verdicts": ["?", "false"]}


def test_a_missing_file_is_said(analyse):
    status, _, err = analyse("none.toml")
    assert status == 2
    assert "none.toml" in err
