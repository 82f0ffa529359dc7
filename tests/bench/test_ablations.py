"""Every variant of a monitor that `ablations` measures reports the same, and is the algorithm that it is said to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from oracle.compiled import compiled, subject_of
from oracle.slicing import AlgorithmB, AlgorithmC, AlgorithmD, Report, Slicer, Subject, instance, order, run
from oracle.strategies import TEXTS, Case, drawn, random_spec, random_trace

from mopsus.model import BindingMode, ObjectRef, Verdict
from mopsus.monitor import Monitor

GONE = "<no longer there>"


class Named:
    """A live object that stands for a value of a trace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def random_case(rng: Random) -> Case:
    """What may differ between variants is left out: `maximal-binding` asks which instances there are, a reset where an
    instance begins."""
    spec = random_spec(rng, parameters=3, raw=False)
    binding = BindingMode.ANY if spec.modifiers.binding is BindingMode.MAXIMAL else spec.modifiers.binding
    properties = tuple(
        replace(prop, handlers=tuple(replace(handler, code=None) for handler in prop.handlers))
        for prop in spec.properties
    )
    spec = replace(spec, properties=properties, modifiers=replace(spec.modifiers, binding=binding, perthread=False))
    return Case(spec, random_trace(rng, {event.name: event.parameters for event in spec.events}, (TEXTS[1:],)))


def ends(case: Case, seed: int) -> dict[str, int]:
    """When the objects die that stand for values: most do after their last event."""
    rng = Random(seed)
    last = {value: index for index, entry in enumerate(case.trace) for value in entry.binding.values()}
    return {value: index for value, index in last.items() if rng.random() < 0.7}


def play(monitor: Monitor, case: Case, seed: int, announce: Callable[[int], object] = id) -> None:
    """Feed live objects that die; each event is announced by its number."""
    events = {event.name: (monitor.event(event.name), event.parameters) for event in case.spec.events}
    objects: dict[str, Named] = {}
    dying = ends(case, seed)
    for index, entry in enumerate(case.trace):
        announce(index)
        emit, parameters = events[entry.event]
        emit(*(objects.setdefault(value, Named(value)) for value in map(entry.binding.get, parameters)))
        for value in [value for value, end in dying.items() if end == index]:
            del objects[value]


def shown(reports: list[Report], case: Case, seed: int) -> list[Report]:
    """Reports as a monitor of objects gives them: of an object that has died it only says so."""
    dying = ends(case, seed)
    return sorted(
        (
            report._replace(
                instance=instance(
                    {
                        name: GONE if dying.get(value, report.index) < report.index else value
                        for name, (_, value) in report.instance
                    }
                )
            )
            for report in reports
        ),
        key=order,
    )


def reports(variant: Any, case: Case, seed: int) -> list[Report]:
    found: list[Report] = []
    numbers = {prop.name: number for number, prop in enumerate(case.spec.properties)}
    now: list[int] = []

    def take(verdict: Verdict) -> None:
        texts = {name: value.text for name, value in verdict.binding.items() if isinstance(value, ObjectRef)}
        found.append(Report(now[-1], numbers[verdict.property], verdict.category, instance(texts)))

    with variant.monitor(compiled(case.spec), take) as monitor:
        play(monitor, case, seed, now.append)
    return sorted(found, key=order)


@pytest.fixture
def variants(module):
    return module("variants")


def check(variants: Any, case: Case, seed: int) -> int:
    """Compare all variants with Algorithm C; how many reports there are."""
    everything = run(AlgorithmC, subject_of(case.spec), case.trace)
    full = [each for each in everything if len(each.instance) == len(case.spec.parameters)]
    for variant in (variants.DEFAULT, *variants.PARTS, *variants.ALGORITHMS):
        wanted = full if variants.fully_bound in variant.changes else everything
        if variants.without_creation_events in variant.changes and case.spec.name == "Random":
            wanted = by_algorithm_b(variants, case)
            assert set(everything) <= set(wanted)
        assert reports(variant, case, seed) == shown(wanted, case, seed), f"{variant.name}, seed {seed}\n{case}"
    return len(everything)


def by_algorithm_b(variants: Any, case: Case) -> list[Report]:
    """More than Algorithm C reports: values that occurred only before a creation event make instances of their own."""
    changed = variants.without_creation_events(compiled(case.spec))
    nothing = [frozenset[str]()] * len(changed.machines)
    return run(AlgorithmB, Subject.of(changed.spec, changed.machines, nothing), case.trace)


def test_all_variants_report_what_the_algorithms_report(variants):
    assert sum(check(variants, random_case(Random(seed)), seed) for seed in range(200)) > 400


def test_all_variants_report_what_the_algorithms_report_and_hypothesis_shrinks(variants):
    @given(drawn(random_case))
    @settings(max_examples=40, deadline=None)
    def compare(case: Case) -> None:
        check(variants, case, 0)

    compare()


@pytest.mark.parametrize("name", ["HAS_NEXT", "UNSAFE_ITERATOR", "UNSAFE_MAP_ITERATOR"])
def test_all_variants_report_the_same_of_what_is_measured(variants, module, name):
    specs = module("specs")
    spec = specs.spec(getattr(specs, name))
    events = {event.name: event.parameters for event in spec.events}

    def traced(rng: Random) -> Case:
        return Case(spec, random_trace(rng, events, (TEXTS[1:],), length=100))

    @given(drawn(traced))
    @settings(max_examples=40, deadline=None)
    def compare(case: Case) -> None:
        check(variants, case, 0)

    compare()
    assert sum(check(variants, traced(Random(seed)), seed) for seed in range(60)) > 10


@pytest.mark.parametrize(
    ("algorithm", "changes"),
    [
        (AlgorithmB, ("without_creation_events",)),
        (AlgorithmC, ("without_enable_sets",)),
        (AlgorithmD, ()),
    ],
)
def test_a_variant_creates_the_instances_of_its_algorithm(variants, algorithm: type[Slicer], changes):
    chosen = [getattr(variants, name) for name in (*changes, "without_coenable_sets")]
    variant = variants.Variant("", tuple(chosen))
    made = 0
    for seed in range(400):
        case = random_case(Random(seed))
        if not any(machine.reportable() for machine in compiled(case.spec).machines):
            continue  # then a monitor creates nothing
        slicer = algorithm(subject_of(case.spec))
        for index, (event, binding, _) in enumerate(case.trace):
            slicer.feed(index, event, instance(binding))
        met = {instance(entry.binding) for entry in case.trace}
        with variant.monitor(compiled(case.spec)) as monitor:
            play(monitor, case, seed)
            stats = monitor.stats()
        # Algorithm B begins with the empty instance; a monitor makes it when an event asks for it.
        assert stats.created == len(slicer.states.keys() - ({frozenset()} - met)), f"seed {seed}\n{case}"
        made += stats.created
    assert made > 800


def test_without_coenable_sets_a_monitor_outlives_its_iterator(variants, module):
    specs = module("specs")
    ready = compiled(specs.spec(specs.UNSAFE_ITERATOR))
    collection = Named("collection")
    alive = []
    for variant in (variants.DEFAULT, variants.WITHOUT_COENABLE_SETS):
        with variant.monitor(ready) as monitor:
            create = monitor.event("create")
            for _ in range(10):
                create(collection, Named("iterator"))
            alive.append(monitor.stats().alive)
    assert alive == [0, 10]
