"""The home that `home.toml` describes: sensors, what activities do to them, and the schedules of days."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("home.toml")
SPECS = Path(__file__).with_name("specs.toml")

START = "07:30"
SECONDS = 36_000
"""How long a day is recorded."""


class Sensor(msgspec.Struct, frozen=True):
    """A sensor with its values for false and true: words, or numbers below and above the threshold."""

    proposition: str
    csv: int | str
    least_s: int
    values: tuple[str | float, str | float]
    threshold: float | None = None


class Effect(msgspec.Struct, frozen=True):
    """Sensors that go on and off together in a share of an activity."""

    sensors: tuple[str, ...]
    during: tuple[float, float] = (0.0, 1.0)
    linger_s: int = 0
    on_s: tuple[int, int] | None = None
    off_s: tuple[int, int] = (0, 0)


class Activity(msgspec.Struct, frozen=True):
    """What an activity does to sensors; one that is not annotated is only seen by them."""

    effects: tuple[Effect, ...]
    annotated: bool = True


class Day(msgspec.Struct, frozen=True):
    """Activities with the times of day at which they begin and end."""

    schedule: tuple[tuple[str, str, str], ...]


class Home(msgspec.Struct, frozen=True):
    """All of it; days by date."""

    sensors: tuple[Sensor, ...]
    activities: Mapping[str, Activity]
    days: Mapping[str, Day]


@cache
def load_home() -> Home:
    """The home that is described beside this module."""
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), Home)


def second_of(time: str) -> int:
    """The second of the recorded day at a time of day; the first is 0."""
    hours, minutes = map(int, time.split(":"))
    begin_hours, begin_minutes = map(int, START.split(":"))
    return ((hours - begin_hours) * 60 + minutes - begin_minutes) * 60
