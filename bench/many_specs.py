"""How time and memory of a check grow with the number of specs, as users get them: `mopsus check` with witnesses."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import Goal, Row

SPECS = (100, 1_000, 10_000)
ROWS = 300
MIB = 1 << 20
TRACES = {
    "nothing violated": lambda row: f"use,{row}",
    "every spec notes every object": lambda row: f"{'open' if row % 2 else 'use'},{row // 2}",
    "every spec reports 100 violations": lambda row: f"{'use' if row % 3 else 'open'},{row // 3}",
}


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    result = []
    for trace, row_of in TRACES.items():
        for specs in (max(1, int(each * scale)) for each in SPECS):
            seconds, peak = _check(specs, "\n".join(["event,i", *map(row_of, range(ROWS)), ""]))
            case = f"{specs:,} specs, {ROWS} rows, {trace}"
            largest = specs == SPECS[-1]
            result += [
                Row(case, "s", seconds, goal=Goal("≤", 20, of="ours") if largest else None),
                Row(case, "MiB at the peak", peak / MIB, goal=Goal("≤", 1024, of="ours") if largest else None),
            ]
    return result


def _check(specs: int, trace: str) -> tuple[float, int]:
    """How long a check takes, and how much memory its process needs at the most."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "t.csv").write_text(trace)
        (folder / "s.mop").write_text(
            "".join(f"S{k}(i) {{ event open(i) event use(i) ere : open use use @match }}\n" for k in range(specs))
        )
        command = [sys.executable, "-m", "mopsus", "check", "s.mop", "t.csv"]
        began = time.perf_counter()
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
    if process.returncode not in (0, 1):
        raise RuntimeError(f"`mopsus check` ended with {process.returncode}")
    return seconds, usage.ru_maxrss * 1024
