"""Recordings of the home: made day by day from its schedule, in the format of the published ones, and replayed.

A folder has a CSV file for each sensor, named by its number, with a row for each change (date and time, value), and
`annotations.csv` with what the occupant wrote down (begin, end, activity). Recordings of the real home can take their
place.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from mopsus.decentral import sensors as recorded
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System
from mopsus.decentral.traces import Event, Trace
from mopsus.model import Span
from studies.decentral.apartment.home import SECONDS, START, Effect, Home, Sensor, load_home, second_of

ANNOTATIONS = "annotations.csv"

Intervals = list[tuple[int, int]]
"""Seconds of a day: from, and up to but not with."""


def generate_day(date: str, folder: Path, seed: int = 0) -> None:
    """Write the recordings and annotations of one of the home's days into a folder."""
    home = load_home()
    folder.mkdir(parents=True, exist_ok=True)
    signals = generate_signals(home, date, seed)
    for sensor in home.sensors:
        with (folder / f"{sensor.csv}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(
                _rows(sensor, signals[sensor.proposition], date, Random(f"{seed}/{date}/{sensor.csv}"))
            )
    with (folder / ANNOTATIONS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["begin", "end", "activity"])
        for begin, end, activity in home.days[date].schedule:
            if home.activities[activity].annotated:
                writer.writerow([f"{date} {begin}:00", f"{date} {end}:00", activity])


def generate_signals(home: Home, date: str, seed: int = 0) -> dict[str, Intervals]:
    """When each proposition is true on a day."""
    signals: dict[str, Intervals] = {sensor.proposition: [] for sensor in home.sensors}
    least = {sensor.proposition: sensor.least_s for sensor in home.sensors}
    for number, (begin, end, activity) in enumerate(home.days[date].schedule):
        for place, effect in enumerate(home.activities[activity].effects):
            source = Random(f"{seed}/{date}/{number}/{place}")
            found = list(_pulses(effect, second_of(begin), second_of(end), source))
            for name in effect.sensors:
                signals[name] += found
    return {name: _joined(intervals, least[name]) for name, intervals in signals.items()}


def load_sensors(folder: Path, wanted: Iterable[str]) -> dict[str, recorded.Sensor]:
    """The recordings of some propositions in a folder. `DecentralError` if one is missing or wrong."""
    sensors = {sensor.proposition: sensor for sensor in load_home().sensors}
    return {name: _load(sensors[name], folder) for name in wanted}


def replay(folder: Path, date: str, system: System, seconds: int = SECONDS) -> dict[str, Trace]:
    """What each component of a system observes on a day, polled each second."""
    loaded = load_sensors(folder, system.owners)
    start = recorded.parse_time(f"{date} {START}:00")
    return {
        component: tuple(_shared(recorded.poll([loaded[name] for name in names], start, 1.0, seconds)))
        for component, names in system.components.items()
    }


def annotated(folder: Path, date: str) -> dict[str, Intervals]:
    """When each activity took place, as the occupant wrote it down."""
    path = folder / ANNOTATIONS
    start = datetime.fromisoformat(f"{date} {START}:00")
    found: dict[str, Intervals] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                try:
                    times = [datetime.fromisoformat(row[key]) for key in ("begin", "end")]
                    activity = row["activity"]
                except (KeyError, TypeError, ValueError):
                    raise DecentralError(
                        "a row needs begin, end and activity",
                        code="DECENTRAL-042",
                        place=Span(str(path), number, 1, number, 2),
                    ) from None
                begin, end = (int((time - start).total_seconds()) for time in times)
                found.setdefault(activity, []).append((begin, end))
    except OSError as error:
        raise DecentralError(f"cannot read the annotations {path}: {error.strerror}", code="DECENTRAL-040") from None
    return found


def _pulses(effect: Effect, begin: int, end: int, source: Random) -> Iterator[tuple[int, int]]:
    first, last = (begin + round(share * (end - begin)) for share in effect.during)
    last += effect.linger_s
    if effect.on_s is None:
        yield first, last
        return
    time = first + source.randint(0, effect.off_s[1])
    while time < last:
        stop = min(time + source.randint(*effect.on_s), last)
        yield time, stop
        time = stop + max(1, source.randint(*effect.off_s))


def _joined(intervals: Intervals, least: int) -> Intervals:
    """The intervals in order, none and no gap shorter than `least`, none outside of the day."""
    joined: Intervals = []
    for begin, end in sorted(intervals):
        end = max(end, begin + least)
        if joined and begin < joined[-1][1] + least:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return [(begin, min(end, SECONDS)) for begin, end in joined if begin < SECONDS]


def _rows(sensor: Sensor, signal: Intervals, date: str, source: Random) -> Iterator[tuple[str, str]]:
    start = datetime.fromisoformat(f"{date} {START}:00")
    for interval in signal:
        for second, value in zip(interval, reversed(sensor.values), strict=True):
            if second < SECONDS:
                yield str(start + timedelta(seconds=second)), _noisy(value, source)


def _noisy(value: str | float, source: Random) -> str:
    return value if isinstance(value, str) else f"{value * source.uniform(0.9, 1.1):.2f}"


def _load(sensor: Sensor, folder: Path) -> recorded.Sensor:
    path = folder / f"{sensor.csv}.csv"
    if sensor.threshold is None:
        return recorded.read_switch(path, sensor.proposition)
    return recorded.read_threshold(path, sensor.proposition, sensor.threshold)


def _shared(events: Iterator[Event]) -> Iterator[Event]:
    """The same events, equal ones being one: a component that seldom changes has few, not one for each second."""
    known: dict[tuple[bool, ...], Event] = {}
    for event in events:
        yield known.setdefault(tuple(event.values()), event)
