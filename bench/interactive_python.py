"""A monitored call of a Python program under the debugger, against the same call under an empty callback.

The callback is what `sys.monitoring` calls at the start of just these functions, or, before Python 3.12, what
`sys.settrace` calls. The property is parametric: every object has an instance of its own. With an observing scenario,
every event goes through the session, in Python; without one, the core sends it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from harness import HERE, Goal, Row, quotients

CALLS = 1_000_000
SLOW = 20
"""The session is given that many times fewer calls."""
ROUNDS = 5
SIDES = ("plain", "empty", "monitored", "session")
GOAL = Goal("≤", 3.0)

PROGRAM = """\
import sys
import time

class Thing:
    def first(self):
        pass

    def second(self):
        pass

def calls(things, passes):
    for _ in range(passes):
        for each in things:
            each.first()
            each.second()

def watch_emptily():
    if not hasattr(sys, "monitoring"):
        sys.settrace(lambda frame, event, arg: None)
        return
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(0, "empty")
    sys.monitoring.register_callback(0, events.PY_START, lambda code, offset: None)
    for function in (Thing.first, Thing.second):
        sys.monitoring.set_local_events(0, function.__code__, events.PY_START)

def main(side, count):
    things = [Thing() for _ in range(1000)]
    calls(things, 2)
    if side == "empty":
        watch_emptily()
    passes = max(1, count // (2 * len(things)))
    start = time.perf_counter()
    calls(things, passes)
    print((time.perf_counter() - start) / (passes * 2 * len(things)) * 1e9)

main(sys.argv[1], int(sys.argv[2]))
"""

PROPERTY = """\
Turns(t) {
    event first before(t) : call(Thing.first) && target(t) {}
    event second before(t) : call(Thing.second) && target(t) {}
    fsm : even [first -> odd] odd [second -> even]
    @fail {}
}
"""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark, on every interpreter that is installed beside this one."""
    found = [row for python in _interpreters() for row in _rows(python, int(CALLS * scale))]
    return sorted(found, key=lambda row: "session" in row.case)


def _rows(python: str, calls: int) -> list[Row]:
    version = _output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    nanoseconds: dict[str, list[float]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(ROUNDS):
            for side in SIDES:
                nanoseconds[side].append(_measure(python, folder, side, calls))
    cases = {
        "monitored": (f"Python {version}: a call that a quiet property watches", GOAL),
        "session": (f"Python {version}: the same through the session, for a scenario", None),
    }
    return [
        Row(
            case=case,
            unit="ns/call",
            ours=median(nanoseconds[side]),
            base=f"an empty callback (a plain call: {median(nanoseconds['plain']):.0f} ns)",
            theirs=median(nanoseconds["empty"]),
            ratio=quotients(nanoseconds[side], nanoseconds["empty"]),
            goal=goal,
        )
        for side, (case, goal) in cases.items()
    ]


def _measure(python: str, folder: Path, side: str, calls: int) -> float:
    """The time of a call, as the program itself measures it."""
    program, prop, scenario = folder / "program.py", folder / "turns.mop", folder / "nothing.scn"
    program.write_text(PROGRAM)
    prop.write_text(PROPERTY)
    scenario.write_text("initialization { seen = 0 }\n")
    command = [python, str(program), side, str(calls)]
    if side == "monitored":
        command[1:1] = ["-m", "mopsus", "debug", "--batch", "-q", "--prop", f"{prop},quiet"]
    if side == "session":
        command[1:1] = [
            "-m",
            "mopsus",
            "debug",
            "--batch",
            "-q",
            "--prop",
            f"{prop},quiet",
            "--scenario",
            str(scenario),
        ]
        command[-1] = str(max(4000, calls // SLOW))
    return float(_output(command).splitlines()[-1])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def _interpreters() -> list[str]:
    others = sorted(str(path) for path in HERE.parent.glob(".venv-*/bin/python"))
    return [sys.executable, *others]
