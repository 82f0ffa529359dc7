"""What was measured, in `results.json`: studies are run one by one, and each replaces only what it has measured."""

from __future__ import annotations

from pathlib import Path

import msgspec

from studies.decentral.summary import Mean

FILE = Path(__file__).with_name("results.json")

Cells = dict[str, dict[str, Mean]]
"""By algorithm and size, distribution or specification, with a `/` between them: the means of all columns."""


class Synthetic(msgspec.Struct):
    """The benchmark of random formulas and traces."""

    formulas: int
    traces: int
    cases: int
    """Formulas with traces; none has two verdicts."""
    agreed: int
    """Those of which all algorithms say the same, or nothing."""
    runs: int
    seconds: float
    cores: int
    undecided: float
    """The share of runs that end without a verdict."""
    sizes: Cells
    distributions: Cells


class Chiron(msgspec.Struct):
    """The user interface."""

    runs: int
    cells: Cells
    verdicts: dict[str, str]
    """By specification: what orchestration says of all runs."""
    edges: dict[str, int]
    """By specification: references of the choreography."""


class Costs(msgspec.Struct):
    """What monitors do in a second."""

    verdicts: float
    """Told to another monitor."""
    messages: float
    """In which they were told: one has all that were found together."""
    messages_held: float
    """The same, if monitors are told what changes only."""
    simplifications: float


class Lamps(msgspec.Struct):
    """Lamps of so many rooms: what they need with a monitor for each, and with one for all."""

    rooms: int
    references: int
    propositions: int
    states: int
    synthesis_s: float


class Apartment(msgspec.Struct):
    """The smart home."""

    costs: dict[str, Costs]
    """By group of specifications."""
    lamps: list[Lamps]
    detection: dict[str, list[list[float]]]
    """By activity and day: precision, recall, F1; nothing if it did not take place."""
    napping: dict[str, list[float]]
    aras: dict[str, list[int]]
    """By specification: the days on which it is violated."""
    seconds: float


class Results(msgspec.Struct):
    """All studies."""

    synthetic: Synthetic
    chiron: Chiron
    apartment: Apartment


def load_results() -> Results:
    """As they are stored."""
    return msgspec.json.decode(FILE.read_bytes(), type=Results)


def store(results: Results) -> None:
    """Replace what is stored."""
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
