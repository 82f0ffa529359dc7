"""Recordings of sensors, replayed as the observations of components.

A recording is a CSV file of times and values with a row for each change: words (`ON`, `CLOSED`) or numbers, of which
a threshold makes Booleans. Polled at regular times, a sensor has the last value that is not later: zero-order hold.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.traces import Event
from mopsus.model import Span

WORDS = dict.fromkeys(("on", "open", "true", "1", "t"), True) | dict.fromkeys(
    ("off", "closed", "close", "false", "0", "f"), False
)


@dataclass(frozen=True, slots=True)
class Sensor:
    """A proposition that changes at certain times, in seconds; `default` is its value before the first of them."""

    proposition: str
    times: tuple[float, ...]
    values: tuple[bool, ...]
    default: bool = False

    def at(self, time: float) -> bool:
        """The value at a time."""
        number = bisect_right(self.times, time)
        return self.values[number - 1] if number else self.default


class Gaps(NamedTuple):
    """The shortest and the longest time between two changes of a sensor, in seconds."""

    least: float
    most: float


def read_switch(path: Path, proposition: str, *, default: bool = False) -> Sensor:
    """A recording of words that mean true or false."""
    return _read(path, proposition, default, _word)


def read_threshold(
    path: Path, proposition: str, threshold: float, *, above: bool = True, default: bool = False
) -> Sensor:
    """A recording of numbers; true means that they are above the threshold, or below it."""

    def compare(text: str) -> bool:
        value = float(text)
        if math.isnan(value):
            raise ValueError(f"'{text}' is no number")
        return value > threshold if above else value < threshold

    return _read(path, proposition, default, compare)


def poll(sensors: Iterable[Sensor], start: float, step: float, count: int) -> Iterator[Event]:
    """The events of so many polls of the sensors of one component, beginning at `start`."""
    polled = tuple(sensors)
    for number in range(count):
        time = start + number * step  # not summed up, which would drift
        yield {sensor.proposition: sensor.at(time) for sensor in polled}


def change_gaps(sensors: Iterable[Sensor]) -> Mapping[str, Gaps]:
    """How fast sensors change, by proposition; those that change less than twice are left out."""
    found: dict[str, Gaps] = {}
    for sensor in sensors:
        held = dict(zip(sensor.times, sensor.values, strict=True))  # of two values at one time the last counts
        before = (sensor.default, *held.values())
        changes = [time for (time, value), old in zip(held.items(), before, strict=False) if value is not old]
        gaps = [after - before for before, after in pairwise(changes)]
        if gaps:
            found[sensor.proposition] = Gaps(min(gaps), max(gaps))
    return found


def polling_step(sensors: Iterable[Sensor]) -> float | None:
    """The longest time between polls in which no sensor changes twice; None if none ever changes twice."""
    return min((gaps.least for gaps in change_gaps(sensors).values()), default=None)


def parse_time(text: str) -> float:
    """Seconds: a number, or a date and time (UTC if it says nothing else); `ValueError` if it is neither."""
    try:
        seconds = float(text)
    except ValueError:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(seconds):
        raise ValueError(f"'{text}' is no time")
    return seconds


def _word(text: str) -> bool:
    value = WORDS.get(text.strip().lower())
    if value is None:
        raise ValueError(f"'{text}' means neither true nor false")
    return value


def _read(path: Path, proposition: str, default: bool, value_of: Callable[[str], bool]) -> Sensor:
    times: list[float] = []
    values: list[bool] = []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            for row in rows:
                if not row or (rows.line_num == 1 and _is_header(row)):
                    continue
                time, value = _row(row, value_of, path, rows.line_num)
                if times and time < times[-1]:
                    raise _refusal("the time is before that of the row above", path, rows.line_num)
                times.append(time)
                values.append(value)
    except OSError as error:
        raise DecentralError(f"cannot read the recording {path}: {error.strerror}", code="DECENTRAL-040") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DecentralError(f"the recording {path} is damaged: {error}", code="DECENTRAL-042") from None
    return Sensor(proposition, tuple(times), tuple(values), default)


def _is_header(row: list[str]) -> bool:
    try:
        parse_time(row[0])
    except (ValueError, OverflowError):
        return True
    return False


def _row(row: list[str], value_of: Callable[[str], bool], path: Path, number: int) -> tuple[float, bool]:
    if len(row) < 2:
        raise _refusal("a row needs a time and a value", path, number)
    try:
        return parse_time(row[0]), value_of(row[1])
    except (ValueError, OverflowError) as error:
        raise _refusal(str(error), path, number) from None


def _refusal(message: str, path: Path, number: int) -> DecentralError:
    return DecentralError(message, code="DECENTRAL-042", place=Span(str(path), number, 1, number, 2))
