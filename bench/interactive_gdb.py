"""Programs under GDB: what a monitored call costs beside a bare breakpoint in Python, and by the gap between events."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from statistics import median

from harness import Goal, Row, quotients
from interactive_hooks import COUNTING

from mopsus.interactive.gdb.launch import START

ROUNDS = 15
CALLS = 100
GAPS_MS = (0.1, 0.3, 0.5, 1.0, 3.0, 10.0)

PROGRAM = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <time.h>

    struct item { int number; } items[16];
    volatile long sink;
    __attribute__((noinline)) void plain(struct item *it) { sink += it->number; }
    __attribute__((noinline)) void bare(struct item *it) { sink += it->number; }
    __attribute__((noinline)) void watched(struct item *it) { sink += it->number; }

    static double now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec + t.tv_nsec * 1e-9;
    }
    static void be_busy(double seconds) { for (double end = now() + seconds; now() < end;) sink++; }
    static double block(void (*call)(struct item *), int calls, double gap) {
        double begun = now();
        for (int i = 0; i < calls; i++) { be_busy(gap); call(&items[i % 16]); }
        return (now() - begun) / calls;
    }
    /* rounds, calls, gap in microseconds: seconds per call, of each round, plain, bare, watched */
    int main(int count, char **words) {
        int rounds = atoi(words[1]), calls = atoi(words[2]);
        double gap = atof(words[3]) * 1e-6;
        for (int i = 0; i < rounds; i++)
            printf("%.9f %.9f %.9f\\n", block(plain, calls, gap), block(bare, calls, gap), block(watched, calls, gap));
        return 0;
    }
"""
PROPERTY = COUNTING.format(function="watched", uses="int(uses)")  # so that each event is told by a trap
BARE = """
import gdb

class Bare(gdb.Breakpoint):
    def stop(self):
        int(gdb.parse_and_eval("it"))
        return False

Bare("bare", internal=True)
"""


def rows(scale: float) -> list[Row]:
    rounds = max(3, round(ROUNDS * scale))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = _build(folder)
        cost = _run(program, folder, rounds, CALLS, 0)
        found = [
            Row(
                "a monitored call, parametric, with a guard and a block, under GDB",
                "µs per call",
                median(cost["watched"]) * 1e6,
                "a bare breakpoint in Python that reads the argument",
                median(cost["bare"]) * 1e6,
                quotients(cost["watched"], cost["bare"]),
                Goal("≤", 1.3),
            )
        ]
        for gap in GAPS_MS:
            by_gap = _run(program, folder, max(3, rounds // 3), max(5, round(CALLS / (gap + 1))), gap * 1000)
            found.append(
                Row(
                    f"a program that calls every {gap:g} ms: monitored",
                    "ms per call",
                    median(by_gap["watched"]) * 1e3,
                    "not monitored",
                    median(by_gap["plain"]) * 1e3,
                    quotients(by_gap["watched"], by_gap["plain"]),
                    {1.0: Goal("≤", 1.4), 3.0: Goal("≤", 1.13)}.get(gap),
                )
            )
    return found


def _build(folder: Path) -> Path:
    source, program = folder / "gaps.c", folder / "gaps"
    source.write_text(PROGRAM)
    (folder / "uses.prop").write_text(PROPERTY)
    (folder / "bare.py").write_text(BARE)
    subprocess.run(["gcc", "-g", "-O1", str(source), "-o", str(program)], check=True)
    return program


def _run(program: Path, folder: Path, rounds: int, calls: int, gap_us: float) -> dict[str, list[float]]:
    """Seconds per call of each round, by function, all in one run of one GDB."""
    commands = [
        f"source {START}",
        f"source {folder / 'bare.py'}",
        f"verde load-property {folder / 'uses.prop'}",
        "verde exec set_quiet True",
        f"run {rounds + 1} {calls} {gap_us} > {folder / 'times'}",
    ]
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(["gdb", "-q", "-nx", "-batch", *words, str(program)], capture_output=True, text=True)
    lines = (folder / "times").read_text().splitlines()[1:]  # the first round warms up
    if len(lines) != rounds:
        raise RuntimeError(done.stdout + done.stderr)
    columns = zip(*(map(float, line.split()) for line in lines), strict=True)
    return dict(zip(("plain", "bare", "watched"), map(list, columns), strict=True))
