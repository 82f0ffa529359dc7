"""The golden slicing vectors as specs, traces and reports."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle.slicing import Occurrence, Report, instance, order

from mopsus.model import BindingMode, Event, Handler, Modifiers, Parameter, Property, Spec

FILE = Path(__file__).parent.parent / "golden" / "slicing.toml"


@dataclass(frozen=True)
class Vector:
    """A spec, a trace of it, and every report that it must give, in the oracle's order."""

    name: str
    spec: Spec
    trace: tuple[Occurrence, ...]
    reports: list[Report]


def load_vectors() -> list[Vector]:
    with FILE.open("rb") as file:
        return [_vector(item) for item in tomllib.load(file)["vector"]]


def _vector(item: dict[str, Any]) -> Vector:
    words = set(item.get("modifiers", ()))
    binding = next((mode for mode in BindingMode if mode.value in words), BindingMode.ANY)
    words.discard(binding.value)
    logic = "ere" if "ere" in item else "fsm"
    handlers = tuple(Handler(category) for category in item["goal"])
    creation = item.get("creation", ())
    spec = Spec(
        name="Golden",
        parameters=tuple(Parameter(name) for name in item["parameters"]),
        modifiers=Modifiers(binding=binding, **dict.fromkeys(words, True)),
        events=tuple(Event(name, tuple(bound), name in creation) for name, bound in item["events"].items()),
        properties=(Property(logic, logic, item[logic], handlers),),
    )
    trace = tuple(
        Occurrence(event, dict(zip(item["events"][event], values, strict=True))) for event, *values in item["trace"]
    )
    reports = [Report(row - 1, 0, category, instance(binding)) for row, category, binding in item["reports"]]
    return Vector(item["name"], spec, trace, sorted(reports, key=order))
