"""Python programs that die: of an exception that nobody catches, of a signal; and what is no death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from interactive.python.debugged import debug

pytestmark = pytest.mark.interpreter

PROP = "state init accepting { transition { event act(n) success init } transition { event never(n) success init } }\n"
PROGRAM = """\
import ctypes, os, signal, sys
def never(n): pass
def act(n):
    if n == 1: raise ValueError("one is\\ntoo few")
    if n == 2: os.kill(os.getpid(), signal.SIGTERM)
    if n == 3: ctypes.string_at(0)
    if n == 4: sys.exit(7)
    if n == 5: raise KeyboardInterrupt
    if n == 6: ctypes.CDLL(None)._exit(0)
act(0)
act(int(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("case", "said", "line"), [("1", "died of ValueError", 4), ("3", "died of SIGSEGV (segmentation fault)", None)]
)
def test_a_death_is_a_finding_with_its_stack(tmp_path: Path, case: str, said: str, line: int | None) -> None:
    done = debug(tmp_path, PROGRAM, PROP, arguments=(case,))
    (crash, *_) = done.report["verdicts"]
    assert (done.status, crash["spec"], crash["category"]) == (1, "program", said)
    stack = done.report["program"]["stop"]["backtrace"]
    assert [each.split(" ")[1] for each in stack[-2:]] == ["act", "<module>"]
    if line is not None:
        assert crash["location"].endswith(f"program.py:{line}")
        assert crash["remarks"][0] == "ValueError: one is\ntoo few"
        assert "ValueError: one is" in done.stderr


def test_a_program_killed_by_a_signal_has_died_of_it_and_what_is_lost_is_said(tmp_path: Path) -> None:
    done = debug(tmp_path, PROGRAM, PROP, arguments=("2",))
    assert done.violations == ["died of SIGTERM (terminated)"]
    assert done.status == 1
    assert any("the monitors died with the program" in str(each) for each in done.report["warnings"])


@pytest.mark.parametrize(("options", "faults"), [((), 2), (("--on-fault", "stop"), 1)])
def test_a_fault_is_told_and_stops_the_program_if_that_is_wished(
    tmp_path: Path, options: tuple[str, ...], faults: int
) -> None:
    prop = "state init accepting { transition { event act(n) { return n.size > 1 } success init } }\n"
    done = debug(tmp_path, PROGRAM, prop, options=options, arguments=("0",))
    assert done.status == 2
    [fault] = done.report["faults"]
    assert (fault["error"], fault["count"]) == ("AttributeError", faults)


def test_an_end_that_nobody_could_tell_of_is_no_good_news(tmp_path: Path) -> None:
    """It was once a warning, and green, though nobody had judged the end of the program."""
    prop = PROP.replace("transition { event never(n) success init }", "transition { event #end() success bad }")
    prop += "state bad non-accepting\n"
    assert debug(tmp_path, PROGRAM, prop, arguments=("0",)).violations == ["bad"]
    done = debug(tmp_path, PROGRAM, prop, arguments=("6",))
    assert (done.status, done.violations) == (2, [])
    assert [each["refused"] for each in done.report["unseen"]] == [True]
    assert "from its last verdict on was not seen" in done.report["unseen"][0]["message"]
    assert debug(tmp_path, PROGRAM, prop, arguments=("6",), options=("--allow-silent",)).status == 0


@pytest.mark.parametrize(("case", "status"), [("4", 7), ("5", -2)])
def test_an_exit_and_an_interruption_are_none(tmp_path: Path, case: str, status: int) -> None:
    done = debug(tmp_path, PROGRAM, PROP, arguments=(case,))
    assert (done.violations, done.report["program"]["status"]) == ([], status)


def test_a_program_that_is_no_python_is_said_to_have_died_of_that(tmp_path: Path) -> None:
    done = debug(tmp_path, "def act(n): pass\nx = = 3\n", "state init { transition { event act(n) success init } }")
    assert done.violations == ["died of SyntaxError"]


def test_at_the_prompt_the_developer_sees_the_death_and_looks_around(tmp_path: Path) -> None:
    done = debug(tmp_path, PROGRAM, PROP, arguments=("1",), commands="continue\np n\ncontinue\n")
    assert "Crash: the program died of ValueError" in done.stdout
    assert "(mopsus) 1\n" in done.stdout


def test_a_wrong_line_typed_in_interact_ends_nothing(tmp_path: Path) -> None:
    done = debug(tmp_path, PROGRAM, PROP, arguments=("4",), commands="interact\nx = = 3\n1 / 0\n")
    assert "SyntaxError" in done.stdout + done.stderr  # 3.13 tells it where it tells all else
    assert "ends the program" not in done.stdout + done.stderr


def test_a_program_that_is_ended_together_with_its_debugger_is_not_said_to_have_done_nothing(tmp_path: Path) -> None:
    program, prop, report = (tmp_path / name for name in ("program.py", "act.prop", "report.json"))
    program.write_text("def act(): pass\nact()\nprint('there', flush=True)\nwhile True: pass\n")
    prop.write_text("state init accepting { transition { event act() success init } }")
    words = [sys.executable, "-m", "mopsus", "debug", "--batch", "--json", "-o", report, "--prop", prop, program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    told = json.loads(report.read_text())
    assert told["unseen"] == []
    assert "the monitors died with the program" in str(told["warnings"])
