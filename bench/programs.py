"""Programs that nobody here wrote, under contracts: those of pyperformance that iterate, hash and call most.

Every program runs as a process of its own, alone and under `mopsus run`, by turns. `pyperf` times it from within, as
it does for pyperformance: only the work of the program, not the start of the interpreter, imports and what the
program sets up. All that is *the rest* of the process, and reported apart.

    python bench/programs.py                                        everything, printed
    python bench/programs.py --only deltablue --property UnsafeIter     one cell of the table, in a few seconds
    python bench/programs.py --command deltablue --property UnsafeIter  how to run it by hand, for a profiler
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

from harness import HERE, Goal, Matrix, Row, memory, quotients

INSTALLED = Path(sys.prefix) / "programs"
"""Not among the installed packages, which are not rewritten: what a program uses is part of the program here."""
VALUES = 3
ROUNDS = 3
AT_THE_END = """
import atexit, os
folder = os.getcwd()
atexit.register(lambda: open(folder + "/status.txt", "w").write(open("/proc/self/status").read()))
"""
"""Of every process, run when it begins: what the system knows of it is kept when it has done all else."""
COUNTS = ("events", "created", "collected", "most")
ALONE = "the program alone"
GOAL = Goal("≤", 20, of="ours")
EXTRA = "all of stdlib"
"""A column that no goal is about."""


@dataclass(frozen=True)
class Program:
    """A program of pyperformance: its folder, how often one measured value repeats its work, and its arguments."""

    folder: str
    loops: int
    arguments: tuple[str, ...] = ()
    task: int = 0
    """Some measure several things in turn; which."""


PROGRAMS = {
    "richards": Program("richards", 2),
    "deltablue": Program("deltablue", 30),
    "hexiom": Program("hexiom", 14),
    "html5lib": Program("html5lib", 2),
    "raytrace": Program("raytrace", 1),
    "go": Program("go", 1),
    "nqueens": Program("nqueens", 1),
    "comprehensions": Program("comprehensions", 6000),
    "meteor_contest": Program("meteor_contest", 1),
    "deepcopy": Program("deepcopy", 400),
    "pickle_pure_python": Program("pickle", 10, ("--pure-python", "pickle")),
    "sqlglot_v2_optimize": Program("sqlglot_v2", 2, ("optimize",)),
    "logging_format": Program("logging", 2000),
    "telco": Program("telco", 8),
    "concurrent_imap": Program("concurrent_imap", 20, ("--affinity=1",), task=1),
}
PROPERTIES = {
    "HasNext": str(HERE / "HasNext.mop"),
    "ExhaustedIterator": "ExhaustedIterator",
    "UnsafeIter": "UnsafeIter",
    "UnsafeMapIter": "UnsafeMapIter",
    "files": "FileUsedAfterClose,FileNotClosed",
    "locks": "LockReleasedUnlocked,RLockReleasedByOther,SelfDeadlock,LockOrder",
    EXTRA: "stdlib",
}
"""By what the tables call them: contracts, or the spec in a file."""


@dataclass(frozen=True)
class Ran:
    """One process, as it went."""

    work_s: float
    """The quickest of the measured values, per repetition."""
    rest_s: float
    """All but the work: start, imports, setting up, report."""
    peak_bytes: int
    stats: Mapping[str, int]
    """Of all monitors together; nothing of a program alone."""


@dataclass(frozen=True)
class Cell:
    """A program under a property, against the program alone."""

    time: tuple[float, float, float]
    """Of the quickest of all rounds; the smallest and the largest quotient of a round."""
    rest_s: tuple[float, float]
    """Of the process under the property, and of the program alone."""
    memory: float
    stats: Mapping[str, int]


def command(program: Program, wanted: str | None, report: str, timing: str, loops: int, values: int) -> list[str]:
    """The words that start a program, under a property if one is wanted."""
    script = INSTALLED / "pyperformance" / "data-files" / "benchmarks" / f"bm_{program.folder}" / "run_benchmark.py"
    how = ["--worker", f"--worker-task={program.task}", f"--loops={loops}", f"--values={values}", "--warmups=1"]
    words = [str(script), *how, "--output", timing, *program.arguments]
    if wanted is None:
        return [sys.executable, *words]
    specs = [wanted] if wanted.endswith(".mop") else ["--contracts", wanted]
    return [sys.executable, "-m", "mopsus", "run", "--json", "--output", report, *specs, "--", *words]


def run(program: Program, wanted: str | None, loops: int, values: int = VALUES) -> Ran:
    """Run a program once."""
    # Modules and woven modules are stored, as in every environment that is used more than once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONHASHSEED"] = "0"  # all have the same sets and dicts
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        (files / "sitecustomize.py").write_text(AT_THE_END, encoding="utf-8")
        environment["PYTHONPATH"] = os.pathsep.join([folder, str(INSTALLED)])
        words = command(program, wanted, "report.json", "timing.json", loops, values)
        start = time.perf_counter()
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        elapsed = time.perf_counter() - start
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(words)}\n{done.stdout}\n{done.stderr[-3000:]}")
        measured = json.loads((files / "timing.json").read_text(encoding="utf-8"))
        stats = {} if wanted is None else json.loads((files / "report.json").read_text("utf-8"))["stats"]["specs"]
        peak_bytes = memory("VmHWM", files / "status.txt")
    ((timed,),) = (each["runs"] for each in measured["benchmarks"])
    repetitions = loops * measured["metadata"].get("inner_loops", 1)
    work_s = sum(timed["values"]) + sum(seconds for _, seconds in timed["warmups"])
    return Ran(
        work_s=min(timed["values"]),
        rest_s=elapsed - work_s * repetitions,
        peak_bytes=peak_bytes,
        stats={name: sum(each[name] for each in stats.values()) for name in COUNTS},
    )


def measure(name: str, properties: Sequence[str], rounds: int, loops: int) -> dict[str, Cell]:
    """A program under each of some properties; all sides once per round, in turn, after one that fills the caches."""
    program = PROGRAMS[name]
    sides: dict[str | None, str | None] = {None: None, **{each: PROPERTIES[each] for each in properties}}
    for wanted in sides.values():
        run(program, wanted, loops=1, values=1)
    ran: dict[str | None, list[Ran]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, wanted in sides.items():
            ran[side].append(run(program, wanted, loops))
    alone = ran[None]
    return {
        each: Cell(
            time=_times([one.work_s for one in ran[each]], [one.work_s for one in alone]),
            rest_s=(median(one.rest_s for one in ran[each]), median(one.rest_s for one in alone)),
            memory=median(one.peak_bytes for one in ran[each]) / median(one.peak_bytes for one in alone),
            stats=ran[each][-1].stats,
        )
        for each in properties
    }


def _times(ours: Sequence[float], alone: Sequence[float]) -> tuple[float, float, float]:
    """The quickest counts: a program does the same work every time, and all that makes one slower is other work."""
    _, low, high = quotients(ours, alone)
    return min(ours) / min(alone), low, high


def rows(scale: float) -> list[Row | Matrix]:
    """All rows of this benchmark, and a table of each kind for all cells."""
    names = list(PROGRAMS)[: max(1, int(len(PROGRAMS) * scale))]
    cells = {name: measure(name, list(PROPERTIES), max(1, int(ROUNDS * scale)), scaled(name, scale)) for name in names}
    return [*means(cells), *matrices(cells)]


def scaled(name: str, scale: float) -> int:
    """How often a program repeats its work in one measured value."""
    return max(1, int(PROGRAMS[name].loops * scale))


def means(cells: Mapping[str, Mapping[str, Cell]]) -> list[Row]:
    """What each property costs in the mean of the programs."""
    of_programs = f"geometric mean of {len(cells)} programs"
    columns = {name: [row[name] for row in cells.values()] for name in next(iter(cells.values()))}
    times = {name: geometric_mean([cell.time[0] for cell in column]) for name, column in columns.items()}
    spaces = {name: geometric_mean([cell.memory for cell in column]) for name, column in columns.items()}
    rests = {
        name: [median(cell.rest_s[side] for cell in column) for side in (0, 1)] for name, column in columns.items()
    }
    return [
        *(
            Row(f"{name}, time, {of_programs}", "% more", percent(mean), goal=None if name == EXTRA else GOAL)
            for name, mean in times.items()
        ),
        *(Row(f"{name}, memory, {of_programs}", "% more", percent(mean)) for name, mean in spaces.items()),
        *(
            Row(f"{name}, all else but the work, median", "s", ours, ALONE, alone, (ours / alone,) * 3)
            for name, (ours, alone) in rests.items()
        ),
    ]


def percent(ratio: float) -> float:
    """By how much a ratio is more than one."""
    return (ratio - 1) * 100


def matrices(cells: Mapping[str, Mapping[str, Cell]]) -> list[Matrix]:
    """All cells, a table for each thing that was measured."""
    columns = list(next(iter(cells.values())))

    def of(title: str, value: Callable[[Cell], float | list[float]]) -> Matrix:
        return Matrix(title, columns, {name: [value(row[each]) for each in columns] for name, row in cells.items()})

    return [
        of("More time, in percent", lambda cell: percent(cell.time[0])),
        of("Memory at the peak, as a multiple", lambda cell: cell.memory),
        of("Events", lambda cell: cell.stats["events"]),
        of(
            "Monitors created / collected / at a time, at the most",
            lambda cell: [cell.stats[count] for count in COUNTS[1:]],
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Programs of pyperformance under contracts.")
    parser.add_argument("--only", action="append", choices=PROGRAMS, metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--property", action="append", choices=PROPERTIES, metavar="NAME", help=", ".join(PROPERTIES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--command", action="store_true", help="only say how to run them by hand")
    arguments = parser.parse_args()
    properties = arguments.property or list(PROPERTIES)
    for name in arguments.only or PROGRAMS:
        program = PROGRAMS[name]
        if arguments.command:
            for each in properties:
                words = command(program, PROPERTIES[each], "/dev/stderr", "/dev/stdout", program.loops, VALUES)
                print(f"PYTHONPATH={INSTALLED}", shlex.join(words))
            continue
        for each, cell in measure(name, properties, arguments.rounds, program.loops).items():
            middle, low, high = map(percent, cell.time)
            counted = ", ".join(f"{count:,} {what}" for what, count in cell.stats.items())
            print(f"{name}, {each}: {middle:.1f} % more time ({low:.1f} to {high:.1f}), ", end="")
            print("memory {:.2f}, rest {:.2f} s beside {:.2f} s; ".format(cell.memory, *cell.rest_s), end="")
            print(counted, flush=True)


if __name__ == "__main__":
    main()
