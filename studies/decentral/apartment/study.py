"""The study: days are recorded, replayed to the monitors of the specifications, and what these say is compared."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.load import load_specification
from mopsus.decentral.simulate.feed import Change, Changes
from mopsus.decentral.simulate.run import Outcome, simulate
from mopsus.decentral.specification import Specification
from mopsus.decentral.synthesis import from_formula
from mopsus.decentral.system import System
from mopsus.decentral.traces import Event, Trace
from studies.decentral.apartment import aras, recordings
from studies.decentral.apartment.detection import quality
from studies.decentral.apartment.home import SECONDS, SPECS, load_home
from studies.decentral.apartment.recordings import Intervals
from studies.decentral.apartment.specs import GROUPS, part, whole
from studies.decentral.results import Apartment, Costs, Lamps
from studies.decentral.summary import Measures, number
from studies.decentral.thesis import load_thesis

VARIANTS = SPECS.with_name("napping.toml")
NAPPED_ON = "2017-01-31"
ROOMS = range(1, 9)


def run(folder: Path) -> Apartment:
    """All of it; recordings go into the folder."""
    start = time.perf_counter()
    record(folder)
    costs = {name: _costs(folder, names) for name, names in GROUPS.items()}
    detection = detect(folder)
    napping = _qualities(folder, NAPPED_ON, dict.fromkeys(load_thesis().apartment.napping, "napping"), VARIANTS)
    return Apartment(
        costs=costs,
        lamps=[_lamps(rooms) for rooms in ROOMS],
        detection=detection,
        napping=napping,
        aras=_hazards(folder / "aras"),
        seconds=round(time.perf_counter() - start, 1),
    )


def record(folder: Path) -> None:
    """Make the recordings of all days, each in a folder of its own."""
    for date in load_home().days:
        recordings.generate_day(date, folder / date)


def detect(folder: Path) -> dict[str, list[list[float]]]:
    """Precision, recall and F1 of each activity on each day that is recorded in a folder; nothing on days on which it
    did not take place. `DecentralError` if a file is missing or wrong."""
    activities = load_thesis().apartment.detection
    days = [_qualities(folder, date, {name: name for name in activities}, SPECS) for date in load_home().days]
    return {name: [day.get(name, []) for day in days] for name in activities}


def watch(specification: Specification, system: System, traces: Mapping[str, Trace], *, held: bool = True) -> Outcome:
    """Every monitor at every timestamp; `held`: monitors are told what changes, not what is so at each timestamp."""
    algorithm = load_algorithm("general")
    task = Task(specification, system, {"watch": "all", "hold": held})
    observed = _changes(traces) if held else traces
    return simulate(set_up(algorithm, task), task, observed, algorithm=algorithm)


def told(outcome: Outcome, name: str, verdict: bool = True) -> Intervals:
    """The seconds at which a monitor says so, from 0 on."""
    return [(first - 1, last) for first, last, value in outcome.monitor_verdicts.get(name, ()) if value is verdict]


def _costs(folder: Path, names: Iterable[str]) -> Costs:
    specification, system = part(names, *whole())
    traces = recordings.replay(folder / NAPPED_ON, NAPPED_ON, system)
    each, held = (watch(specification, system, traces, held=held).measures for held in (False, True))
    return Costs(
        verdicts=_a_second(each, "answers"),
        messages=_a_second(each, "msg_num"),
        messages_held=_a_second(held, "msg_num"),
        simplifications=_a_second(each, "simp_total"),
    )


def _a_second(measures: Measures, key: str) -> float:
    return round(number(measures, key) / SECONDS, 4)


def _changes(traces: Mapping[str, Trace]) -> Changes:
    found: dict[str, list[Change]] = {}
    for component, trace in traces.items():
        before: Event = {name: not value for name, value in trace[0].items()}
        found[component] = changes = []
        for timestamp, event in enumerate(trace, 1):
            if event is not before:  # equal ones mostly are the same
                changes += [
                    Change(timestamp, name, value) for name, value in event.items() if value is not before[name]
                ]
                before = event
    return Changes(max(map(len, traces.values())), found)


def _lamps(rooms: int) -> Lamps:
    """One monitor for the lamps of all rooms."""
    start = time.perf_counter()
    each = (f"G(switch_{room} -> X(light_{room} U !switch_{room}))" for room in range(rooms))
    automaton = from_formula(" & ".join(each))
    return Lamps(
        rooms, 3 * rooms, len(automaton.inputs), len(automaton.verdicts), round(time.perf_counter() - start, 4)
    )


def _qualities(folder: Path, date: str, activities: Mapping[str, str], specs: Path) -> dict[str, list[float]]:
    """Precision, recall and F1 of monitors, each of which is to detect an activity, on a day; only those that took
    place."""
    loaded = load_specification(specs)
    assert loaded.system is not None
    specification, system = part(activities, loaded.specification, loaded.system)
    outcome = watch(specification, system, recordings.replay(folder / date, date, system))
    took_place = recordings.annotated(folder / date, date)
    found = {
        name: quality(told(outcome, name), took_place[activity])
        for name, activity in activities.items()
        if activity in took_place
    }
    return {
        name: [round(share, 4) for share in (each.precision or 0.0, each.recall or 0.0, each.f1)]
        for name, each in found.items()
    }


def _hazards(folder: Path) -> dict[str, list[int]]:
    """The days on which a meal is prepared while somebody naps."""
    loaded = load_specification(aras.SPECS)
    assert loaded.system is not None
    found: dict[str, list[int]] = {"firehazard": [], "both_firehazard": []}
    for day in aras.DAYS:
        aras.generate_day(day, folder)
        outcome = watch(loaded.specification, loaded.system, aras.read_day(folder, day, loaded.system))
        for name, days in found.items():
            if told(outcome, name, False):
                days.append(day)
    return found
