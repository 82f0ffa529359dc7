"""The file of an experiment: which algorithms are run on which specifications and traces, and what is measured.

algorithms = ["orch", "migr", "chor"]
limit = 65                        # rounds of a run at the most; left out: its trace, and `slack` (5) rounds more
measures = ["run", "hops.py:Hops"]  # left out: all that the core counts

[check]                           # before anything is run
oracle = "monitorable"            # or file.py:function, which is given a specification
write = true                      # lists beside this file what was kept and what not

[[series]]                        # one or more
components = 3
specs = "specs/*.xml"             # or a list of them, or a text file with one to a line
traces = "traces"                 # or how they are drawn: { profile = "normal", length = 60, observations = 2 }
runs = 200                        # traces 0 to 199
tags = { profile = "normal" }     # further columns of the results

The properties files of THEMIS (`properties.py`) denote the same settings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import msgspec

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load.tables import Tables
from mopsus.decentral.measures.groups import STOCK
from mopsus.decentral.measures.store import RunKey
from mopsus.decentral.simulate.network import parse_network
from mopsus.decentral.simulate.run import SLACK

SPEC_SUFFIXES = (".xml", ".toml")
"""Files of other names list specifications."""


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What specifications must pass before they are run."""

    skip: bool = False
    oracle: str = "monitorable"
    timeout_s: float = 60.0
    """In which the automata of a specification must be found."""
    write: bool = False


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Traces that are drawn when they are needed, as `mopsus simulate generate traces` draws them."""

    profile: str = "normal"
    length: int = 60
    observations: int = 2
    seed: int = 0
    """Whatever the profile says: all processes must draw the same."""
    invert: bool = False


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Specifications, each of which is run on each of some traces."""

    specs: str | list[str]
    traces: str | Drawn
    runs: int
    first: int = 0
    """The number of the first trace."""
    components: int | None = None
    """None: those that a specification file has, else as many as have traces."""
    name: str = ""
    tags: dict[str, str | int | float | bool] = {}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file."""

    algorithms: list[str]
    series: list[Series]
    title: str = ""
    limit: int | None = None
    slack: int = SLACK
    """Rounds after the end of a trace, if there is no limit."""
    seed: int = 0
    measures: list[str] = msgspec.field(default_factory=lambda: list(STOCK))
    options: dict[str, dict[str, str | int | float | bool]] = {}
    """Of algorithms, by name."""
    network: str = ""
    """How messages travel, as `--network` of `mopsus simulate run` has it."""
    environment: dict[str, str] = {}
    """Variables that code of one's own finds in its environment."""
    results: str | None = None
    cache: str | None = None
    """A folder for automata, so that none is made twice."""
    check: Check = Check()


class Experiment:
    """Settings, and the folder that their paths are relative to."""

    def __init__(self, settings: Settings, file: Path) -> None:
        self.settings = settings
        self.file = file
        self.folder = file.parent
        self.title = settings.title or file.stem
        self.results = self.folder / (settings.results or f"{file.stem}.db")
        self.cache = None if settings.cache is None else self.folder / settings.cache

    @cached_property
    def specs(self) -> tuple[tuple[str, ...], ...]:
        """For each series its specification files, relative to the folder. `DecentralError` if there is none."""
        return tuple(tuple(dict.fromkeys(self._specs_of(series))) for series in self.settings.series)

    def list_of(self, series: Series) -> Path:
        """The file that names the specifications of a series: a list of them, or the experiment's own."""
        if isinstance(series.specs, str) and Path(series.specs).suffix not in SPEC_SUFFIXES:
            return self.folder / series.specs
        return self.file

    def identities(self) -> dict[str, str]:
        """For each series a text that is another if its results would be. Further specifications, traces, algorithms
        and series leave those that there are as they are."""
        whole = self.settings
        common = (whole.limit, whole.slack, whole.seed, whole.measures, whole.options, whole.network)
        return {
            series.name: _digest((*common, series.components, series.traces, series.tags)) for series in whole.series
        }

    def _specs_of(self, series: Series) -> Iterable[str]:
        for given in [series.specs] if isinstance(series.specs, str) else series.specs:
            if Path(given).suffix not in SPEC_SUFFIXES:
                yield from self._listed(given)
                continue
            try:
                found = (
                    sorted(self.folder.glob(given), key=_natural) if not Path(given).is_absolute() else [Path(given)]
                )
            except ValueError as error:
                raise DecentralError(f"{given} is no pattern of files: {error}", code="DECENTRAL-083") from None
            if not found:
                raise DecentralError(f"there are no specifications {given}", code="DECENTRAL-083")
            yield from (_relative(path, self.folder) for path in found)

    def _listed(self, given: str) -> Iterable[str]:
        path = self.folder / given
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise DecentralError(
                f"cannot read the list of specifications {path}: {reason}", code="DECENTRAL-080"
            ) from None
        return [name for line in lines if (name := line.partition("#")[0].strip())]


def load_experiment(path: Path) -> Experiment:
    """The experiment that a file describes. `DecentralError` with the place of what is wrong."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DecentralError(f"cannot read {path}: {error.strerror}", code="DECENTRAL-080") from None
    if path.suffix == ".properties":
        from mopsus.decentral.experiment.properties import read_properties

        return Experiment(read_properties(data, path), path)
    tables = Tables(data, path, malformed="DECENTRAL-080", misplaced="DECENTRAL-081")
    settings = tables.convert(tables.content, Settings)
    for key, message in _faults(settings):
        raise tables.places.key(*key).error(message, code="DECENTRAL-081")
    return Experiment(settings, path)


def _faults(settings: Settings) -> Iterable[tuple[tuple[str, ...], str]]:
    """What is wrong although it has the right form, with its key."""
    if not settings.algorithms:
        yield ("algorithms",), "there is no algorithm to run"
    if len(set(settings.algorithms)) < len(settings.algorithms):
        yield ("algorithms",), "an algorithm is named twice"
    if not settings.series:
        yield ("series",), "there is no series to run"
    if settings.limit is not None and settings.limit < 1:
        yield ("limit",), "a run needs at least one round"
    if settings.slack < 0:
        yield ("slack",), "slack cannot be negative"
    try:
        parse_network(settings.network)
    except DecentralError as error:
        yield ("network",), error.message
    names = [series.name for series in settings.series]
    for number, series in enumerate(settings.series):
        key = ("series", str(number))
        if names.count(series.name) > 1:
            yield (*key, "name"), "each of several series needs a name of its own"
        if series.runs < 1:
            yield (*key, "runs"), "there is no trace to run on"
        if series.first < 0:
            yield (*key, "first"), "traces are numbered from 0 on"
        if series.components is not None and series.components < 1:
            yield (*key, "components"), "a system needs a component"
        if series.components is None and isinstance(series.traces, Drawn):
            yield key, "traces are drawn for so many 'components', which is missing"
        if taken := series.tags.keys() & {*RunKey._fields, "comps"}:
            yield (*key, "tags"), f"'{min(taken)}' is the name of a column already"


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _natural(path: Path) -> list[tuple[int, str]]:
    """2.xml is before 10.xml."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", str(path))]


def _digest(content: object) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()
