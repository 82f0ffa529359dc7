"""What a Python program does where nobody sees it: in processes that it makes, as another program, behind a trace
function of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from interactive.python.debugged import debug

pytestmark = pytest.mark.interpreter

ONCE = """\
state init accepting { transition { event act() success once } }
state once accepting { transition { event act() success twice } }
state twice non-accepting
"""
PROGRAM = """\
import os, subprocess, sys, threading, multiprocessing
def act(): pass
def fail(): raise ValueError("far away")
if __name__ == "__main__":
    act()
"""


def run(folder: Path, text: str):
    return debug(folder, PROGRAM + "".join(f"    {line}\n" for line in text.splitlines()), ONCE)


@pytest.mark.parametrize(
    ("text", "elsewhere", "started"),
    [
        ("if not os.fork(): act(); os._exit(0)\nos.wait()", "1 child process", 0),
        (
            "for how in ('fork', 'spawn'):\n"
            "    child = multiprocessing.get_context(how).Process(target=act)\n    child.start(), child.join()",
            "2 child processes",
            0,
        ),
        (
            "subprocess.run(['true']), os.system('true'), os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
            "",
            3,
        ),
        ("os.execv('/bin/true', ['true'])", "/bin/true, which the program became,", 0),
        ("try: os.execv('/nowhere', ['x'])\nexcept OSError: pass", "", 0),
    ],
)
def test_processes_that_nobody_watches_are_said(tmp_path: Path, text: str, elsewhere: str, started: int) -> None:
    done = run(tmp_path, text)
    assert (done.status, done.report["stats"]["events"]) == (0, 1)
    told = [each for each in done.report["unseen"] if "what happened in" in each["message"]]
    assert [each["message"] for each in told] == (
        [f"spec watched: what happened in {elsewhere} was not seen"] if elsewhere else []
    )
    assert not any("follow-fork" in str(each) for each in told)
    warnings = [each["message"] for each in done.report["warnings"] if "started" in each["message"]]
    assert warnings == ([f"{started} programs that it started were not watched"] if started else [])


def test_a_daemon_that_outlives_the_program_ends_as_it_would(tmp_path: Path) -> None:
    """It once reported on itself, in the place of the program or with a traceback of ours."""
    text = "if os.fork(): os._exit(4)\nimport time\nwhile os.getppid() != 1: time.sleep(0.01)\ntime.sleep(0.3)\nact()"
    done = run(tmp_path, text)
    assert done.report["program"]["status"] == 4
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["sys.settrace(None)", "old = sys.gettrace(); sys.settrace(print); sys.settrace(old)"])
def test_a_trace_function_that_is_put_back_is_ours_again(tmp_path: Path, text: str) -> None:
    done = run(tmp_path, f"{text}\nact()")
    assert done.violations == ["twice"]


def test_a_trace_function_of_the_programs_own_is_no_pass(tmp_path: Path) -> None:
    done = run(tmp_path, "sys.settrace(lambda *event: None)\nact()")
    if sys.version_info >= (3, 12):  # the debugger has a way of its own, and sees it all the same
        assert done.violations == ["twice"]
        return
    assert done.status == 2
    assert "a trace function of its own" in done.stderr + str(done.report)


def test_an_end_without_a_word_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, "import ctypes; ctypes.CDLL(None)._exit(3)")
    assert (done.status, done.report["program"]["status"]) == (2, 3)
    assert "the monitors died with the program" in str(done.report["warnings"])
    (untold,) = done.report["unseen"]
    assert (untold["event"], untold["possible"]) == (None, False)


def test_an_exception_that_ends_a_thread_is_a_finding(tmp_path: Path) -> None:
    done = run(tmp_path, "for what in (fail, sys.exit):\n    it = threading.Thread(target=what); it.start(); it.join()")
    crash, *_ = done.report["verdicts"]
    assert (done.status, done.violations[0]) == (1, "lost a thread to ValueError")
    assert crash["location"].endswith("program.py:3")
    assert (done.report["program"]["status"], done.violations.count("lost a thread to ValueError")) == (0, 1)
