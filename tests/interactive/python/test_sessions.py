"""Whole sessions with Python programs: verdicts, the prompt, scenarios, checkpoints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from ending import end_all
from interactive.python.debugged import BOUND, debug
from interactive.python.logged import plain

pytestmark = pytest.mark.interpreter

QUEUE = """\
import sys

class Queue:
    def __init__(self, size):
        self.size, self.items = size, []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop(0)

def main():
    q = Queue(2)
    q.push("a")
    q.push("b")
    print("popped", q.pop())
    q.push("c")
    q.push("d")
    print("left", q.items, sys.argv[1:])
    return 3

if __name__ == "__main__":
    sys.exit(main())
"""

TURNS = """\
Turns(q) {
    event push before(q) : call(Queue.push) && target(q) {}
    event pop before(q) : call(Queue.pop) && target(q) {}
    fsm : s0 [push -> s1] s1 [push -> s2 pop -> s0] s2 [pop -> s1]
    @fail {}
}
"""


@pytest.mark.parametrize("prop", [BOUND, TURNS])
@pytest.mark.parametrize("quiet", [True, False])
def test_a_violation_ends_a_batch_run_where_it_happens(tmp_path, prop, quiet):
    done = debug(tmp_path, QUEUE, prop, quiet=quiet)
    assert done.status == 1
    assert done.stdout == "popped a\n"
    assert len(done.violations) == 1
    assert done.report["verdicts"][0]["location"].endswith("program.py:7")
    assert len(done.report["verdicts"][0]["witness"]) in (5, 6)


def test_with_a_scenario_that_only_looks_the_program_is_as_in_a_plain_run(tmp_path):
    scenario = "on entering non-accepting state { print('full', get('item')) }\n"
    done = debug(tmp_path, QUEUE, BOUND, scenario=scenario, arguments=("x", "y"))
    alone = plain(tmp_path, QUEUE, "x", "y")
    assert done.stdout == alone.stdout
    assert "full d" in done.stderr
    assert done.violations == ["full"]
    assert done.report["program"]["status"] == alone.status == 3


def test_the_prompt_appears_at_the_violation_and_has_the_commands_of_pdb(tmp_path):
    commands = "continue\np item\nup\np q.items\nwhere\nverde exec get_current_states\nnext\nargs\ncontinue\n"
    done = debug(tmp_path, QUEUE, BOUND, commands=commands)
    assert "Stopped: watched: full" in done.stdout
    assert "-> import sys" in done.stdout  # the first line of the program
    assert "(mopsus) 'd'\n" in done.stdout
    assert "(mopsus) ['b', 'c']\n" in done.stdout
    assert "main()" in done.stdout
    assert "'full'" in done.stdout
    assert "left ['b', 'c', 'd']" in done.stdout
    assert done.report["program"]["status"] == 3
    assert "start.py" not in done.stdout  # nothing of ours is on the stack


def test_variables_can_be_changed_at_the_prompt(tmp_path):
    program = "def f(x):\n    y = x\n    return y * 2\nprint(f(1))\n"
    done = debug(
        tmp_path, program, "state init { transition { event f() success init } }", commands="b 3\nc\ny = 21\nc\n"
    )
    assert "42" in done.stdout


def test_steps_go_into_calls_over_them_and_out(tmp_path):
    program = "def f(x):\n    y = x\n    return y\nf(1)\nf(2)\nprint('end')\n"
    watched = "state init { transition { event f() success init } }"
    done = debug(tmp_path, program, watched, commands="next\nstep\nstep\nstep\nreturn\nnext\nnext\ncontinue\n")
    assert [line for line in done.stdout.splitlines() if line.startswith("-> ")] == [
        "-> def f(x):",
        "-> f(1)",
        "-> def f(x):",
        "-> y = x",
        "-> return y",
        "-> return y",
        "-> f(2)",
        "-> print('end')",
    ]


def test_the_main_program_is_left_at_its_end_though_it_returns_to_nobody(tmp_path):
    program = "def f(x):\n    return 1 / x\ntry: f(0)\nexcept ArithmeticError: pass\nprint('end')\n"
    watched = "state init { transition { event f() success init } }"
    done = debug(tmp_path, program, watched, commands="next\nreturn\ncontinue\n")
    assert [line for line in done.stdout.splitlines() if line.startswith("-> ")] == [
        "-> def f(x):",
        "-> try: f(0)",
        "-> print('end')",
    ]
    assert "--Return--" in done.stdout
    assert done.report["program"]["status"] == 0


def test_the_developers_point_comes_before_the_monitors(tmp_path):
    commands = "next\nnext\nnext\nbreak Queue.push\n" + "continue\n" * 6
    done = debug(tmp_path, QUEUE, BOUND, commands=commands, quiet=False)
    shown = done.stdout
    first_stop = shown.index("-> self.items.append(item)")
    assert first_stop < shown.index("Event: push")
    assert shown.count("Event: push") == 4
    assert shown.count("Stopped: ") == 1


def test_a_checkpoint_brings_program_and_monitors_back_as_often_as_one_likes(tmp_path):
    commands = (
        "break 17\ncontinue\nverde checkpoint\ncontinue\np item\n"
        "verde checkpoint-restart 0\np q.items\ncontinue\np item\n"
        "verde checkpoint-restart 0\n!q.items[0] = 'z'\nclear 1\ncontinue\ncontinue\n"
    )
    done = debug(tmp_path, QUEUE, BOUND, commands=commands)
    assert done.stdout.count("Back at checkpoint 0") == 2
    assert done.stdout.count("Stopped: watched: full") == 3
    assert "(mopsus) ['a', 'b']" in done.stdout
    assert "popped z" in done.stdout
    assert done.violations == ["full"] * 3
    assert done.report["program"]["status"] == 3


def test_a_scenario_goes_back_once_and_looks_closer(tmp_path):
    scenario = """\
initialization { last = None
                 tried = 0
                 seen = [] }
on entering state ready {
    last = checkpoint()
}
on entering non-accepting state {
    tried += 1
    if tried > 2:
        suspend_execution()
    else:
        set_breakpoint("pop", lambda: seen.append(get("len(self.items)")))
        print("tried", tried, seen)
        restore_checkpoint(0)
}
"""
    done = debug(tmp_path, QUEUE, BOUND, scenario=scenario)
    assert [line for line in done.stderr.splitlines() if line.startswith("tried")] == ["tried 1 []", "tried 2 [2]"]
    assert done.stdout.count("popped a") == 3
    assert done.violations == ["full"] * 3
    assert done.status == 1


def test_random_numbers_and_open_files_are_as_they_were(tmp_path):
    (tmp_path / "input").write_text("one\ntwo\nthree\n")
    program = (
        "import random\nrandom.seed(7)\nfile = open('input')\n"
        "def step(): return file.readline().strip(), random.random()\n"
        "step()\nprint('second', step())\nprint('third', step())\n"
    )
    watched = "state init { transition { event step() success init } }"
    commands = "b 6\nc\nverde checkpoint\nclear 1\nn\nn\nverde checkpoint-restart 0\nc\n"
    done = debug(tmp_path, program, watched, commands=commands)
    said = [line.removeprefix("(mopsus) ") for line in done.stdout.splitlines()]
    seconds, thirds = ([line for line in said if line.startswith(word)] for word in ("second ('two'", "third ('three'"))
    assert len(seconds) == len(thirds) == 2
    assert len({*seconds, *thirds}) == 2


SILENT = "state init { transition { event f() success init } }\n"
LINES = "def f(): pass\nx = 1\nx = 2\nprint('over', x)\n"


def test_a_checkpoint_can_be_gone_back_to_faster_than_anybody_looks(tmp_path):
    """Who waits for the program then finds one that is not the next but a later one; that was once not its child yet,
    and the folder where they all meet was removed under a program that ran on."""
    commands = "b 3\nc\nverde checkpoint\n" + "verde checkpoint-restart 0\n" * 150 + "c\n"
    done = debug(tmp_path, LINES, SILENT, commands=commands)
    assert done.status == 0, done.stderr
    assert done.stdout.count("Back at checkpoint 0") == 150
    assert done.stdout.count("over 2") == 1


def test_checkpoints_come_and_go(tmp_path):
    """Each has a name that none had before: the third once had that of the second."""
    commands = "b 3\nc\n" + "verde checkpoint\n" * 2 + "verde checkpoint-discard 0\nverde checkpoint\n"
    commands += "verde checkpoint-restart 1\nverde checkpoint-restart 0\nc\n"
    done = debug(tmp_path, LINES, SILENT, commands=commands)
    assert "Back at checkpoint 1" in done.stdout
    assert "Back at checkpoint 0" in done.stdout
    assert "over 2" in done.stdout


def test_a_session_that_nobody_reads_goes_on_and_so_does_the_program(tmp_path):
    """What was said at the prompt once raised errors of a broken pipe in the program."""
    (tmp_path / "program.py").write_text("def f(): pass\nf()\nopen('over', 'w').close()\n")
    (tmp_path / "once.prop").write_text(
        "state init { transition { event f() success bad } }\nstate bad non-accepting\n"
    )
    words = ["debug", "--prop", "once.prop", "--json", "-o", "report.json", "program.py"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", *words],
        input="break 2\ncontinue\np 1\nverde checkpoint\ncontinue\nverde checkpoint-restart 0\ncontinue\ncontinue\n",
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert [each["category"] for each in report["verdicts"]] == ["bad"] * 2
    assert (tmp_path / "over").exists()


def test_a_checkpoint_is_refused_while_other_threads_run(tmp_path):
    program = (
        "import threading\nevent = threading.Event()\n"
        "thread = threading.Thread(target=event.wait, name='waiter')\nthread.start()\n"
        "def f(): pass\nf()\nevent.set()\nthread.join()\nf()\n"
    )
    watched = "state init { transition { event f() success init } }"
    done = debug(tmp_path, program, watched, commands="b 6\nb 9\nc\nverde checkpoint\nc\nverde checkpoint\nc\n")
    assert "the program has other threads (waiter)" in done.stdout
    assert "Checkpoint 0" in done.stdout


def test_the_record_replays_to_the_same_verdicts(tmp_path):
    scenario = "initialization { }\n"
    done = debug(tmp_path, QUEUE, BOUND, scenario=scenario, options=("--record", str(tmp_path / "trace.csv")))
    assert done.violations == ["full"]
    words = ["check", str(tmp_path / "watched.prop"), str(tmp_path / "trace.csv"), "--json"]
    ran = subprocess.run([sys.executable, "-m", "mopsus", *words], capture_output=True, text=True, check=False)
    replayed = [verdict["category"] for verdict in json.loads(ran.stdout)["verdicts"]]
    assert replayed == ["full"]


@pytest.mark.parametrize(
    ("prop", "said"),
    [
        (
            "state init { transition { event pusj() success init } }",
            "the program has no function pusj; there is Queue.push",
        ),
        ("state init { transition { event time.sleep() success init } }", "time.sleep is no function in Python"),
        ("state init { transition { event line 2 success init } }", "line 2 of"),
        ("state init { transition { event syscall write success init } }", "system calls of a Python program"),
        ("state init { transition { event signal SIGUSR3 success init } }", "did you mean SIGUSR"),
    ],
)
def test_a_place_that_the_program_lacks_is_told(tmp_path, prop, said):
    done = debug(tmp_path, QUEUE, prop)
    assert said in done.stderr
    assert done.status == 2


def test_the_end_of_the_program_is_an_event_even_of_one_that_leaves_at_once(tmp_path):
    program = "import os\ndef f(): pass\nf()\nos._exit(7)\n"
    watched = """\
state init accepting { transition { event f() success begun } }
state begun accepting { transition { event #end() success late } }
state late non-accepting
"""
    done = debug(tmp_path, program, watched)
    assert done.violations == ["late"]
    assert done.report["program"]["status"] == 7


def test_modules_run_as_python_runs_them(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "__main__.py").write_text("from pack.work import f\nprint(__name__, f(2))\n")
    (tmp_path / "pack" / "work.py").write_text("def f(x):\n    return x + 1\n")
    (tmp_path / "watched.prop").write_text(
        "state init { transition { event f() success bad } } state bad non-accepting"
    )
    words = ["debug", "--batch", "-q", "--prop", f"{tmp_path / 'watched.prop'},scenario={tmp_path / 'none.scn'}"]
    (tmp_path / "none.scn").write_text("")
    ran = subprocess.run(
        [sys.executable, "-m", "mopsus", *words, "--", "-m", "pack"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "__main__ 3\n"
    assert ran.returncode == 1


def test_quitting_ends_the_program_where_it_stands(tmp_path):
    done = debug(tmp_path, QUEUE, BOUND, commands="continue\nquit\n")
    assert "left" not in done.stdout
    assert done.report["program"]["status"] is None


def test_verdicts_outlive_a_program_that_is_killed(tmp_path):
    program = "import os, signal\ndef f(): pass\nf()\nos.kill(os.getpid(), signal.SIGKILL)\n"
    watched = "state init { transition { event f() success bad } } state bad non-accepting"
    done = debug(tmp_path, program, watched, scenario="")
    assert done.violations == ["bad", "died of SIGKILL (killed)"]
    assert done.report["program"]["status"] == -9


def test_after_an_uncaught_exception_one_can_look_around(tmp_path):
    program = "def f(x):\n    return 1 / x\nf(0)\n"
    watched = "state init { transition { event f() success init } }"
    done = debug(tmp_path, program, watched, commands="c\np x\nup\ncontinue\n")
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "(mopsus) 0\n" in done.stdout
    assert "-> f(0)" in done.stdout
    assert done.report["program"]["status"] == 1


def test_ctrl_c_stops_the_program_and_not_the_session(tmp_path):
    program = "import time\ndef f(): pass\nf()\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n"
    (tmp_path / "program.py").write_text(program)
    (tmp_path / "watched.prop").write_text("state init { transition { event f() success init } }")
    words = ["debug", "-q", "--prop", str(tmp_path / "watched.prop"), str(tmp_path / "program.py")]
    process = subprocess.Popen(
        [sys.executable, "-m", "mopsus", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        process.stdin.write("continue\n")
        process.stdin.flush()
        while "ready" not in (line := process.stdout.readline()):
            assert line
        os.killpg(process.pid, signal.SIGINT)
        shown, _ = process.communicate("p 'still here'\nquit\n", timeout=60)
    finally:
        end_all(process)
    assert "The program is interrupted" in shown
    assert "'still here'" in shown
    assert process.returncode == 0


@pytest.mark.exhaustive
def test_ctrl_c_once_more_cuts_off_code_of_a_property_that_does_not_end(tmp_path):
    (tmp_path / "program.py").write_text("def f(): pass\nf()\n")
    prop = "state init { transition { event f() success { print('begun')\nwhile True: pass } init } }"
    (tmp_path / "watched.prop").write_text(prop)
    words = ["debug", "--prop", f"{tmp_path / 'watched.prop'},quiet", str(tmp_path / "program.py")]
    process = subprocess.Popen(
        [sys.executable, "-m", "mopsus", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        process.stdin.write("continue\n")
        process.stdin.flush()
        for sign in ("begun", "Ctrl-C again cuts it off"):
            while sign not in (line := process.stdout.readline()):
                assert line
            os.killpg(process.pid, signal.SIGINT)
        shown, _ = process.communicate("p 'still here'\nquit\n", timeout=60)
    finally:
        end_all(process)
    assert "Stopped: interrupted" in shown
    assert "'still here'" in shown


RANDOM = """\
import random, sys

class Door:
    def open(self, key):
        return key * 2

    def close(self):
        def inner():
            raise KeyError
        try:
            inner()
        except KeyError:
            return self

def knock(door, times):
    return 0 if times == 0 else 1 + knock(door, times - 1)

chance = random.Random(int(sys.argv[1]))
doors = [Door() for _ in range(5)]
for _ in range(60):
    door = chance.choice(doors)
    match chance.randrange(4):
        case 0: door.open(chance.randrange(3))
        case 1: door.close()
        case 2: knock(door, chance.randrange(3))
        case 3: doors[chance.randrange(5)] = Door()
"""

DOORS = """\
slice on door
initialization { opened = 0 }
state init accepting {
    transition { event Door.open(self as door, key) success { opened += key } init }
    transition { after event Door.close(self as door, ret as same) { return same == door } success init failure bad }
    transition { after event knock(door, ret as n) { return n < 1 or opened < 2 } success init failure bad }
}
state bad non-accepting
"""


@pytest.mark.parametrize("seed", range(2))
def test_events_sent_by_the_core_and_by_the_session_and_from_the_record_give_the_same(tmp_path, seed):
    arguments = (str(seed),)
    sent = debug(tmp_path, RANDOM, DOORS, arguments=arguments)
    trace = tmp_path / "trace.jsonl"
    told = debug(tmp_path, RANDOM, DOORS, arguments=arguments, options=("--record", str(trace)))
    checked = subprocess.run(
        [sys.executable, "-m", "mopsus", "check", str(tmp_path / "watched.prop"), str(trace), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    reports = [sent.report, told.report, json.loads(checked.stdout)]
    found = [
        [(each["category"], [step["event"] for step in each["witness"]]) for each in report["verdicts"]]
        for report in reports
    ]
    assert found[1:] == [found[0], found[0]]
    assert bool(found[0]) is (seed == 0)
    assert [each["location"] for each in sent.report["verdicts"]] == [
        each["location"] for each in told.report["verdicts"]
    ]


@pytest.mark.parametrize("options", [(), ("--record", "trace.jsonl")])
def test_what_the_code_of_a_property_calls_is_no_event(tmp_path, options):
    program = """\
class Box:
    def size(self):
        return 1

    def put(self):
        return self.size()

box = Box()
for _ in range(3):
    box.put()
"""
    watched = """\
initialization { n = 0 }
state init accepting {
    transition { event Box.put(self) { return self.size() == 1 } success init }
    transition { event Box.size() success { n += 1 } init }
    transition { event #end() { return n == 3 } success init failure bad }
}
state bad non-accepting
"""
    assert debug(tmp_path, program, watched, options=options).violations == []
