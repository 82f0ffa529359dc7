"""The examples of contracts, run as a user's program would be: does each say what it is there to say?

Every example has a process of its own, forked, so that none sees what another has loaded, closed or left behind.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mopsus.contracts import Contract
from mopsus.contracts.catalogue import by_module, loops_of
from mopsus.model import Verdict
from mopsus.model.text import file_line

MARK = "# violation"
"""Stands at the end of the line in which an example violates its contract."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was found in an example: which contract, and the line; None if it is not in the example."""

    contract: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the examples of a contract."""

    contract: Contract
    missing: str = ""
    """A module that it is about and that is not installed here, so that nothing was run."""
    violating: tuple[Found, ...] = ()
    clean: tuple[Found, ...] = ()

    @property
    def expected(self) -> tuple[Found, ...]:
        """What should be found in the violating example."""
        lines = self.contract.violating.read_text(encoding="utf-8").splitlines()
        return tuple(Found(self.contract.name, at) for at, line in enumerate(lines, 1) if line.endswith(MARK))

    @property
    def holds(self) -> bool:
        """Is exactly that found, and nothing in the clean example?"""
        return bool(self.missing) or (self.violating == self.expected != () and not self.clean)


def try_out(contract: Contract, watched: Sequence[Contract]) -> Outcome:
    """Run both examples of a contract against all the contracts that are to be watched."""
    missing = [module for module in contract.modules if importlib.util.find_spec(module.partition(".")[0]) is None]
    if missing:
        return Outcome(contract, missing=missing[0])
    return Outcome(contract, "", run_example(contract.violating, watched), run_example(contract.clean, watched))


def run_example(path: Path, watched: Sequence[Contract]) -> tuple[Found, ...]:
    """What is found in one program, in the order of its lines."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.write(writing, json.dumps(_watch(path, watched)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    found: list[tuple[str, int | None]] = json.loads(data) if data else [("", None)]  # the process has died of it
    return tuple(sorted({Found(*each) for each in found}, key=lambda each: (each.contract, each.line or 0)))


def _watch(path: Path, watched: Sequence[Contract]) -> list[tuple[str, int | None]]:
    from mopsus.events.weave.launch import Program, launch
    from mopsus.events.weave.weaver import Weaver
    from mopsus.monitor import Monitor

    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    verdicts: list[Verdict] = []
    process = os.getpid()
    later = by_module(watched, lambda compiled: Monitor(compiled, verdicts.append))
    weaver = Weaver({}, later, loops_of(watched))
    launch(Program(str(path)), weaver)
    if os.getpid() != process:  # the example has forked
        os._exit(0)
    return [(verdict.spec, _line(verdict, str(path))) for verdict in verdicts]


def _line(verdict: Verdict, path: str) -> int | None:
    """The last line of the example that led to a verdict; what a library does by itself has none there."""
    locations = [verdict.location, *(item.location for item in reversed(verdict.witness))]
    places = [place for location in locations if location is not None and (place := file_line(location))]
    return next((line for file, line, _ in places if file == path), None)
