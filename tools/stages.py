#!/usr/bin/env python3
"""Run targets of the Makefile one after the other, and print how long each took: tools/stages.py TARGET…

Targets joined by a plus sign run beside each other: one that uses a single core beside one that builds, say. What such
a target prints is shown in one piece, when it has ended. The first stage that fails ends the run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from typing import IO

MAKE = os.environ.get("MAKE", "make")
LOOK_S = 0.1


class Target:
    """A target of the Makefile, which has begun."""

    def __init__(self, name: str, output: IO[bytes] | None) -> None:
        self.name = name
        self._output = output
        self._begin = time.monotonic()
        self.seconds = 0.0
        self.process = subprocess.Popen([MAKE, name], stdout=output, stderr=subprocess.STDOUT if output else None)

    def has_ended(self) -> bool:
        """Return whether it has. When that is first seen, show what was kept of what it said."""
        if self.process.poll() is None:
            return False
        self.seconds = time.monotonic() - self._begin
        if self._output is not None:
            self._output.seek(0)
            sys.stdout.buffer.write(self._output.read())
            sys.stdout.flush()
        return True


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def run(stage: str) -> tuple[list[Target], bool]:
    """Run the targets of a stage, and return whether all have succeeded."""
    names = stage.split("+")
    with ExitStack() as files:
        outputs = [files.enter_context(tempfile.TemporaryFile()) if len(names) > 1 else None for _ in names]
        targets = [Target(*each) for each in zip(names, outputs, strict=True)]
        try:
            running = targets
            while running := [target for target in running if not target.has_ended()]:
                time.sleep(LOOK_S)
        except BaseException:
            for target in targets:
                target.process.terminate()
            for target in targets:
                target.process.wait()
            raise
    return targets, all(target.process.returncode == 0 for target in targets)


def main(stages: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    begin = time.monotonic()
    rows: list[tuple[str, float]] = []
    well = True
    for stage in stages:
        targets, well = run(stage)
        rows += [(target.name, target.seconds) for target in targets]
        if not well:
            break
    rows.append(("together", time.monotonic() - begin))
    print("\033[1m==\033[0m time by stage")
    for name, seconds in rows:
        print(f"   {name:14} {duration(seconds):>6}", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
