"""A program under the debugger with a stand-in for the session: it sets points, and writes down what it is told."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from mopsus.events.weave.launch import Program, launch
from mopsus.interactive.python.adapter import PythonDebugger
from mopsus.model import Place, PlaceKind, Reading, ReadingKind, Unavailable

ARG1 = Reading(ReadingKind.ARGUMENT, index=1)
ARG2 = Reading(ReadingKind.ARGUMENT, index=2)
RESULT = Reading(ReadingKind.RESULT)


def name(text: str, type: str | None = None) -> Reading:
    return Reading(ReadingKind.NAME, text, type=type)


def call(what: str, after: bool = False) -> Place:
    return Place(PlaceKind.CALL, what, after)


@dataclass
class Logged:
    """What became of a program: what it wrote, how it ended, and the places with the values that were read there."""

    stdout: str
    stderr: str
    status: int
    hits: list[list[Any]] = field(default_factory=list)


def run(folder: Path, text: str, points: dict[Place, list[Reading]], *arguments: str) -> Logged:
    """Run a program, and log the hits of these points."""
    program = folder / "program.py"
    program.write_text(text)
    log, wanted = folder / "log.json", folder / "points.pickle"
    wanted.write_bytes(pickle.dumps(points))
    command = [sys.executable, __file__, str(wanted), str(log), str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    hits = json.loads(log.read_text()) if log.exists() else []
    return Logged(done.stdout, done.stderr, done.returncode, hits)


def plain(folder: Path, text: str, *arguments: str) -> Logged:
    """The same program, as the interpreter runs it."""
    program = folder / "program.py"
    program.write_text(text)
    done = subprocess.run(
        [sys.executable, str(program), *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    return Logged(done.stdout, done.stderr, done.returncode)


class Logger:
    """The stand-in, in the process of the program."""

    def __init__(self, debugger: PythonDebugger, points: dict[Place, list[Reading]]) -> None:
        self.debugger = debugger
        self.points = points
        self.hits: list[list[Any]] = []

    def begin(self) -> bool:
        for place, readings in self.points.items():
            self.debugger.set_point(place, readings)
        return False

    def reached(self, place: Place, read: Any) -> bool:
        where = self.debugger.where()
        values = [read(reading) for reading in self.points[place]]
        shown = [repr(value) if isinstance(value, Unavailable) else value for value in values]
        line = int((where.location or ":0").rpartition(":")[2])
        self.hits.append([f"{'after ' if place.after else ''}{place.kind} {place.what}".strip(), line, *shown])
        return False

    def resuming(self) -> bool:
        return False

    def stopped(self) -> None:
        self.debugger.go_on()

    def loaded(self) -> bool:
        return False

    def ended(self, status: int | None) -> None:
        pass

    # ---- as `launch` sees it

    def forked(self) -> None:
        pass

    def start(self) -> None:
        self.debugger.start(vars(sys.modules["__main__"]))

    def main_code(self, source: bytes, path: str) -> CodeType:
        return compile(source, path, "exec", dont_inherit=True)

    def stop(self, *, ended: bool = False) -> None:
        self.debugger.stop()


def main(wanted: str, log: str, program: str, *arguments: str) -> None:
    debugger = PythonDebugger(program, str(Path(program).parent), batch=True)
    logger = Logger(debugger, pickle.loads(Path(wanted).read_bytes()))
    debugger.drive(logger, logger)
    ended = launch(Program(program, arguments=arguments), logger)
    Path(log).write_text(json.dumps(logger.hits, default=repr))
    sys.exit(-signal.SIGINT if ended.interrupted else ended.status)


if __name__ == "__main__":
    main(*sys.argv[1:])
