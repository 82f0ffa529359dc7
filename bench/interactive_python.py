"""A monitored call of a Python program under the debugger, against the same call under an empty callback, and against
a conditional breakpoint.

The callback is what `sys.monitoring` calls at the start of just these functions, or, before Python 3.12, what
`sys.settrace` calls. The properties are parametric: every object has an instance of its own. The core sends events of a
quiet property, also if a scenario reacts to some of its states; with `--no-hooks` each goes through the session. The
breakpoint is that of `bdb`, which `pdb` and others are made of, with a condition that never holds.
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
"""The slow sides are given that many times fewer calls."""
ROUNDS = 5
SIDES = ("plain", "empty", "monitored", "guard", "forgetful", "spellings", "scenario", "session", "breakpoint")
SLOW_SIDES = ("session", "breakpoint")
GOAL = Goal("≤", 3.0)
SCENARIO_GOAL = Goal("≤", 1000.0, "ours")
GUARD_GOAL = Goal("≤", 600.0, "ours")

PROGRAM = """\
import bdb
import sys
import time

class Thing:
    size = 1

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

class Debugger(bdb.Bdb):
    def user_line(self, frame):
        self.set_continue()

def with_breakpoints(function, *given):
    debugger = Debugger()
    for watched in (Thing.first, Thing.second):
        debugger.set_break(__file__, watched.__code__.co_firstlineno + 1, cond="self is None")
    debugger.runcall(function, *given)

def main(side, count):
    things = [Thing() for _ in range(1000)]
    calls(things, 2)
    if side == "empty":
        watch_emptily()
    passes = max(1, count // (2 * len(things)))
    start = time.perf_counter()
    if side == "breakpoint":
        with_breakpoints(calls, things, passes)
    else:
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

STATES = """\
slice on t
state init accepting {
    transition { event Thing.first(self as t) success odd }
    transition { event Thing.second(self as t) success wrong }
}
state odd accepting {
    transition { event Thing.second(self as t) success init }
    transition { event Thing.first(self as t) success wrong }
}
state wrong non-accepting
"""

GUARD = """\
slice on t
initialization { total = 0 }
state init accepting {
    transition { event Thing.first(self as t, size) { return size > 0 } success { total += size } init failure wrong }
    transition { event Thing.second(self as t, size) { return size > 0 } success { total += size } init failure wrong }
}
state wrong non-accepting
"""

SPELLINGS = """\
slice on t
initialization { total = 0 }
state init accepting {
    transition { event Thing.first(self as t, size) { return size > 0 } success { total += size } odd }
    transition { event Thing.second(self as t, size) { return size > 0 } success { total += size } odd }
}
state odd accepting {
    transition { event Thing.first(self as t, size : int) { return size > 0 } success { total += 1 } init }
    transition { event Thing.second(self as t, size : int) { return size > 0 } success { total += 1 } init }
}
state wrong non-accepting
"""

SCENARIO = "on entering non-accepting state { suspend_execution() }\n"


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark, on every interpreter that is installed beside this one."""
    found = [row for python in _interpreters() for row in _rows(python, int(CALLS * scale))]
    return sorted(found, key=lambda row: [part in row.case for part in ("told", "scenario")])


def _rows(python: str, calls: int) -> list[Row]:
    version = _output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    nanoseconds: dict[str, list[float]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(ROUNDS):
            for side in SIDES:
                nanoseconds[side].append(_measure(python, folder, side, calls))
    plain = f"(a plain call: {median(nanoseconds['plain']):.0f} ns)"
    empty = ("empty", f"an empty callback {plain}")
    cases = {
        "monitored": ("a call that a quiet property watches", empty, GOAL),
        "guard": (
            "the same, with a guard and a block, and a witness of what it carries",
            ("forgetful", "the same without a witness (`--history 0`)"),
            GUARD_GOAL,
        ),
        "spellings": (
            "the same, with two events there, of which one is needed at a time",
            ("guard", "with one event"),
            None,
        ),
        "scenario": ("the first, with a scenario for states that it does not come to", empty, SCENARIO_GOAL),
        "session": (
            "the same, each event told to the session",
            ("breakpoint", f"a breakpoint with a condition {plain}"),
            None,
        ),
    }
    return [
        Row(
            case=f"Python {version}: {case}",
            unit="ns/call",
            ours=median(nanoseconds[side]),
            base=base,
            theirs=median(nanoseconds[other]),
            ratio=quotients(nanoseconds[side], nanoseconds[other]),
            goal=goal,
        )
        for side, (case, (other, base), goal) in cases.items()
    ]


def _measure(python: str, folder: Path, side: str, calls: int) -> float:
    """The time of a call, as the program itself measures it."""
    files = {"program.py": PROGRAM, "turns.mop": PROPERTY, "turns.prop": STATES, "wrong.scn": SCENARIO}
    files |= {"guard.prop": GUARD, "spellings.prop": SPELLINGS}
    for name, text in files.items():
        (folder / name).write_text(text)
    debug = [python, "-m", "mopsus", "debug", "--batch", "-q", "--prop"]
    with_scenario = [*debug, f"{folder / 'turns.prop'},quiet", "--scenario", str(folder / "wrong.scn")]
    command = {
        "monitored": [*debug, f"{folder / 'turns.mop'},quiet"],
        "guard": [*debug, f"{folder / 'guard.prop'},quiet"],
        "forgetful": [*debug, f"{folder / 'guard.prop'},quiet", "--history", "0"],
        "spellings": [*debug, f"{folder / 'spellings.prop'},quiet"],
        "scenario": with_scenario,
        "session": [*with_scenario, "--no-hooks"],
    }.get(side, [python])
    count = max(4000, calls // SLOW) if side in SLOW_SIDES else calls
    return float(_output([*command, str(folder / "program.py"), side, str(count)]).splitlines()[-1])


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


def _interpreters() -> list[str]:
    others = sorted(str(path) for path in HERE.parent.glob(".venv-*/bin/python"))
    return [sys.executable, *others]
