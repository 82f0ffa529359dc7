"""Rounds of monitors: a large house whose sensors seldom change, and what a turn costs with each algorithm.

The house has rooms, floors, wings and a root, which refer to each other. Monitors are told changes only.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import median

from harness import Goal, Row, Side, measure

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.simulate.feed import Change, Changes, feed_of
from mopsus.decentral.simulate.network import Network
from mopsus.decentral.simulate.run import Outcome, simulate
from mopsus.decentral.specification import Monitor, Specification, monitor_of
from mopsus.decentral.synthesis import from_formula
from mopsus.decentral.system import System
from mopsus.decentral.traces import default_components

ROOMS, TIMESTAMPS = 1_000, 100_000
SENSORS = 4
EVERY = 400
"""A sensor changes once in so many timestamps, at random."""
GROUP = 10
LAG = 5_000
"""A monitor has a turn every so many timestamps."""

ALGORITHMS = ("orch", "migr", "migrr", "chor")
COMPONENTS = (3, 6, 12)
BOUNDS = (4, 16, 64)
DELAYS = (1, 4, 16)
LENGTH = 2_000


def shaped(name: str, formula: str, inputs: Sequence[str], place: str) -> Monitor:
    """A monitor of a formula over `x0`, `x1` and so on, with these inputs instead; references begin with `@`."""
    names = {f"x{number}": each.removeprefix("@") for number, each in enumerate(inputs)}
    references = frozenset(each[1:] for each in inputs if each.startswith("@"))
    return Monitor(name, automaton_of(formula).renamed(names), references, place)


automaton_of = cache(from_formula)


def house(rooms: int) -> tuple[Specification, System]:
    """Two activities in each room; something happens on a floor, in a wing, in the house."""
    places = [f"room{number}" for number in range(rooms)]
    system = System({place: tuple(f"{place}_{sensor}" for sensor in range(SENSORS)) for place in places})
    monitors = []
    group = []
    for place in places:
        sensors = system.components[place]
        monitors += [
            shaped(f"{place}_cooking", "x0 & F<=3 (x1 | x2)", sensors[:3], place),
            shaped(f"{place}_resting", "G<=5 x0", sensors[3:], place),
            shaped(f"{place}_used", "x0 | x1", [f"@{place}_cooking", f"@{place}_resting"], place),
        ]
        group.append(monitors[-1])
    level = 0
    while len(group) > 1:
        level += 1
        below = [group[start : start + GROUP] for start in range(0, len(group), GROUP)]
        group = [
            shaped(
                f"level{level}_{number}",
                " | ".join(f"x{each}" for each in range(len(those))),
                [f"@{each.id}" for each in those],
                those[0].place or "",
            )
            for number, those in enumerate(below)
        ]
        monitors += group
    return Specification({each.id: each for each in monitors}, group[0].id), system


def changes(system: System, timestamps: int) -> Changes:
    """When sensors change, drawn at random."""
    draw = random.Random(7)
    by_component = {}
    for place, sensors in system.components.items():
        found = []
        for sensor in sensors:
            time, value = 0, False
            while (time := time + 1 + int(draw.expovariate(1 / EVERY))) <= timestamps:
                value = not value
                found.append(Change(time, sensor, value))
        by_component[place] = sorted(found)
    return Changes(timestamps, by_component)


def large_house(scale: float) -> list[Row]:
    """Observations per second that monitors of the whole hierarchy take."""
    rooms, timestamps = max(10, int(ROOMS * min(scale, 1))), int(TIMESTAMPS * min(scale, 1))
    specification, system = house(rooms)
    algorithm = load_algorithm("general")
    task = Task(specification, system, {"hold": True, "lag": LAG, "watch": specification.root})
    parts = set_up(algorithm, task)
    feed = feed_of(system, changes(system, timestamps))
    timing = measure({"house": Side(lambda _: simulate(parts, task, feed, algorithm=algorithm))}, 3)["house"]
    outcome = timing.value
    assert isinstance(outcome, Outcome)
    observed = int(outcome.measures["observations"] or 0)
    told = int(outcome.measures["msg_Verdict"] or 0)
    turns = int(outcome.measures["turns"] or 0)
    case = f"{rooms:,} components, {timestamps:,} timestamps, {len(parts):,} monitors"
    goal = Goal("≥", 1.0, of="ours")
    return [
        Row(f"{case}: observations", "M/s", timing.rate(observed), goal=goal if scale >= 1 else None),
        Row(f"{case}: observations, and verdicts that monitors are told", "M/s", timing.rate(observed + told)),
        Row(f"{case}: turns of monitors", "M/s", timing.rate(turns)),
    ]


def always(components: int, bound: int) -> str:
    """Whatever the first component has is answered by another one soon; states grow with the bound."""
    others = " | ".join(f"{place.lower()}0" for place in list(default_components(components, 1))[1:])
    return f"G(a0 -> F<={bound} ({others}))"


def answered(components: int) -> Mapping[str, Sequence[Mapping[str, bool]]]:
    """Each component in turn observes something, so the formula holds all the time."""
    return {
        place: [{names[0]: time % components == number} for time in range(LENGTH)]
        for number, (place, names) in enumerate(default_components(components, 1).items())
    }


def turns_per_second(name: str, components: int, bound: int, delay: int) -> float:
    """Millions of turns of monitors in a second, with one algorithm."""
    monitor = monitor_of("root", always(components, bound))
    task = Task(Specification({"root": monitor}), System(default_components(components, 1)))
    algorithm = load_algorithm(name)
    parts = set_up(algorithm, task)
    feed = feed_of(task.system, answered(components))
    network = Network(delay=(delay, delay))
    side = Side(lambda _: simulate(parts, task, feed, algorithm=algorithm, network=network))
    timing = measure({name: side}, 3)[name]
    assert isinstance(timing.value, Outcome)
    return int(timing.value.measures["turns"] or 0) / median(timing.seconds) / 1e6


def growth() -> list[Row]:
    """What a turn costs with each algorithm as the system, the formula and the delay grow."""
    result = []
    least = (COMPONENTS[0], BOUNDS[1], DELAYS[0])
    for name in ALGORITHMS:
        cases = [
            *((components, least[1], least[2]) for components in COMPONENTS),
            *((least[0], bound, least[2]) for bound in BOUNDS),
            *((least[0], least[1], delay) for delay in DELAYS),
        ]
        for components, bound, delay in dict.fromkeys(cases):
            states = len(monitor_of("root", always(components, bound)).automaton.verdicts)
            case = f"{name}, {components} components, {states} states, messages take {delay}: turns"
            result.append(Row(case, "M/s", turns_per_second(name, components, bound, delay)))
    return result


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    return [*large_house(scale), *growth()]
