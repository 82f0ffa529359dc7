"""Events of hot functions, stepped inside of a program under GDB: beside a plain call, and beside traps."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from statistics import median

from harness import Goal, Row, quotients

from mopsus.interactive.gdb.launch import START

ROUNDS = 15
CALLS = 2_000_000
TRAPS = 100
SIDES = ("plain", "steady", "changing", "returning", "counting", "trapped", "bare", "reading")

PROGRAM = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <time.h>

    struct item { int number; } items[16];
    volatile long sink;
    #define FUNCTION(name) __attribute__((noinline)) int name(struct item *it) { return sink += it->number; }
    FUNCTION(plain) FUNCTION(steady) FUNCTION(changing) FUNCTION(returning) FUNCTION(counting)
    FUNCTION(trapped) FUNCTION(bare) FUNCTION(reading) FUNCTION(never)

    static double now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec + t.tv_nsec * 1e-9;
    }
    static double block(int (*call)(struct item *), int calls) {
        double begun = now();
        for (int i = 0; i < calls; i++) call(&items[i % 16]);
        return (now() - begun) / calls;
    }
    /* rounds, calls, calls that trap: seconds per call, by round */
    int main(int count, char **words) {
        int rounds = atoi(words[1]), calls = atoi(words[2]), traps = atoi(words[3]);
        for (int i = 0; i < rounds; i++)
            printf("%.12f %.12f %.12f %.12f %.12f %.12f %.12f %.12f\\n", block(plain, calls), block(steady, calls),
                   block(changing, calls), block(returning, calls), block(counting, calls), block(trapped, traps),
                   block(bare, traps), block(reading, traps));
        return 0;
    }
"""
COUNTING = """
    slice on it
    initialization {{ uses = 0 }}
    state init accepting {{
        transition {{ event {function}(it) success {{ uses += 1 }} used }}
    }}
    state used accepting {{
        transition {{ event {function}(it) {{ return {uses} < 1000000000 }} success {{ uses += 1 }} used failure worn }}
    }}
    state worn non-accepting
"""
PROPERTIES = {
    "steady.mop": """
        Steady(it) {
            event steady before(it) : call(steady) && value(it = it)
            event never before(it) : call(never) && value(it = it)
            ere : steady+ never
            @match { }
        }
    """,
    "changing.mop": """
        Changing(it) {
            event changing before(it) : call(changing) && value(it = it)
            event never before(it) : call(never) && value(it = it)
            fsm :
                even [ changing -> odd never -> even ]
                odd [ changing -> even ]
            @fail { }
        }
    """,
    "returning.mop": """
        Returning(number) {
            event returning after(number) : call(returning) && value(number = ret)
            event never before(number) : call(never) && value(number = arg 1)
            ere : returning+ never
            @match { }
        }
    """,
    "counting.prop": COUNTING.format(function="counting", uses="uses"),
    "trapped.prop": COUNTING.format(function="trapped", uses="int(uses)"),  # which only Python can run
}
BARE = """
import gdb

class Bare(gdb.Breakpoint):
    def stop(self):
        return False

class Reading(gdb.Breakpoint):
    def stop(self):
        int(gdb.parse_and_eval("it"))
        return False

Bare("bare", internal=True)
Reading("reading", internal=True)
"""


def rows(scale: float) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        cost = _run(Path(name), max(3, round(ROUNDS * scale)))
    microseconds = {side: median(each) * 1e6 for side, each in cost.items()}

    def row(case: str, side: str, base: str | None = None, theirs: str | None = None, goal: Goal | None = None) -> Row:
        if theirs is None:
            return Row(case, "µs per call", microseconds[side], goal=goal)
        ratio = quotients(cost[theirs], cost[side])
        return Row(case, "µs per call", microseconds[side], base, microseconds[theirs], ratio, goal)

    goal = Goal("≤", 0.1, "ours")
    trap = "a trap with our monitor"
    return [
        row("a call that nobody watches", "plain"),
        row("stepped inside: an event that changes nothing", "steady", trap, "trapped", goal),
        row("stepped inside: an event that a witness needs", "changing", trap, "trapped", goal),
        row("stepped inside: a return, by its result", "returning", trap, "trapped", goal),
        row("stepped inside: a guard and a block that count", "counting", trap, "trapped", goal),
        row("a trap with our monitor: a guard and a block in Python", "trapped"),
        row("a bare trap: a breakpoint in Python", "bare"),
        row("a bare trap that reads the argument", "reading"),
    ]


def _run(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds per call of each round, by side, all in one run of one GDB."""
    program, times = folder / "hooks", folder / "times"
    for file, text in {"hooks.c": PROGRAM, "bare.py": BARE, **PROPERTIES}.items():
        (folder / file).write_text(text)
    subprocess.run(["gcc", "-g", "-O2", "-fno-ipa-icf", str(folder / "hooks.c"), "-o", str(program)], check=True)
    commands = [f"source {START}", f"source {folder / 'bare.py'}"]
    for file in PROPERTIES:
        commands += [f"verde load-property {folder / file}", "verde exec set_quiet True"]
    commands.append(f"run {rounds + 1} {CALLS} {TRAPS} > {times}")
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(["gdb", "-q", "-nx", "-batch", *words, str(program)], capture_output=True, text=True)
    lines = times.read_text().splitlines()[1:]  # the first round warms up
    if len(lines) != rounds or "is seen by traps" in done.stdout:
        raise RuntimeError(done.stdout + done.stderr)
    columns = zip(*(map(float, line.split()) for line in lines), strict=True)
    return dict(zip(SIDES, map(list, columns), strict=True))
