"""The features of commands and interfaces, by their numbers in the catalogue: 61 to 63; and that each has a test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from interactive.gdb.programs import START, build, debug, run_gdb

pytestmark = pytest.mark.gdb

PROGRAM = """
    int rest;
    void take(int n) { rest -= n; }
    int main(void) { for (int i = 0; i < 3; i++) take(i); return 0; }
"""
TAKES = """
    initialization { count = 0 }
    state init accepting { transition { event take(n) { return n < 2 } success { count += 1 } failure empty } }
    state empty non-accepting
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "takes.prop").write_text(TAKES)
    (tmp_path / "quiet.scn").write_text("on entering state empty { print('reacting') }")
    (tmp_path / "names.py").write_text("def helper(*given): print('helped', given)\n")
    return tmp_path


@pytest.mark.parametrize("prefix", ["verde", "mopsus"])
def test_feature_61_the_commands(files, prefix):
    lines = [
        "activate",
        "new",
        f"load-scenario {files / 'quiet.scn'}",
        f"load-property {files / 'takes.prop'} {files / 'names.py'}",
        "get-current",
        f"load-property {files / 'takes.prop'}",
        "set-current 1",
        f"load-functions {files / 'names.py'}",
        "exec get_states",
        "show-graph text",
        "run",
        "cmd-group-begin",
        "exec set_quiet True",
        "exec get_current_states",
        "cmd-group-end",
        "delete 2",
        "run-with-program",
        "exec get_current_states",
        "nonsense",
    ]
    said = run_gdb(build(PROGRAM), [f"source {START}", *(f"{prefix} {line}" for line in lines)])
    assert "monitor #1 takes" in said
    assert "{'empty', 'init'}" in said or "{'init', 'empty'}" in said
    assert "Monitor #2 watches takes." in said
    assert said.index("{'init'}") < said.index("reacting") < said.index("exited normally") < said.index("{'empty'}")
    assert "there is no command `verde nonsense`" in said


def test_feature_61_checkpoints_of_program_and_monitors(files):
    said = run_gdb(
        build(PROGRAM),
        [
            "set confirm off",
            f"source {START}",
            f"verde load-property {files / 'takes.prop'}",
            "break take",
            "run",
            "continue",
            "verde checkpoint",
            "delete",
            "continue",
            "verde checkpoint-restart 0",
            "verde exec get_current_states",
            "print n",
            "continue",
        ],
    )
    assert said.count("Stopped: takes: empty") == 2
    assert "{'init'}" in said[said.index("Back at") :]
    assert "$1 = 1" in said


def test_feature_62_mopsus_debug_and_the_file_to_source(files):
    program = build(PROGRAM)
    prop = files / "takes.prop"
    words = [sys.executable, "-m", "mopsus", "debug", "--batch", "--prop", f"{prop},quiet", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "takes/efsm  empty" in done.stderr
    wrong = files / "wrong.prop"
    wrong.write_text("state init {\n    transision { event take() success init }\n}\n")
    loading = [f"verde load-property {each}" for each in (wrong, prop)]
    said = run_gdb(program, [f"source {START}", *loading, "verde run-with-program"])
    assert (
        f"--> {wrong}:2:5\n   |      transision {{ event take() success init }}\n   |      ^^^^^^^^^^ did you" in said
    )
    assert "Stopped: takes: empty" in said


def test_feature_63_the_interface_of_a_monitor(files):
    said = debug(
        build(PROGRAM),
        TAKES,
        "verde exec register_event state_changed helper",
        "verde exec register_event transition_taken helper",
        "verde exec set_transition_debug_function helper",
        "verde run",
        "verde exec step_by_step True",
        "run",
        "verde exec step_by_step False",
        "verde exec get_slices",
        "verde exec get_slice_bindings",
        "verde exec get_env_value None count",
        "verde exec set_env_value None count 41",
        "continue",
        "verde exec print_monitor_state",
        "verde exec get_env_keys None False",
        "verde exec set_current_state init",
        "verde exec get_current_states",
        "verde exec get_env_value None missing",
        functions=(files / "names.py").read_text(),
    )
    assert "a step of monitor #1" in said
    assert "[{}]" in said
    assert "count: 42" in said
    assert "['count']" in said
    assert "helped ({'empty'},)" in said
    assert "'failure')" in said
    assert said.splitlines()[-3:-1] == ["{'init'}", "there is no variable `missing`"]


def test_every_feature_has_a_test_that_starts_a_real_gdb():
    """The others belong to distributed sessions."""
    named = {
        int(number)
        for file in Path(__file__).parent.glob("test_*.py")
        for number in re.findall(r"def test_feature_(\d+)_", file.read_text())
    }
    assert set(range(1, 64)) - named == {18, 26, 52, 59}
