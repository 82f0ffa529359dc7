"""Points that are there only while a state needs them, beside points that are always there: the same property of a
stack, written twice.

The program puts a hundred numbers on a stack and takes each off again, round after round. What takes off is of interest
only while 42 is there. Time is measured without that of the start, which a run of no rounds has."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from harness import Goal, Row, Side, Timing, measure, quotients

EXAMPLES = Path(__file__).parent.parent / "examples" / "interactive"
ROUNDS = 100
REPETITIONS = 5
PUBLISHED = 2.2
"""How many times as fast the first tool of this kind was, as its authors measured it."""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    rounds = max(1, int(ROUNDS * scale))
    repetitions = max(1, int(REPETITIONS * scale))
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "stack")
        subprocess.run(["cc", "-g", "-O0", "-o", program, str(EXAMPLES / "stack.c")], check=True)
        sides = {
            f"{prop} {turns}": debugged(program, prop, turns)
            for prop in ("stack", "stack-always")
            for turns in (0, rounds)
        }
        timings = measure(sides, repetitions, warm_up=scale == 1)
    always, sparse = (_spent(timings, prop, rounds) for prop in ("stack-always", "stack"))
    traps = {prop: _traps(timings[f"{prop} {rounds}"]) for prop in ("stack", "stack-always")}
    ratio = quotients(always, sparse)
    fewer = traps["stack-always"] / traps["stack"]
    return [
        Row(
            "traps in the program",
            "per round",
            traps["stack"] / rounds,
            "always watched",
            traps["stack-always"] / rounds,
            (fewer, fewer, fewer),
        ),
        Row(
            "time",
            "ms per round",
            median(sparse) / rounds * 1000,
            "always watched",
            median(always) / rounds * 1000,
            ratio,
            Goal("≥", round(0.9 * fewer, 2)),
        ),
        Row(
            "how many times as fast",
            "times",
            ratio[0],
            "Verde, as published",
            PUBLISHED,
            (ratio[0] / PUBLISHED,) * 3,
        ),
    ]


def debugged(program: str, prop: str, rounds: int) -> Side:
    """A whole session under GDB; its report."""
    words = ["--batch", "--json", "--no-hooks", "--prop", f"{EXAMPLES / prop}.prop,quiet", program, str(rounds)]

    def work(_: object) -> object:
        done = subprocess.run(
            [sys.executable, "-m", "mopsus", "debug", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return json.loads(done.stderr)

    return Side(work)


def _spent(timings: Mapping[str, Timing], prop: str, rounds: int) -> list[float]:
    """The seconds of the rounds alone."""
    start = median(timings[f"{prop} 0"].seconds)
    return [whole - start for whole in timings[f"{prop} {rounds}"].seconds]


def _traps(timing: Timing) -> int:
    report = timing.value
    assert isinstance(report, dict)
    return int(report["stats"]["events"])  # every event of these properties is one arrival at a breakpoint
