"""What a study gives, as it is stored in `results.json`: small, and without anything that is of one machine only."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import msgspec

from studies.error import StudyError

FILE = Path(__file__).resolve().with_name("results.json")


class Times(msgspec.Struct, frozen=True):
    """Seconds of each round, plain and watched in turn."""

    plain: list[float]
    watched: list[float]

    @property
    def ratio(self) -> float:
        """The median over the rounds of watched by plain."""
        return median(watched / plain for watched, plain in zip(self.watched, self.plain, strict=True))


class Event(msgspec.Struct, frozen=True, array_like=True):
    """An event that led to a violation, where it happened, and the line of code there."""

    name: str
    place: str
    line: str


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """All violations of a contract at one place."""

    contract: str
    place: str
    """File and line."""
    function: str
    severity: str
    count: int
    tests: int
    """How many tests caused it."""
    test: str
    """One of them; none if it happened outside of all tests."""
    line: str
    witness: list[Event]


class Changed(msgspec.Struct, frozen=True):
    """A test with another outcome when it is watched. Several outcomes: it has changed from run to run."""

    test: str
    plain: list[str]
    watched: list[str]


class Counts(msgspec.Struct, frozen=True, array_like=True):
    """What the monitors of a contract have counted."""

    events: int
    monitors: int


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A project, studied."""

    version: str
    python: str
    end_to_end: Times
    """From the start of pytest to its end."""
    cpu: Times
    """The same, counting only the time in which a processor worked on it."""
    tests: Times
    """Set-up, call and tear-down of the tests alone."""
    first_s: float
    """End to end, watched, with nothing in the cache of woven code."""
    outcomes: dict[str, int]
    """How many tests passed, failed and so on, without us."""
    changed: list[Changed]
    unstable: list[str]
    """Tests whose outcome changes without us."""
    contracts: dict[str, Counts]
    """Those that saw events."""
    violations: list[Violation]


def load_results(file: Path = FILE) -> dict[str, Outcome]:
    """What is stored, by project."""
    if not file.exists():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Outcome])
    except msgspec.DecodeError as error:
        raise StudyError(f"cannot read {file.name}: {error}", hint="delete it and run the studies again") from error


def store_result(name: str, outcome: Outcome, file: Path = FILE) -> None:
    """Put what came out of one project to the rest, a line for each violation."""
    stored = load_results(file) | {name: outcome}
    lines = []
    for project, each in sorted(stored.items()):
        plain = msgspec.to_builtins(each)
        found = ",\n   ".join(msgspec.json.encode(one).decode() for one in plain.pop("violations"))
        rest = "".join(f"  {_json(key)}: {_json(value)},\n" for key, value in plain.items())
        lines.append(f' {_json(project)}: {{\n{rest}  "violations": [\n   {found}]}}')
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
