"""The other home: 30 days of two people, in the format of the ARAS recordings.

`DAY_7.txt` has a row for each second with a 0 or 1 for each sensor, separated by spaces. The published files have more
columns, in the order of their house; which of them is which proposition is said when they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System
from mopsus.decentral.traces import Event, Trace
from mopsus.model import Span

SPECS = Path(__file__).with_name("aras.toml")
DAYS = range(1, 31)
SECONDS = 86_400
COLUMNS: Mapping[str, int] = {"kdrawer": 0, "fridge": 1, "cupboard": 2, "bed1": 3, "bed2": 4}
"""The columns of the files that are made here."""

HAZARDS = (7, 9, 16, 17, 18, 19, 24, 27)
"""The days on which one is in bed while the other one prepares a meal."""

HOUR = 3600


def generate_day(day: int, folder: Path, seed: int = 0) -> None:
    """Write the file of a day."""
    source = Random(f"{seed}/{day}")
    rises = 7 * HOUR + source.randint(0, HOUR)
    nap = 14 * HOUR + source.randint(0, HOUR)
    lies_down = nap if day in HAZARDS else nap + 2 * HOUR
    intervals: dict[str, list[tuple[int, int]]] = {
        "bed1": [(0, rises), (lies_down, lies_down + 40 * 60), (23 * HOUR, SECONDS)],
        "bed2": [(0, rises - source.randint(60, 1800)), (23 * HOUR, SECONDS)],
    }
    meals = [rises + 600, 12 * HOUR, nap + 300, 19 * HOUR]
    for name in ("kdrawer", "fridge", "cupboard"):
        intervals[name] = [
            (begin, begin + source.randint(2, 20))
            for meal in meals
            for begin in sorted(meal + source.randint(0, 1500) for _ in range(12))
        ]
    columns = [_signal(intervals[name]) for name in COLUMNS]
    folder.mkdir(parents=True, exist_ok=True)
    rows = (" ".join(values) for values in zip(*columns, strict=True))
    path_of(folder, day).write_text("".join(f"{row}\n" for row in rows), encoding="ascii")


def read_day(folder: Path, day: int, system: System, columns: Mapping[str, int] = COLUMNS) -> dict[str, Trace]:
    """What each component of a system observes on a day. `DecentralError` with the line that is wrong."""
    path = path_of(folder, day)
    known: dict[str, Mapping[str, Event]] = {}  # rows come again and again
    traces: dict[str, list[Event]] = {component: [] for component in system.components}
    try:
        with path.open(encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                if line not in known:
                    values = _values(line, columns, path, number)
                    known[line] = {
                        component: {name: values[name] for name in names}
                        for component, names in system.components.items()
                    }
                for component, event in known[line].items():
                    traces[component].append(event)
    except OSError as error:
        raise DecentralError(f"cannot read the recording {path}: {error.strerror}", code="DECENTRAL-040") from None
    return {component: tuple(events) for component, events in traces.items()}


def path_of(folder: Path, day: int) -> Path:
    """The file of a day."""
    return folder / f"DAY_{day}.txt"


def _values(line: str, columns: Mapping[str, int], path: Path, number: int) -> dict[str, bool]:
    fields: Sequence[str] = line.split()
    try:
        return {name: {"0": False, "1": True}[fields[column]] for name, column in columns.items()}
    except (IndexError, KeyError):
        raise DecentralError(
            f"the row has no 0 or 1 in each of {max(columns.values()) + 1} columns",
            code="DECENTRAL-042",
            place=Span(str(path), number, 1, number, len(line)),
        ) from None


def _signal(intervals: Iterable[tuple[int, int]]) -> list[str]:
    signal = ["0"] * SECONDS
    for begin, end in intervals:
        signal[begin:end] = ["1"] * (min(end, SECONDS) - begin)
    return signal
