"""What all benchmarks share: measuring sides in turn, rows of the table, fresh processes, and the environment.

A ratio is always of two things measured in turn in one run: each round measures every side once, and the ratio is the
median over the rounds, with the smallest and the largest beside it.
"""

from __future__ import annotations

import datetime
import gc
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeVar

HERE = Path(__file__).resolve().parent
T = TypeVar("T")


@dataclass(frozen=True)
class Goal:
    """A bound on the ratio, or on what we reach by ourselves."""

    sign: Literal["≥", "≤"]
    value: float
    of: Literal["ratio", "ours"] = "ratio"

    def met_by(self, value: float) -> bool:
        """Whether a value keeps the bound."""
        return value >= self.value if self.sign == "≥" else value <= self.value


@dataclass(frozen=True)
class Row:
    """A line of the table: what we reach, beside what something else reaches where there is something else."""

    case: str
    unit: str
    ours: float
    base: str | None = None
    theirs: float | None = None
    ratio: tuple[float, float, float] | None = None
    """Median, smallest and largest of the rounds."""
    goal: Goal | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.goal is None:
            return None
        value = self.ours if self.goal.of == "ours" else self.ratio and self.ratio[0]
        return value is not None and self.goal.met_by(value)


@dataclass(frozen=True)
class Matrix:
    """A table of numbers, one or several in a cell, where a row for each would be too long."""

    title: str
    columns: Sequence[str]
    lines: Mapping[str, Sequence[float | Sequence[float]]]


@dataclass(frozen=True)
class Side:
    """One of the things that are measured in turn; `prepare` makes what `work` needs and is not measured."""

    work: Callable[[Any], object]
    prepare: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Timing:
    """The seconds of each round, and what the work gave in the last."""

    seconds: list[float]
    value: object

    def rate(self, count: int) -> float:
        """Millions per second, in the median."""
        return count / median(self.seconds) / 1e6


def process(*words: str, cwd: str | None = None) -> Side:
    """A whole process of this interpreter; one that finds violations ends with status 1."""
    # An installed package has its bytecode stored; the first round does that here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def work(_: object) -> None:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.decode())

    return Side(work)


def measure(
    sides: Mapping[str, Side],
    rounds: int,
    *,
    warm_up: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Every side once per round, in turn, after a first round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    values: dict[str, object] = {}
    for _ in range(rounds + warm_up):
        for name, side in sides.items():
            values.pop(name, None)
            prepared = side.prepare()
            gc.collect()
            start = clock()
            values[name] = side.work(prepared)
            seconds[name].append(clock() - start)
    return {name: Timing(seconds[name][warm_up:], values[name]) for name in sides}


def quotients(over: Sequence[float], under: Sequence[float]) -> tuple[float, float, float]:
    """Median, smallest and largest quotient of the rounds."""
    each = [a / b for a, b in zip(over, under, strict=True)]
    return median(each), min(each), max(each)


def speed_row(case: str, events: int, ours: Timing, base: str, theirs: Timing, goal: Goal | None = None) -> Row:
    """Millions of events per second, ours and theirs, and how many times as fast we are."""
    return Row(
        case=case,
        unit="M events/s",
        ours=ours.rate(events),
        base=base,
        theirs=theirs.rate(events),
        ratio=quotients(theirs.seconds, ours.seconds),
        goal=goal,
    )


def agree(timings: Mapping[str, Timing]) -> None:
    """Raise if the sides found different things: then their times say nothing."""
    found = {name: timing.value for name, timing in timings.items()}
    if len(set(found.values())) > 1:
        raise AssertionError(f"the sides disagree: {found}")


def in_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """What a function of a benchmark module returns in a process of its own; through JSON: a tuple is then a list."""
    code = (
        "import importlib, json, sys; module, name, arguments = json.loads(sys.argv[1]); "
        "print(json.dumps(getattr(importlib.import_module(module), name)(*arguments)))"
    )
    call = json.dumps([function.__module__, function.__name__, arguments])
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", code, call],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    value: T = json.loads(done.stdout.splitlines()[-1])
    return value


def memory(name: Literal["VmRSS", "VmHWM"], status: Path = Path("/proc/self/status")) -> int:
    """Resident bytes of this process, now or at its peak (not `ru_maxrss`: that one outlives an exec).

    Of another one, if its status was kept.
    """
    lines = status.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name + ":"))


def environment() -> dict[str, str]:
    """Where and with what the measurements were made."""
    models = [line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if "model name" in line]
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "commit": _commit(),
        "cpu": models[0].partition(":")[2].strip() if models else platform.machine(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[1]:.1f}",
        "memory": f"{gib:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in ("mopsus", "pyarrow", "numpy", "reelay", "rtamt", "NferModule")},
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "../src", "../cpp") else "")
