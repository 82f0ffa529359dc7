"""Signals that a Python program gets while the debugger is at work: they wait, and do to the program what they would
do without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from interactive.python.debugged import debug

pytestmark = pytest.mark.interpreter

SIGNALLED = """\
initialization { import os, signal }
state init accepting {
    transition { event act() success { os.kill(os.getpid(), signal.SIGUSR1) } once }
}
state once accepting { transition { event act() success twice } }
state twice non-accepting
"""
PROGRAM = """\
import signal
class Late(Exception): pass
def late(number, frame):
    raise Late
def act(): pass
def work():
    act()
    for _ in range(1000): pass
    print("nobody was late")
signal.signal(signal.SIGUSR1, late)
try:
    work()
except Late as error:
    trace = error.__traceback__
    while trace.tb_next: trace = trace.tb_next
    print("late", trace.tb_frame.f_code.co_name)
print(signal.getsignal(signal.SIGUSR1) is late, signal.signal(signal.SIGUSR1, signal.SIG_IGN) is late)
print(signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN, signal.getsignal(signal.SIGINT).__name__)
act()
"""


@pytest.mark.parametrize("options", [(), ("--no-hooks",)])
def test_what_a_handler_raises_ends_work_of_the_program_and_not_code_of_a_property(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = debug(tmp_path, PROGRAM, SIGNALLED, options=options)
    assert done.stdout == "late late\nTrue True\nTrue default_int_handler\n"
    assert (done.report["faults"], done.violations, done.status) == ([], ["twice"], 1)


TOLD = """\
initialization { import os, signal }
state init accepting {
    transition { event act() success { os.kill(os.getpid(), signal.SIGUSR1) } sent }
}
state sent accepting { transition { event signal SIGUSR1() success told } }
state told accepting { transition { event act() success done } }
state done non-accepting
"""


def test_a_signal_event_that_comes_while_the_debugger_is_at_work_is_told_afterwards(tmp_path: Path) -> None:
    program = "import signal\ndef act(): pass\nsignal.signal(signal.SIGUSR1, lambda *_: print('got'))\nact()\nact()\n"
    done = debug(tmp_path, program, TOLD)
    assert (done.stdout, done.violations, done.report["faults"]) == ("got\n", ["done"], [])
