"""ptcaret in the core: against the definition at every prefix, and parametric against slicing by the definition."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from logics.caret_formulas import EVENTS, random_formula, random_word
from monitor.ways import COLUMNS, WAYS, Recorder, feed_rows
from oracle.definitions import defined_subject
from oracle.slicing import RELEASE, AlgorithmC, Occurrence, run
from oracle.strategies import Case

from mopsus.logics import compile_spec, load_logic
from mopsus.model import BindingMode, Event, Handler, MopsusError, Parameter, Property, Spec
from mopsus.monitor import Monitor

PTCARET = load_logic("ptcaret")
BOTH = (Handler("validation"), Handler("violation"))


def spec_of(formula, events=EVENTS, parameters=(), handlers=BOTH, **bound):
    return Spec(
        name="Calls",
        parameters=tuple(map(Parameter, parameters)),
        events=tuple(Event(event, bound.get(event, ())) for event in events),
        properties=(Property("property", "ptcaret", formula, handlers),),
    )


@pytest.mark.parametrize("events", [EVENTS, ("call", "return", "a", "b"), ("begin", "end", "a", "b")], ids=" ".join)
def test_every_prefix_has_the_verdict_of_the_definition(events):
    rng = Random(str(events))
    for seed in range(150):
        text = random_formula(rng, events, rng.choice((2, 3, 4)), calls="call" in events, begins="begin" in events)
        formula = PTCARET.parse(text, events)
        compiled = compile_spec(spec_of(text, events))
        for _ in range(3):
            word = random_word(rng, events, order=rng.choice((0.0, 0.8, 1.0)))
            with Monitor(compiled) as monitor:
                for event in word:
                    monitor.emit(event)
            found = [verdict.category for verdict in monitor.verdicts]
            expected = [
                category
                for length in range(1, len(word) + 1)
                for category in PTCARET.reference(formula, events, word[:length])
            ]
            assert found == expected, f"case {seed}: {text}\n{' '.join(word)}"


def random_case(rng, values, *, noise=False):
    """Calls bind nothing, as in programs; other events bind something or not."""
    parameters = [f"p{number}" for number in range(rng.randint(1, 3))]
    bound = {event: tuple(rng.sample(parameters, rng.randint(0, len(parameters)))) for event in ("a", "b")}
    if rng.random() < 0.3:
        bound |= dict.fromkeys(EVENTS[:4], (parameters[0],))
    used = tuple(name for name in parameters if any(name in names for names in bound.values()))
    handlers = rng.choice((BOTH, BOTH[1:], ()))
    spec = spec_of(random_formula(rng, EVENTS), parameters=used, handlers=handlers, **bound)
    spec = replace(spec, modifiers=replace(spec.modifiers, binding=rng.choice((BindingMode.ANY, BindingMode.FULL))))
    pools = {name: rng.sample(pool, min(2, len(pool))) for name in used for pool in [rng.choice(values)]}
    trace = tuple(
        Occurrence(event, {name: rng.choice(pools[name]) for name in bound.get(event, ())}, 0)
        for event in random_word(rng, EVENTS, 24)
    )
    return Case(spec, trace)


def subject_of(spec):
    return defined_subject(spec, frozenset(), lambda machine, held: machine.alive)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_what_the_definition_says(way):
    heard = 0
    for seed in range(25):
        rng = Random(f"{way} {seed}")
        case = random_case(rng, way.values, noise=way.noise)
        expected = run(AlgorithmC, subject_of(case.spec), case.trace)
        assert way.reports(case, rng) == expected, f"seed {seed}\n{case}"
        heard += len(expected)
    assert heard > 100


def test_a_trace_cut_by_snapshots_gives_the_same_reports():
    for seed in range(60):
        rng = Random(seed)
        case = random_case(rng, COLUMNS)
        recorder = Recorder(case)
        recorder.index = None
        cut = rng.randint(0, len(case.trace))
        with Monitor(case.spec, on_verdict=recorder) as monitor:
            feed_rows(monitor, case.trace[:cut])
            stored = json.dumps(monitor.snapshot())
        with Monitor(case.spec, on_verdict=recorder) as monitor:
            monitor.restore(json.loads(stored))
            feed_rows(monitor, case.trace[cut:], first=cut + 1)
        assert recorder.result() == run(AlgorithmC, subject_of(case.spec), case.trace), f"seed {seed}\n{case}"


def test_damaged_snapshots_are_refused_or_harmless():
    spec = spec_of("(a Sa b) and @b <*s@bc> a")
    with Monitor(spec, history=0) as monitor:
        for event in ("call", "begin", "a", "call", "begin"):
            monitor.row(event, {})
        snapshot = monitor.snapshot()
    refused = 0
    for at in range(len(snapshot["items"])):
        for value in (-1, 5, 2**40, "text"):
            items = [*snapshot["items"][:at], value, *snapshot["items"][at + 1 :]]
            with Monitor(spec, history=0) as monitor:
                try:
                    monitor.restore({**snapshot, "items": items})
                except MopsusError:
                    refused += 1
                for event in ("end", "return", "end", "return", "a"):
                    monitor.row(event, {})
    assert refused > 20


def test_too_many_open_calls_end_the_instance():
    compiled = compile_spec(spec_of("<*a> a", handlers=BOTH[1:]))
    shallow = replace(compiled, machines=tuple(replace(machine, deepest=10) for machine in compiled.machines))
    with Monitor(shallow) as monitor:
        monitor.emit("a")
        for _ in range(30):
            monitor.emit("call")
        assert monitor.stats().alive == 0
    assert [(verdict.category, verdict.final) for verdict in monitor.verdicts] == [("exhausted", True)]


def test_deep_recursion_is_followed():
    with Monitor(spec_of("end => (*a) begin", handlers=BOTH[1:])) as monitor:
        for event in ("begin", "end"):
            emit = monitor.event(event)
            for _ in range(100_000):
                emit()
    assert not monitor.verdicts


def test_released_values_end_their_instances():
    with Monitor(spec_of("b => <*> a", ("a", "b"), ("p",), a=("p",), b=("p",))) as monitor:
        for value in range(10):
            monitor.row("a", {"p": value})
            monitor.row(RELEASE, {"p": value})
        assert monitor.stats().alive == 0
