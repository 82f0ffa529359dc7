"""`mopsus simulate run` on files as users have them."""

from __future__ import annotations

import json

import pytest
from decentral.support import LIGHTS

from mopsus.cli.main import main
from mopsus.decentral.simulate.recording import load_recording

CIRCLE = """
[components]
switch = ["s"]
bulb = ["l"]

[monitors]
root = "s | @other"
other = "l | @root"
"""
RUN = ("--spec", "lights.toml", "--traces", "traces", "--algorithm")


@pytest.fixture
def mopsus(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lights.toml").write_text(LIGHTS)
    (tmp_path / "circle.toml").write_text(CIRCLE)
    (tmp_path / "lights.xml").write_text(
        "<specifications><specification id='root' class='LTL'><setLTL>G(s -> X(l U !s))</setLTL></specification>"
        "</specifications>"
    )
    (tmp_path / "traces").mkdir()
    for letter, name, values in (("a", "s", "ftttf"), ("b", "l", "fftft")):
        (tmp_path / "traces" / f"0-{letter}.trace").write_text("".join(f"{name}:{value}\n" for value in values))

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["simulate", "run", *arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_it_says_what_was_found_and_why(mopsus):
    status, out, err = mopsus(*RUN, "migr")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "false  at timestamp 4, found in round 5"
    assert lines[1:4] == [
        "   monitor switch knew state q1 at 3",
        "   because s of switch was true at 4",
        "   because l of bulb was false at 4",
    ]
    assert "messages          2" in lines


def test_json_has_everything(mopsus):
    status, out, _ = mopsus(*RUN, "orch", "--json")
    told = json.loads(out)
    assert status == 1
    assert (told["verdict"], told["timestamp"], told["round"]) == ("false", 4, 5)
    assert told["measures"]["msg_num"] == 5
    assert told["explanation"]["reasons"][0] == {"time": 4, "name": "s", "component": "switch", "value": True}


def test_the_traces_say_which_components_there_are(mopsus):
    status, out, _ = mopsus("--spec", "lights.xml", "--traces", "traces", "--algorithm", "migrr", "--json")
    told = json.loads(out)
    assert (status, told["measures"]["comps"], told["measures"]["msg_num"]) == (1, 2, 4)


def test_what_is_lost_is_missed(mopsus):
    status, out, _ = mopsus(*RUN, "orch", "--network", "loss=1")
    assert status == 0
    assert out.startswith("?  no verdict in 5 rounds\n   not known: l of bulb at 3\n")
    assert "   messages that were lost: 5\n" in out


def test_a_lost_encoding_is_sent_again(mopsus):
    status, out, _ = mopsus(*RUN, "migr", "-o", "patience=2", "--network", "loss=0.5", "--limit", "200", "--json")
    told = json.loads(out)
    assert (status, told["verdict"]) == (1, "false")
    assert told["measures"]["msg_Acknowledgement"] > 0


def test_monitors_may_refer_to_each_other_in_a_circle(mopsus):
    circle = ("--spec", "circle.toml", "--traces", "traces", "--algorithm", "general", "--allow-cycles")
    status, out, _ = mopsus(*circle)
    assert (status, out.splitlines()[0]) == (0, "?  no verdict in 7 rounds")
    status, out, _ = mopsus(*circle, "-o", "watch=all")
    assert "root: true at 2..5" in out.splitlines()


def test_numbers_may_be_large(mopsus):
    status, out, err = mopsus(*RUN, "orch", "--seed", "-1", "--limit", "9" * 30)
    assert (status, err) == (1, "")
    assert out.startswith("false  at timestamp 4")


def test_a_run_is_recorded(mopsus, tmp_path):
    mopsus(*RUN, "migr", "--record", "run.json")
    recording = load_recording(tmp_path / "run.json")
    assert recording.verdict is False
    assert [message.text for message in recording.messages] == ["timestamps 2..3, 1 node", "timestamps 3..4, 1 node"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*RUN, "orhc"), "DECENTRAL-084", "did you mean"),
        ((*RUN, "orch", "-o", "active=2"), "DECENTRAL-052", "no option 'active'"),
        ((*RUN, "migr", "-o", "active=0"), "DECENTRAL-052", "from 1 on"),
        ((*RUN, "migr", "-o", "patience=" + "9" * 30), "DECENTRAL-052", "from 0 on"),
        ((*RUN, "migr", "-o", "active=3"), "DECENTRAL-052", "cannot be active"),
        ((*RUN, "migr", "-o", "active"), "CLI-005", "KEY=VALUE"),
        ((*RUN, "orch", "--network", "loss=2"), "DECENTRAL-053", "from 0 to 1"),
        ((*RUN, "orch", "--network", "lost=1"), "DECENTRAL-053", "does not describe a network"),
        ((*RUN, "orch", "--network", "crash=1..2:me"), "DECENTRAL-053", "no monitor 'me'"),
        ((*RUN, "orch", "--network", "partition=1..2:switch|lamp"), "DECENTRAL-053", "no component 'lamp'"),
        ((*RUN, "orch", "--network", "delay=0"), "DECENTRAL-053", "at least one"),
        ((*RUN, "orch", "--run", "3"), "DECENTRAL-040", "3-a.trace"),
        ((*RUN, "orch", "--root", "chek"), "DECENTRAL-024", "chek"),
        (("--spec", "lights.toml", "--traces", "no", "--algorithm", "orch"), "DECENTRAL-040", "no folder"),
        (("--spec", "circle.toml", "--traces", "traces", "--algorithm", "orch"), "DECENTRAL-025", "--allow-cycles"),
        (
            ("--spec", "circle.toml", "--traces", "traces", "--algorithm", "orch", "--allow-cycles"),
            "DECENTRAL-051",
            "'general'",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(mopsus, arguments, code, words):
    status, out, err = mopsus(*arguments)
    assert (status, out) == (2, "")
    assert code in err
    assert words in err
    assert "Traceback" not in err
