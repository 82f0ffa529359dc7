"""Events of Python programs that the core sends by itself: the same verdicts, witnesses, reactions and output as when
the session is told of each (`--no-hooks`), on random programs, properties and scenarios."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from interactive.python.debugged import Debugged, debug

pytestmark = pytest.mark.interpreter

CASES = int(os.environ.get("MOPSUS_CASES", "6"))

PROGRAM = """\
import functools
import sys
import threading

def counted(function):
    @functools.wraps(function)
    def wrapper(*given, **named):
        return function(*given, **named)
    return wrapper

class Box:
    made = 0
    def __init__(self, size):
        Box.made += 1
        self.number, self.size, self.items = Box.made, size, []
    def __repr__(self):
        return f"Box({self.number})"
    @property
    def full(self):
        return len(self.items) >= self.size
    def put(self, item, *, twice=False):
        self.items.append(item)
        item = None
        return len(self.items)
    @counted
    def take(self, n=1):
        taken = [self.items.pop() for _ in range(n) if self.items]
        keep = lambda: (self, n)
        return taken
    def refuse(self, why):
        if why % 2:
            raise ValueError(why)
        return why

def steps(box, count):
    for step in range(count):
        yield step
    return box

def fall(box, depth):
    return fall(box, depth - 1) + 1 if depth else box.number

def act(box, kind, n):
    if kind == 0:
        print("put", box.put(n, twice=n > 2))
    elif kind == 1:
        print("took", box.take(n))
    elif kind == 2:
        try:
            box.refuse(n)
        except ValueError as error:
            print("refused", error)
    elif kind == 3:
        print("steps", list(steps(box, n)))
    elif kind == 4:
        print("fell", fall(box, n))

def main(script):
    boxes = [Box(2), Box(3)]
    for each in script.split():
        which, kind, n = map(int, each)
        work = lambda: act(boxes[which], kind, n)
        if n == 4:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        else:
            work()

main(sys.argv[1])
"""

EVENTS = (
    "event Box.put(self as b, item)",
    "event Box.put(arg 1 as b, arg 2 as item : int, number as k)",
    'event Box.put("self.full" as k, self as b)',
    "event Box.put(self as b, twice : str)",
    "after event Box.put(self as b, item, ret as k)",
    "after event Box.put(self as b, ret as k : str)",
    "event Box.take(self as b, n)",
    "after event Box.take(self as b, n, ret as k)",
    "event Box.refuse(self as b, why : bool)",
    "after event Box.refuse(self as b, why)",
    "event steps(box as b, count)",
    "after event steps(box as b, ret as k)",
    "event fall(box as b, depth)",
    "after event fall(box as b, depth, ret as k)",
    "event fall(box as b, missing)",
    "event act(box as b, {kind + 1} as k)",
    'event act(box as b, "box.size" as k : float)',
)
"""The last but one cannot be sent by the core, and a value is missing in the one before."""
GUARDS = ("", "", "{ return seen % 3 != 1 }", "{ return None if seen == 2 else True }")
ACCEPTANCES = ("accepting", "non-accepting", "")
ACTIONS = (
    'print("@", old_state, new_state, sorted(binding))',
    'print("@at", get("act.__name__"), backtrace(2)[:1])',
    'print("@all", sorted(monitor.get_current_states()))',
    'after_breakpoint(lambda: print("@later", new_state))',
    'if turns == 2: set_breakpoint("Box.take", lambda: print("@point"))',
    'if turns == 4: unset_breakpoint("Box.take")',
    "monitor.set_quiet(turns % 2 == 0)",
    "if turns == 1: kept = checkpoint()",
    "if turns == 3: restore_checkpoint(0)",
)


def random_property(draw: random.Random) -> str:
    slicing = draw.random() < 0.7
    lines = ["slice on b"] if slicing else []
    lines.append("initialization { seen = 0 }")
    states = ("init", "one", "two")
    for state in states:
        lines.append(f"state {state} {draw.choice(ACCEPTANCES)} {{")
        for event in draw.sample(EVENTS, draw.randint(1, 5)):
            end = f"success {{ seen += 1 }} {draw.choice(states)}"
            lines.append(f"    transition {{ {event} {draw.choice(GUARDS)} {end} }}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def random_scenario(draw: random.Random, threads: bool) -> str:
    lines = ["initialization { turns = 0 }"]
    actions = [each for each in ACTIONS if not (threads and "checkpoint" in each)]
    for target in draw.sample(["state one", "state two", "accepting state", "non-accepting state"], 2):
        lines.append(f"on {draw.choice(['entering', 'leaving'])} {target} {{")
        lines += ["    turns += 1", *(f"    {draw.choice(actions)}" for _ in range(2)), "}"]
    return "\n".join(lines) + "\n"


def seen(done: Debugged) -> Any:
    """All that is the same, whoever sends the events. Only events that were told have a time."""
    verdicts = [
        (
            each["category"],
            each["binding"],
            each["location"],
            [(event["event"], event["binding"], event["location"]) for event in each["witness"]],
        )
        for each in done.report["verdicts"]
    ]
    program = {name: value for name, value in done.report["program"].items() if name != "time"}
    return done.stdout, done.stderr, done.status, verdicts, program, done.report.get("warnings")


@pytest.mark.parametrize("seed", range(CASES))
def test_a_program_whose_events_the_core_sends_is_told_of_as_any_other(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    threads = draw.random() < 0.3
    numbers = "01234" if threads else "0123"
    script = " ".join(draw.choice("01") + draw.choice("01234") + draw.choice(numbers) for _ in range(40))
    prop, scenario = random_property(draw), random_scenario(draw, threads)
    runs = [
        debug(tmp_path, PROGRAM, prop, scenario=scenario, options=options, arguments=(script,))
        for options in ((), ("--no-hooks",))
    ]
    assert seen(runs[0]) == seen(runs[1])


HOT = """\
def turn(x):
    return x

def stop(x):
    return x

for n in range(20_000):
    turn(n % 7)
stop(3)
"""
TURNS = """\
state init accepting { transition { event turn(x) success init } transition { event stop(x) success over } }
state over accepting
"""
REACTION = "on entering state over { print('@', old_state, new_state, get('x')) }\n"


def test_a_program_does_not_stop_for_steps_that_no_reaction_is_about(tmp_path: Path) -> None:
    done = debug(tmp_path, HOT, TURNS, scenario=REACTION)
    assert "@ init over 3" in done.stderr
    assert not done.report["warnings"]


def test_many_events_that_are_told_one_by_one_are_told_of_with_the_reason(tmp_path: Path) -> None:
    recorded = debug(tmp_path, HOT, TURNS, scenario=REACTION, options=("--record", str(tmp_path / "r.jsonl")))
    (warning,) = recorded.report["warnings"]
    assert "10,000 events have been told one by one, because its events are recorded" in str(warning)
    loud = debug(tmp_path, HOT, TURNS, quiet=False, commands="continue\n")
    assert loud.stdout.count("`,quiet` behind the file of the property lets the program step them inside") == 1


def test_the_developer_is_told_which_events_are_stepped_inside_and_why_others_are_not(tmp_path: Path) -> None:
    program = "total = 0\ndef f(x):\n    return x\n\ndef g(*rest):\n    return rest\n\nf(1)\ng(2)\nprint('end')\n"
    prop = (
        "state init { transition { event f(x) success init } transition { event g(arg 1 as x) success init }"
        " transition { event write total() success init } transition { after event f(total) success init } }\n"
    )
    commands = "b 10\ncontinue\nverde hooks\nverde exec set_quiet False\nverde hooks\n"
    done = debug(tmp_path, program, prop, commands=commands)
    assert "\nf: stepped inside of the program\n" not in done.stdout  # as not all its values are there
    assert "g: the program stops for each event: argument 1 is neither an argument of g nor an attribute" in done.stdout
    assert "total: the program stops for each event: it is no call of a function" in done.stdout
    assert "after f: the program stops for each event: `total` is neither an argument of f" in done.stdout
    assert "monitor #1 watched: the program stops for each event: it says what happens at each" in done.stdout


SPELLINGS = """\
state init accepting {
    transition { event turn(x) { return x < 9 } success odd failure over }
    transition { event stop(x) success over }
}
state odd accepting {
    transition { event turn(x : int) { return x < 9 } success init failure over }
    transition { event stop(x : int) success over }
}
state over non-accepting
"""


def test_two_spellings_of_an_event_are_stepped_inside_and_one_call_is_one_step(tmp_path: Path) -> None:
    runs = [debug(tmp_path, HOT, SPELLINGS, options=options) for options in ((), ("--no-hooks",))]
    assert seen(runs[0])[2:5] == seen(runs[1])[2:5]
    witness = runs[0].report["verdicts"][0]["witness"]
    assert [event["event"] for event in witness[-4:]] == ["turn_2", "turn", "turn_2", "stop"]
    hooks = debug(tmp_path, HOT, SPELLINGS, commands="verde hooks\n")
    assert "turn: stepped inside of the program" in hooks.stdout


INTERRUPTED = """\
import os, signal

class Number:
    def __int__(self):
        os.kill(os.getpid(), signal.SIGINT)
        return 3

def turn(x):
    return x

turn(1)
turn(Number())
print("went on")
"""


def test_ctrl_c_while_the_core_sends_an_event_stops_the_program_behind_it(tmp_path: Path) -> None:
    prop = (
        "state init accepting { transition { event turn(x : int) success once } }\n"
        "state once accepting { transition { event turn(x : int) success over } }\nstate over accepting\n"
    )
    commands = "continue\nverde exec get_current_states\np 'stands in', x\ncontinue\n"
    done = debug(tmp_path, INTERRUPTED, prop, commands=commands)
    assert "{'over'}" in done.stdout
    assert "('stands in', <__main__.Number" in done.stdout
    assert done.stdout.index("stands in") < done.stdout.index("went on")


NESTED = """\
def outer(x):
    y = inner(x)
    x = 0
    return y + 1

def inner(x):
    return x * 10

print(outer(1))
print(outer(2))
"""


@pytest.mark.parametrize("ask", ["b 3", "verde exec set_quiet False", "verde exec register_event event_applied print"])
def test_a_call_that_is_told_to_return_keeps_what_the_core_took_when_it_was_entered(tmp_path: Path, ask: str) -> None:
    prop = (
        "state init { transition { after event outer(x, ret as r) { return x == 1 and r == 11 } "
        "success right failure wrong } }\nstate right accepting { transition { after event outer(x, ret as r) "
        "{ return x == 2 and r == 21 } success both failure wrong } }\n"
        "state both accepting\nstate wrong non-accepting\n"
    )
    commands = f"b inner\ncontinue\n{ask}\nclear inner\ncontinue\ncontinue\ncontinue\ncontinue\n"
    scenario = "on entering accepting state { print('@', new_state) }"
    done = debug(tmp_path, NESTED, prop, commands=commands, scenario=scenario)
    assert [line for line in done.stdout.replace("(mopsus) ", "").splitlines() if line.startswith("@")] == [
        "@ right",
        "@ both",
    ]


THREADS = """\
import threading

class Box:
    def put(self, n):
        return n
    def take(self, n):
        return n

def right():
    box = Box()
    for n in range(3000):
        box.put(n)
        box.take(n)

def culprit():
    box = Box()
    for n in range(1000):
        box.put(n)
        box.take(n)
    box.take(-1)
    for n in range(1000):
        box.put(n)
        box.take(n)

threads = [threading.Thread(target=each) for each in (right, right, culprit, right)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print("done")
"""


@pytest.mark.parametrize("scenario", [None, "on leaving accepting state { print('@', get('n')); suspend_execution() }"])
def test_the_thread_stops_whose_event_it_is(tmp_path: Path, scenario: str | None) -> None:
    prop = """\
slice on b
state init { transition { event Box.put(self as b, n) success one }
             transition { event Box.take(self as b, n) success wrong } }
state one { transition { event Box.take(self as b, n) success none }
            transition { event Box.put(self as b, n) success wrong } }
state none accepting { transition { event Box.put(self as b, n) success one }
                       transition { event Box.take(self as b, n) success wrong } }
state wrong non-accepting
"""
    if scenario is not None:
        scenario = scenario.replace("leaving accepting", "entering non-accepting")
    done = debug(tmp_path, THREADS, prop, scenario=scenario)
    (verdict,) = done.report["verdicts"]
    assert verdict["witness"][-1]["binding"]["n"] == -1
    stack = done.report["program"]["stop"]["backtrace"]
    assert [line.split()[1] for line in stack[:2]] == ["Box.take", "culprit"]
    assert scenario is None or "@ -1\n" in done.stderr
