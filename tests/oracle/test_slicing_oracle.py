"""The oracles against each other and against the worked runs: what the engine is compared with must itself be right."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from oracle.compiled import subject_of
from oracle.machines import analysed
from oracle.slicing import (
    AlgorithmB,
    AlgorithmC,
    AlgorithmD,
    Instance,
    Occurrence,
    Report,
    Slicer,
    Subject,
    instance,
    key,
    parts,
    run,
    slice_of,
)
from oracle.strategies import drawn, random_case, random_subject, random_trace
from oracle.vectors import load_vectors

from mopsus.model import BindingMode, Event, Handler, Modifiers, Parameter, Property, Spec, TableMachine

VECTORS = load_vectors()
UNSAFE_MAP_ITER = VECTORS[0].spec


def of(**binding: str) -> Instance:
    return instance(binding)


def play(slicer: Slicer, trace: tuple[Occurrence, ...]) -> None:
    for index, (event, binding, _) in enumerate(trace):
        slicer.feed(index, event, instance(binding))


@pytest.mark.parametrize("algorithm", [AlgorithmC, AlgorithmD])
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_golden_vectors(vector, algorithm):
    assert run(algorithm, subject_of(vector.spec), vector.trace) == vector.reports


def test_worked_run_creates_the_instances_of_the_text():
    trace = VECTORS[0].trace
    subject = subject_of(UNSAFE_MAP_ITER)
    full = of(m="m1", c="c1", i="i1")
    useless = of(m="m2", c="c2", i="i1")
    expected = [set(), {of(m="m1", c="c1")}, {of(m="m1", c="c1"), of(m="m2", c="c2")}]
    expected += [expected[2] | {full}, expected[2] | {full, useless}]
    slicer = AlgorithmC(subject)
    for index, (event, binding, _) in enumerate(trace):
        slicer.feed(index, event, instance(binding))
        assert set(slicer.states) == expected[index]
    enabled = AlgorithmD(subject)
    play(enabled, trace)
    assert set(enabled.states) == expected[3]  # the useless one is never created


def test_enable_sets_over_parameters_of_the_worked_run():
    subject = subject_of(UNSAFE_MAP_ITER)
    assert {event: set(subject.enabled_domains(event)) for event in subject.events} == {
        "createC": {frozenset()},
        "createI": {frozenset("mc")},
        "useI": {frozenset("mci")},
        "updateM": {frozenset("mc"), frozenset("mci")},
    }


def test_time_stamps_keep_a_skipped_event_in_mind():
    vector = next(vector for vector in VECTORS if vector.name.startswith("an event skipped"))
    slicer = AlgorithmD(subject_of(vector.spec))
    play(slicer, vector.trace)
    assert slicer.born == {of(p="p1"): 1}
    assert slicer.disabled == {of(p="p1"): 2, of(q="q1"): 3, of(p="p1", q="q1"): 4}
    assert set(slicer.states) == {of(p="p1")}


def test_safe_enum_has_eleven_instances_with_the_slices_of_the_text():
    vector = next(vector for vector in VECTORS if vector.name == "SafeEnum: two real failures")
    machine = subject_of(vector.spec).machines[0]
    instances = [of(v=v) for v in ("v1", "v2")] + [of(e=e) for e in ("e1", "e2", "e3")]
    instances += [of(v=v, e=e) for v in ("v1", "v2") for e in ("e1", "e2", "e3")]
    assert len(instances) == 11
    slices = {theta: slice_of(vector.trace, theta) for theta in instances}
    assert slices[of(v="v1")] == ["updateV", "updateV"]
    assert slices[of(v="v1", e="e1")] == ["updateV", "createE", "useE", "updateV", "useE"]
    assert slices[of(v="v1", e="e2")] == ["updateV", "createE", "updateV", "useE"]
    assert slices[of(v="v2", e="e3")] == ["createE", "useE"]
    failed = {theta for theta, word in slices.items() if "fail" in machine.categories[state_after(machine, word)]}
    assert {theta for theta in failed if len(theta) == 2 and "createE" in slices[theta]} == {
        of(v="v1", e="e1"),
        of(v="v1", e="e2"),
    }


def state_after(machine: TableMachine, word: list[str]) -> int:
    state = machine.initial
    for event in word:
        state = machine.table[state][machine.alphabet.index(event)]
    return state


def test_algorithm_b_computes_the_slices():
    for seed in range(300):
        rng = Random(seed)
        subject = random_subject(rng)[0]
        subject = replace(subject, resets=(frozenset(),) * len(subject.machines))
        trace = random_trace(rng, subject.events, length=10)
        slicer = AlgorithmB(subject)
        play(slicer, trace)
        for theta, states in slicer.states.items():
            word = slice_of(trace, theta)
            assert states == tuple(state_after(machine, word) for machine in subject.machines)


def test_values_that_python_calls_equal_are_told_apart():
    values = [1, 1.0, True, "1", b"1", (1,), (1.0,), (True,)]
    assert len({key(value) for value in values}) == len(values)


def test_connected_is_over_values_whatever_parameter_holds_them():
    prop = Property("ere", "ere", "a b", (Handler("match"),))
    spec = Spec(
        "Link",
        (Parameter("x"), Parameter("y")),
        Modifiers(connected=True),
        events=(Event("a", ("x",)), Event("b", ("y",))),
        properties=(prop,),
    )
    same = (Occurrence("a", {"x": "v"}), Occurrence("b", {"y": "v"}))
    other = (Occurrence("a", {"x": "v"}), Occurrence("b", {"y": "w"}))
    assert [report.index for report in run(AlgorithmC, subject_of(spec), same)] == [1]
    assert run(AlgorithmC, subject_of(spec), other) == []


def check_the_algorithms_agree(rng: Random) -> list[Report]:
    subject, declared = random_subject(rng)
    trace = random_trace(rng, subject.events, threads=subject.perthread)
    return check(subject, declared, trace)


def check(subject: Subject, chosen: bool, trace: tuple[Occurrence, ...]) -> list[Report]:
    """Compare the algorithms; `chosen`: the creation events are not just those that can begin a way to the goal."""
    reports = run(AlgorithmC, subject, trace)
    assert run(AlgorithmD, subject, trace) == reports
    everything = run(AlgorithmB, subject, trace)
    assert run(AlgorithmC, replace(subject, creation=frozenset(subject.events)), trace) == everything
    if not chosen and subject.binding is not BindingMode.MAXIMAL:
        assert set(everything) <= set(reports)
    return reports


def test_the_algorithms_agree_on_random_machines():
    reports = [check_the_algorithms_agree(Random(seed)) for seed in range(1500)]
    assert sum(map(len, reports)) > 1500  # the comparison would be idle if hardly anything reported


@given(drawn(lambda rng: rng))
@settings(max_examples=100)
def test_the_algorithms_agree_and_hypothesis_shrinks(rng):
    check_the_algorithms_agree(rng)


def test_the_algorithms_agree_on_random_formulas():
    total = 0
    for seed in range(700):
        case = random_case(Random(seed))
        chosen = any(event.creation for event in case.spec.events)
        reports = check(subject_of(case.spec), chosen, case.trace)
        if case.spec.modifiers.suffix and not chosen:  # what begins no instance adds nothing to any
            assert set(reports) == set(run(AlgorithmB, subject_of(case.spec), case.trace))
        total += len(reports)
    assert total > 700


def test_larger_enable_sets_change_nothing():
    class Lavish(AlgorithmD):
        def __init__(self, subject: Subject) -> None:
            super().__init__(subject)
            self.enabled = {event: [frozenset(part) for part in parts(subject.parameters)] for event in subject.events}

    for seed in range(500):
        rng = Random(seed)
        subject, _ = random_subject(rng)
        trace = random_trace(rng, subject.events, threads=subject.perthread)
        assert run(Lavish, subject, trace) == run(AlgorithmC, subject, trace)


def test_the_smallest_machine_on_which_enable_sets_keyed_by_source_are_wrong():
    match, none = frozenset({"match"}), frozenset[str]()
    table = ((2, 1, 0), (0, 2, 2), (2, 2, 2))
    machine = analysed(("a", "b", "c"), 0, table, (match, none, none), goal=match)
    assert frozenset({"b", "c"}) in machine.enable["match"]["a"]
    assert frozenset({"a", "b", "c"}) in machine.enable["match"]["b"]
