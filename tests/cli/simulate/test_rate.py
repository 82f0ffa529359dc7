"""`mopsus simulate rate` finds how often sensors must be polled."""

from __future__ import annotations

import json

import pytest

from mopsus.cli.main import main


@pytest.fixture
def rate(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "door.csv").write_text("time,value\n10,OPEN\n13,CLOSED\n100,OPEN\n")
    (tmp_path / "power.csv").write_text("0,3\n1,4\n2,25\n7,30\n9,2\n60,21\n")
    (tmp_path / "still.csv").write_text("5,ON\n")

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["simulate", "rate", *arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_the_fastest_sensor_counts(rate):
    status, out, err = rate("door.csv", "power.csv", "still.csv", "--above", "power=20")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "door   3 s to 87 s between changes",
        "power  7 s to 51 s between changes",
        "still  changes less than twice",
        "poll every 3 s",
    ]
    told = json.loads(rate("power.csv", "--below", "power=20", "--json")[1])
    assert told == {"step_s": 2.0, "sensors": {"power": {"least_s": 2.0, "most_s": 51.0}}}
    assert rate("still.csv")[1].endswith("no sensor changes twice\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("power.csv",), "'3' means neither true nor false"),
        (("power.csv", "--above", "power"), "write NAME=NUMBER"),
        (("door.csv", "--above", "power=3"), "no recording 'power'"),
        (("none.csv",), "cannot read the recording none.csv"),
    ],
)
def test_misuse_is_said(rate, arguments, says):
    status, out, err = rate(*arguments)
    assert (status, out) == (2, "")
    assert says in err
