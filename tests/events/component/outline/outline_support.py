"""Programs that are watched from outside, and what comes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

MOPSUS = [sys.executable, "-m", "mopsus"]
PATIENCE = 60


def run(*words: object, cwd: Path, **options) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    return subprocess.run(
        [*MOPSUS, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False, **options
    )


def start(*words: object, cwd: Path, **options) -> subprocess.Popen[str]:
    """A command that goes on, until `end_all` at the latest."""
    process = subprocess.Popen(
        [*MOPSUS, *map(str, words)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    _started.append(process)
    return process


_started: list[subprocess.Popen[str]] = []


def end_all() -> None:
    """End what a test has left behind."""
    while _started:
        process = _started.pop()
        if process.poll() is None:
            for pid in children(process.pid):
                kill(pid)
            process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def write(folder: Path, name: str, text: str) -> Path:
    """A file."""
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def report(folder: Path, name: str = "report.json") -> dict:
    """The report that a command has written."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


def verdicts(found: dict) -> Counter[tuple[str, str, str]]:
    """What was found, and how often: the numbers of components may differ from run to run."""
    return Counter((each["spec"], each["property"], each["category"]) for each in found["verdicts"])


def eventually(what: Callable[[], object], seconds: float = 30) -> object:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)
    return found


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text().split()]
    return found


def kill(pid: int) -> None:
    """As the kernel does it."""
    os.kill(pid, signal.SIGKILL)


def read_pid(path: Path) -> int:
    """A process number that a program writes into a file."""
    return int(eventually(lambda: path.exists() and path.read_text().strip()))


def sidecar_of(supervisor: int, program: int) -> int:
    """The monitor process that a command has forked, beside the program."""
    (found,) = [pid for pid in children(supervisor) if pid != program]
    return found
