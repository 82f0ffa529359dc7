"""Objects that die while they are monitored: no report is lost or invented, and nothing is kept."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import weakref
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from monitor.objects import CYCLIC, KINDS, Plain, cyclic
from oracle.compiled import subject_of
from oracle.slicing import RELEASE, AlgorithmC, AlgorithmD, Instance, Occurrence, Report, Subject, instance, run
from oracle.strategies import Case, random_spec

from mopsus.model import Event, Handler, Modifiers, ObjectRef, Parameter, Property, Spec, Verdict
from mopsus.monitor import Monitor
from mopsus.spec import parse

pytestmark = pytest.mark.interpreter

CASES = int(os.environ.get("MOPSUS_CASES", "5000"))
"""The scale of all random tests; a program with objects counts for 25 cases of the others."""

TWICE = Spec(
    "Twice",
    (Parameter("x"),),
    events=(Event("use", ("x",)),),
    properties=(Property("p", "ere", "use use", (Handler("match"),)),),
)

UNSAFE_ITER = Spec(
    "UnsafeIter",
    (Parameter("c"), Parameter("i")),
    events=(Event("create", ("c", "i")), Event("update", ("c",)), Event("next", ("i",))),
    properties=(Property("p", "ere", "create next* update+ next", (Handler("match"),)),),
)


@dataclass
class Thing:
    """An object under a name that no other object ever has."""

    name: str
    value: Any
    cyclic: bool


class Program:
    """A random program: makes objects, emits events about them, lets go of them. `trace` says what it does."""

    def __init__(self, rng: Random, spec: Spec, monitor: Monitor) -> None:
        self.rng = rng
        self.monitor = monitor
        self.events = spec.events
        self.trace: list[Occurrence] = []
        self._live: dict[str, list[Thing]] = {parameter.name: [] for parameter in spec.parameters}
        self._unreachable: list[str] = []  # dead as soon as cycles are collected
        self._made = 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            choice = self.rng.random()
            if choice < 0.7:
                self._emit()
            elif choice < 0.95:
                self._drop()
            elif choice > 0.98:
                self._collect()

    def end(self) -> None:
        for pool in self._live.values():
            pool.clear()
        gc.collect()

    def _emit(self) -> None:
        event = self.rng.choice(self.events)
        chosen = {name: self._choose(name) for name in event.parameters}
        self.trace.append(Occurrence(event.name, {name: thing.name for name, thing in chosen.items()}))
        if self.rng.random() < 0.5:
            self.monitor.emit(event.name, **{name: thing.value for name, thing in chosen.items()})
        else:
            self.monitor.event(event.name)(*[thing.value for thing in chosen.values()])

    def _choose(self, name: str) -> Thing:
        pool = self._live[name]
        if pool and self.rng.random() < 0.8:
            return self.rng.choice(pool)
        others = [thing for other in self._live.values() for thing in other]
        if others and self.rng.random() < 0.1:
            pool.append(self.rng.choice(others))  # one object under two parameters
        else:
            kind = self.rng.choice(list(KINDS))
            self._made += 1
            in_cycle = kind in CYCLIC and self.rng.random() < 0.2
            pool.append(Thing(f"{kind} {self._made}", cyclic(kind) if in_cycle else KINDS[kind](), in_cycle))
        return pool[-1]

    def _drop(self) -> None:
        pools = [pool for pool in self._live.values() if pool]
        if not pools:
            return
        pool = self.rng.choice(pools)
        thing = pool.pop(self.rng.randrange(len(pool)))
        if any(thing is other for things in self._live.values() for other in things):
            return
        if thing.cyclic:
            self._unreachable.append(thing.name)
        else:
            self._end(thing.name)

    def _collect(self) -> None:
        gc.collect()
        for name in self._unreachable:
            self._end(name)
        self._unreachable.clear()

    def _end(self, name: str) -> None:
        self.trace += [Occurrence(RELEASE, {parameter: name}) for parameter in self._live]


@pytest.fixture
def _collect_when_asked(little_to_collect):
    """Cycles end when the program says so, or the trace would not say what happened."""
    gc.disable()
    yield
    gc.enable()


def same_up_to_names(
    found: list[tuple[Report, dict[str, ObjectRef]]], expected: list[Report], trace: list[Occurrence]
) -> bool:
    """Is there one way to say which object each serial number means that makes both reports the same?"""
    if Counter(report[:3] for report, _ in found) != Counter(report[:3] for report in expected):
        return False
    meaning: dict[tuple[str, int], str] = {}
    for report, binding in found:  # the event of a report says who its own parameters are
        for name, made in trace[report.index].binding.items():
            if meaning.setdefault((name, binding[name].serial), made) != made:
                return False
    taken = {(name, made) for (name, _), made in meaning.items()}
    if len(taken) != len(meaning):
        return False
    free = list(expected)

    def place(position: int) -> bool:
        if position == len(found):
            return True
        report, binding = found[position]
        for choice in [other for other in free if other[:3] == report[:3]]:
            names = {name: value[1] for name, value in choice.instance}
            if names.keys() != binding.keys():
                continue
            new = {
                (name, shown.serial): names[name]
                for name, shown in binding.items()
                if (name, shown.serial) not in meaning and (name, names[name]) not in taken
            }
            if any((meaning | new).get((name, shown.serial)) != names[name] for name, shown in binding.items()):
                continue
            meaning.update(new)
            taken.update((name, made) for (name, _), made in new.items())
            free.remove(choice)
            if place(position + 1):
                return True
            free.append(choice)
            for (name, serial), made in new.items():
                del meaning[name, serial]
                taken.remove((name, made))
        return False

    return place(0)


def still_able_to_report(slicer: AlgorithmD, subject: Subject) -> int:
    """How many instances may live on when every value that they bind is dead."""

    def able(theta: Instance, states: tuple[int, ...]) -> bool:
        dead = {name for name, _ in theta}
        return any(
            not dead & subject.domain(events)
            for machine, state in zip(subject.machines, states, strict=True)
            for events in machine.alive[state]
        )

    return sum(able(theta, states) for theta, states in slicer.states.items())


def check_random_program(seed: int) -> None:
    rng = Random(seed)
    spec = random_spec(rng, raw=False)
    spec = replace(spec, modifiers=replace(spec.modifiers, perthread=False))
    properties = {prop.name: number for number, prop in enumerate(spec.properties)}
    found: list[tuple[Report, dict[str, ObjectRef]]] = []

    def take(verdict: Verdict) -> None:
        report = Report(len(program.trace) - 1, properties[verdict.property], verdict.category, frozenset())
        found.append((report, dict(verdict.binding)))

    with Monitor(spec, on_verdict=take) as monitor:
        program = Program(rng, spec, monitor)
        program.run(60)
        program.end()
        left = monitor.stats().alive
    case = f"seed {seed}\n{Case(spec, tuple(program.trace))}"
    subject = subject_of(spec)
    expected = run(AlgorithmC, subject, program.trace)
    assert same_up_to_names(found, expected, program.trace), f"{case}\nfound {found}\nexpected {expected}"
    slicer = AlgorithmD(subject)
    for index, (event, binding, _) in enumerate(program.trace):
        if event != RELEASE:
            slicer.feed(index, event, instance(binding))
    assert left <= still_able_to_report(slicer, subject), f"{left} instances left\n{case}"


@pytest.mark.usefixtures("_collect_when_asked")
@pytest.mark.parametrize("share", range(4))
def test_random_programs_with_dying_objects(share):
    count = max(1, CASES // 100)
    for seed in range(share * count, (share + 1) * count):
        check_random_program(seed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_object_at_an_old_address_is_a_new_object(kind):
    make = KINDS[kind]
    with Monitor(TWICE) as monitor:
        use = monitor.event("use")
        addresses = set()
        for _ in range(3000):
            thing = make()
            addresses.add(id(thing))
            use(thing)
        del thing
        gc.collect()
        assert len(addresses) < 3000, "no address was used twice: this shows nothing"
        assert monitor.verdicts == []
        stats = monitor.stats()
        assert stats.created == 3000
        assert stats.alive == 0


@pytest.mark.parametrize("kind", ["plain", "list", "dict", "object"])
def test_a_new_object_is_not_connected_to_what_was_at_its_address(kind):
    spec = Spec(
        "Linked",
        (Parameter("x"), Parameter("y")),
        Modifiers(connected=True),
        events=(Event("link", ("x", "y")), Event("one", ("x",)), Event("two", ("y",))),
        properties=(Property("p", "ere", "one two", (Handler("match"),)),),
    )
    hub = Plain()
    with Monitor(spec) as monitor:
        reused = 0
        for _ in range(200):
            old = KINDS[kind]()
            address = id(old)
            monitor.emit("link", x=old, y=hub)
            del old
            new = KINDS[kind]()
            reused += id(new) == address
            monitor.emit("one", x=new)
            monitor.emit("two", y=hub)
        assert reused, "no address was used twice: this shows nothing"
        assert monitor.verdicts == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_is_recognised_as_long_as_it_lives(kind):
    with Monitor(TWICE) as monitor:
        things = [KINDS[kind]() for _ in range(50)]
        for _ in range(2):
            for thing in things:
                monitor.emit("use", x=thing)
        assert [verdict.category for verdict in monitor.verdicts] == ["match"] * 50
        assert len({verdict.binding["x"].serial for verdict in monitor.verdicts}) == 50


@pytest.mark.parametrize("kind", CYCLIC)
def test_an_object_in_a_cycle_dies_when_it_is_collected(kind):
    with Monitor(TWICE) as monitor:
        for _ in range(100):
            monitor.emit("use", x=cyclic(kind))
        gc.collect()
        assert monitor.stats().alive == 0
        assert monitor.verdicts == []


def test_monitors_go_when_the_iterator_dies_though_the_collection_lives():
    with Monitor(UNSAFE_ITER) as monitor:
        collection = [1, 2]
        for _ in range(1000):
            monitor.emit("create", c=collection, i=iter(collection))
        assert monitor.stats().alive == 0


def test_a_monitor_outlives_a_value_that_its_report_does_not_need():
    with Monitor(UNSAFE_ITER) as monitor:
        collection = [1, 2]
        iterator = iter((1, 2))
        monitor.emit("create", c=collection, i=iterator)
        monitor.emit("update", c=collection)
        del collection
        assert monitor.stats().alive == 1
        monitor.emit("next", i=iterator)
        assert [verdict.category for verdict in monitor.verdicts] == ["match"]
        assert monitor.verdicts[0].binding.keys() == {"c", "i"}
        assert monitor.stats().alive == 0


def test_a_monitor_goes_with_the_last_value_that_could_bring_a_report():
    with Monitor(UNSAFE_ITER) as monitor:
        collection = [1, 2]
        iterator = iter((1, 2))
        monitor.emit("create", c=collection, i=iterator)
        del collection
        assert monitor.stats().alive == 0  # without an update there can be no match
        monitor.emit("next", i=iterator)
        assert monitor.verdicts == []


@pytest.mark.parametrize("kind", KINDS)
def test_monitoring_keeps_no_object_alive(kind):
    thing = KINDS[kind]()
    before = sys.getrefcount(thing)
    with Monitor(TWICE) as monitor:
        monitor.emit("use", x=thing)
        monitor.emit("use", x=thing)
        assert sys.getrefcount(thing) == before
        assert monitor.verdicts


def test_weak_references_are_few_and_go_with_the_monitor():
    thing = Plain()
    with Monitor(UNSAFE_ITER) as monitor:
        for _ in range(100):
            monitor.emit("create", c=thing, i=iter(()))
            monitor.emit("update", c=thing)
        assert weakref.getweakrefcount(thing) <= 1
    assert weakref.getweakrefcount(thing) == 0


def test_objects_may_die_after_their_monitor():
    things = [make() for make in KINDS.values()]
    monitor = Monitor(TWICE)
    for thing in things:
        monitor.emit("use", x=thing)
    monitor.close()
    del monitor
    gc.collect()
    things.clear()
    gc.collect()


def test_several_monitors_hear_of_the_same_death():
    with Monitor(TWICE) as one, Monitor(TWICE) as two:
        for make in KINDS.values():
            thing = make()
            one.emit("use", x=thing)
            two.emit("use", x=thing)
        del thing
        gc.collect()
        assert (one.stats().alive, two.stats().alive) == (0, 0)


def test_values_that_never_die_are_told_apart_by_equality():
    with Monitor(TWICE) as monitor:
        for value in (1000, 1000.0, "a text", b"bytes", (1, "a"), None, True, 2**80):
            monitor.emit("use", x=value)
        assert monitor.verdicts == []
        for value in (int("1000"), float("1000"), " a text".strip(), bytes(bytearray(b"bytes")), (int("1"), "a")):
            monitor.emit("use", x=value)
        assert len(monitor.verdicts) == 5


def test_an_object_that_its_del_revives_goes_on():
    class Phoenix:
        def __del__(self) -> None:
            revived.append(self)

    revived: list[Phoenix] = []
    with Monitor(TWICE) as monitor:
        monitor.emit("use", x=Phoenix())
        assert len(revived) == 1
        monitor.emit("use", x=revived[0])
        assert len(monitor.verdicts) == 1
        revived.clear()
        gc.collect()


def test_an_object_that_comes_back_from_the_cycle_collector_is_a_new_one():
    # CPython clears the weak references of a collected cycle before it runs any __del__.
    class Phoenix:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            revived.append(self)

    revived: list[Phoenix] = []
    with Monitor(TWICE) as monitor:
        monitor.emit("use", x=Phoenix())
        gc.collect()
        assert len(revived) == 1
        monitor.emit("use", x=revived[0])
        assert monitor.verdicts == []
        monitor.emit("use", x=revived[0])
        assert len(monitor.verdicts) == 1
        revived[0].me = None


def test_an_event_sent_from_a_del_is_an_event():
    class Last:
        def __del__(self) -> None:
            monitor.emit("use", x=self)

    with Monitor(TWICE) as monitor:
        for _ in range(50):
            monitor.emit("use", x=Last())
        assert len(monitor.verdicts) == 50
        assert monitor.stats().alive == 0


def run_alone(program: str) -> None:
    """Run a program in a process of its own, because what it guards against is a crash."""
    text = "import gc\nfrom mopsus.model import *\nfrom mopsus.monitor import Monitor\n" + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


SPEC_TEXT = """
    spec = Spec("Twice", (Parameter("x"),), events=(Event("use", ("x",)),),
                properties=(Property("p", "ere", "use use", (Handler("match"),)),))
"""


@pytest.mark.parametrize("wrap", ["[{}]", "({},)", "dict(a={})", "iter([{}])"])
def test_deeply_nested_containers_die_while_deaths_are_watched(wrap):
    run_alone(
        SPEC_TEXT
        + f"""
    with Monitor(spec) as monitor:
        kept = [{wrap.format("object()")} for _ in range(100)]
        for each in kept:
            monitor.emit("use", x=each)
        nest = []
        for level in range(200_000):
            nest = {wrap.format("nest")}
            if level % 1000 == 0:
                monitor.emit("use", x=nest)
        monitor.emit("use", x=nest)
        del nest
        gc.collect()
        assert monitor.stats().alive == 100, monitor.stats()
    """
    )


def test_objects_may_outlive_the_interpreter():
    run_alone(
        SPEC_TEXT
        + """
    import sys
    monitor = Monitor(spec)
    class Plain: pass
    for thing in ([], {}, Plain(), iter([]), object()):
        monitor.emit("use", x=thing)
        setattr(sys, f"kept{id(thing)}", thing)
    """
    )


class OwnOrdered(OrderedDict):
    """Ends with three deallocators, one calling the next."""


@pytest.mark.parametrize("make", [dict, OrderedDict, lambda: defaultdict(int), OwnOrdered, Counter])
def test_types_whose_deallocator_calls_that_of_their_base(make):
    spec = parse("S(d) { event a(d)\n event b(d)\n ere : a b }")["S"]
    with Monitor(spec) as monitor:
        monitor.emit("a", d={})  # the base is watched before, so that its deallocator is hooked as well
        for _ in range(3):
            value = make()
            value["key"] = [1]
            monitor.emit("a", d=value)
            del value
        kept = make()
        monitor.emit("a", d=kept)
        assert monitor.stats().alive == 1
        monitor.emit("b", d=kept)
        assert len(monitor.verdicts) == 1
