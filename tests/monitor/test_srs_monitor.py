"""Rewriting in the core, parametric, through every way into the engine: against slicing by the definition."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from logics.rewriting_systems import EQUALITY
from monitor.ways import COLUMNS, HISTORIES, WAYS, Recorder, feed_rows
from oracle.definitions import defined_subject
from oracle.slicing import RELEASE, AlgorithmB, AlgorithmC, Occurrence, run
from oracle.strategies import Case, random_spec, random_trace

import mopsus
from mopsus.logics import compile_spec
from mopsus.logics.srs import compile as srs_compile
from mopsus.model import BindingMode, Code, Handler, MopsusError, Property, RewriteMachine
from mopsus.monitor import Monitor

DECIDED = frozenset({"succeed", "fail"})


@pytest.fixture
def rewriting(monkeypatch):
    """No system is made into a table."""
    monkeypatch.setattr(srs_compile, "FEW_STRINGS", -1)


def random_rules(rng, alphabet):
    """Rules that make strings shorter; about half of them decide something."""
    symbols = [*alphabet, "X"]
    rules = [f"{rng.choice(alphabet)} {rng.choice(alphabet)} -> X ."]
    for _ in range(rng.randint(1, 4)):
        left = rng.choices(symbols, k=rng.choice((1, 2, 2, 2, 3)))
        right = rng.choices(symbols, k=rng.randint(0, len(left) - 1))
        shown = rng.choice(("#fail", "#succeed")) if rng.random() < 0.5 else " ".join(right) or "#epsilon"
        rules.append(f"{'^ ' * (rng.random() < 0.2)}{' '.join(left)}{' $' * (rng.random() < 0.2)} -> {shown} .")
    return " ".join(rules)


def random_case(rng, values, *, logic=None, noise=False):
    spec = random_spec(rng, parameters=3, raw=False)
    alphabet = [event.name for event in spec.events]
    properties = []
    for number in range(rng.choice((1, 1, 2))):
        handled = rng.choice((("fail",), ("succeed", "fail"), ()))
        handlers = tuple(Handler(category, Code("__RESET") if rng.random() < 0.15 else None) for category in handled)
        name = logic or rng.choice(("srs", "srs_scan"))
        properties.append(Property(f"property{number}", name, random_rules(rng, alphabet), handlers))
    spec = replace(spec, properties=tuple(properties), modifiers=replace(spec.modifiers, suffix=False, every=False))
    events = {event.name: event.parameters for event in spec.events}
    return Case(spec, random_trace(rng, events, values, threads=spec.modifiers.perthread, noise=noise))


def subject_of(spec):
    return defined_subject(
        spec, DECIDED, lambda machine, held: frozenset() if held & DECIDED - machine.restart else machine.alive
    )


def useless(case):
    """Nothing can be reported, and nothing is created; the oracle does not know that."""
    return not any(machine.reportable() for machine in compile_spec(case.spec).machines)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_what_the_definition_says(rewriting, way):
    for seed in range(60):
        rng = Random(f"{way} {seed}")
        case = random_case(rng, way.values, noise=way.noise)
        if useless(case) or case.spec.modifiers.binding is BindingMode.MAXIMAL:
            continue
        assert all(isinstance(machine, RewriteMachine) for machine in compile_spec(case.spec).machines)
        expected = run(AlgorithmC, subject_of(case.spec), case.trace)
        assert way.reports(case, rng) == expected, f"seed {seed}\n{case}"


def test_every_slice_is_rewritten_if_every_event_creates(rewriting):
    for seed in range(60):
        rng = Random(seed)
        case = random_case(rng, COLUMNS)
        if useless(case) or case.spec.modifiers.binding is BindingMode.MAXIMAL:
            continue
        spec = replace(case.spec, events=tuple(replace(event, creation=True) for event in case.spec.events))
        case = Case(spec, case.trace)
        assert WAYS[0].reports(case, rng) == run(AlgorithmB, subject_of(spec), case.trace), f"seed {seed}\n{case}"


def test_tables_and_rewriting_report_the_same(monkeypatch):
    for seed in range(60):
        rng = Random(seed)
        case = random_case(rng, COLUMNS, logic="srs")
        if useless(case) or case.spec.modifiers.binding is BindingMode.MAXIMAL:
            continue
        spec = replace(case.spec, events=tuple(replace(event, creation=True) for event in case.spec.events))
        found = []
        for few in (-1, 200):
            monkeypatch.setattr(srs_compile, "FEW_STRINGS", few)
            recorder = Recorder(case)
            with Monitor(compile_spec(spec), on_verdict=recorder) as monitor:
                for recorder.index, entry in enumerate(case.trace):
                    monitor.emit(entry.event, **entry.binding)
            found.append(recorder.result())
        assert found[0] == found[1], f"seed {seed}\n{case}"


def test_a_trace_cut_by_snapshots_gives_the_same_reports(rewriting):
    for seed in range(100):
        rng = Random(seed)
        case = random_case(rng, COLUMNS, noise=True)
        if useless(case) or case.spec.modifiers.binding is BindingMode.MAXIMAL:
            continue
        recorder = Recorder(case)
        recorder.index = None
        history = rng.choice(HISTORIES)
        cut = rng.randint(0, len(case.trace))
        with Monitor(case.spec, on_verdict=recorder, history=history) as monitor:
            feed_rows(monitor, case.trace[:cut])
            stored = json.dumps(monitor.snapshot())
        with Monitor(case.spec, on_verdict=recorder, history=history) as monitor:
            monitor.restore(json.loads(stored))
            feed_rows(monitor, case.trace[cut:], first=cut + 1)
        assert recorder.result() == run(AlgorithmC, subject_of(case.spec), case.trace), f"seed {seed}\n{case}"


def test_damaged_snapshots_are_refused_or_harmless(rewriting):
    spec = parsed("begin end -> #epsilon . begin release -> #fail .", "begin end release")
    with Monitor(spec, history=0) as monitor:
        for _ in range(6):
            monitor.row("begin", {"i": 1})
        stored = json.dumps(monitor.snapshot())
    rng = Random(5)
    refused = 0
    for _ in range(300):
        at = rng.randrange(len(stored))
        text = stored[:at] + rng.choice("0123456789") + stored[at + 1 :]
        try:
            data = json.loads(text)
        except ValueError:
            continue
        with Monitor(spec, history=0) as monitor:
            try:
                monitor.restore(data)
            except MopsusError:
                refused += 1
            for event in ("end", "begin", "release"):
                monitor.row(event, {"i": 1})
    assert refused > 50


def parsed(rules, events, logic="srs", handlers=""):
    declared = " ".join(f"event {event}(i)" for event in events.split())
    (spec,) = mopsus.parse(f"Rewritten(i) {{ {declared}\n {logic} : {rules}\n {handlers} }}").values()
    return spec


def with_limits(spec, **limits):
    compiled = compile_spec(spec)
    return replace(compiled, machines=tuple(replace(machine, **limits) for machine in compiled.machines))


@pytest.mark.parametrize("logic", ["srs", "srs_scan"])
def test_rewriting_without_end_is_reported_once_and_the_program_goes_on(logic):
    spec = parsed("a b -> b a . b a -> a b . c -> #fail .", "a b c", logic)
    with Monitor(spec) as monitor:
        for event in ("a", "b", "a", "c"):
            monitor.emit(event, i=1)
        monitor.emit("c", i=2)
    (exhausted, failed) = monitor.verdicts
    assert (exhausted.category, exhausted.final, exhausted.binding) == ("exhausted", True, {"i": 1})
    assert (failed.category, failed.binding) == ("fail", {"i": 2})
    assert monitor.stats().alive == 0
    assert [event.event for event in exhausted.witness] == ["a", "b"]
    assert "1,000,000 steps" in exhausted.remarks[0]


@pytest.mark.parametrize("logic", ["srs", "srs_scan"])
def test_a_string_that_grows_too_long_is_reported(logic, rewriting):
    spec = parsed("a b -> #fail .", "a b", logic)
    with Monitor(with_limits(spec, longest=10)) as monitor:
        for _ in range(12):
            monitor.emit("a", i=1)
    assert [verdict.category for verdict in monitor.verdicts] == ["exhausted"]


def test_exhaustion_is_an_error_and_may_be_handled():
    spec = parsed("a -> a . b -> #fail .", "a b", handlers="@exhausted { __RESET } @fail {}")
    compiled = compile_spec(spec)
    assert compiled.severities[spec.properties[0].name, "exhausted"].name == "ERROR"
    with Monitor(with_limits(spec, budget=100)) as monitor:
        for event in ("a", "a", "b"):
            monitor.emit(event, i=1)
    assert [verdict.category for verdict in monitor.verdicts] == ["exhausted", "exhausted", "fail"]


def test_a_verdict_is_for_good_until_reset(rewriting):
    events = ("a", "b", "a", "b")
    for handler, count in (("@fail {}", 1), ("@fail { __RESET }", 2)):
        with Monitor(parsed("a b -> #fail .", "a b", handlers=handler)) as monitor:
            for event in events:
                monitor.emit(event, i=1)
        assert [verdict.category for verdict in monitor.verdicts] == ["fail"] * count


class Thing:
    """Something that can die."""


def test_instances_go_with_the_objects_that_a_verdict_needs(rewriting):
    text = """Unsafe(c, i) { event create(c, i) event update(c) event use(i)
              srs : update use -> #fail . use use -> use . update update -> update . create -> #epsilon . }"""
    (spec,) = mopsus.parse(text).values()
    with Monitor(spec) as monitor:
        owner = Thing()
        for _ in range(1_000):
            each = Thing()
            monitor.emit("create", c=owner, i=each)
            monitor.emit("use", i=each)
        del each
        monitor.emit("update", c=owner)
        assert monitor.stats().alive < 200
        last = Thing()
        monitor.emit("create", c=owner, i=last)
        monitor.emit("update", c=owner)
        monitor.emit("use", i=last)
    assert [verdict.category for verdict in monitor.verdicts] == ["fail"]


def test_released_values_end_their_instances(rewriting):
    spec = parsed("begin end -> #epsilon . begin release -> #fail .", "begin end release")
    with Monitor(spec) as monitor:
        for value in range(10):
            monitor.row("begin", {"i": value})
            monitor.row(RELEASE, {"i": value})
        assert monitor.stats().alive == 0


def test_equality_check_runs_in_the_core():  # mop.md §6.1
    spec = parsed(EQUALITY, "e0 e1 e2 done", handlers="@succeed {} @fail {}")
    rng = Random(2)
    for logic in ("srs", "srs_scan"):
        spec = parsed(EQUALITY, "e0 e1 e2 done", logic, "@succeed {} @fail {}")
        trace, expected = [], []
        for value in range(100):
            word = rng.choices(["e0", "e1", "e2"], k=rng.choice((0, 3, 3, 6, 6, 9)))
            equal = word.count("e0") == word.count("e1") == word.count("e2")
            expected.append((value, "succeed" if equal else "fail"))
            trace += [Occurrence(event, {"i": value}) for event in [*word, "done"]]
        with Monitor(spec) as monitor:
            feed_rows(monitor, trace)
        assert [(verdict.binding["i"], verdict.category) for verdict in monitor.verdicts] == expected


EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "specs"


def reports_of(spec, trace):
    with Monitor(spec) as monitor:
        feed_rows(monitor, trace)
    return sorted({(verdict.row, str(sorted(verdict.binding.items()))) for verdict in monitor.verdicts})


def iterator_traces(rng):
    """Maps, views and iterators as programs have them: each is made once, before it is used."""
    views, iterators = {}, {}
    for number in range(60):
        kind = rng.random()
        if kind < 0.15 or not views:
            views[f"c{number}"] = f"m{rng.randrange(3)}"
            yield Occurrence("create_coll", {"m": views[f"c{number}"], "c": f"c{number}"})
        elif kind < 0.35 or not iterators:
            view = rng.choice(list(views))
            iterators[f"i{number}"] = view
            yield Occurrence("create_iter", {"c": view, "i": f"i{number}"})
        elif kind < 0.55:
            yield Occurrence("update_map", {"m": f"m{rng.randrange(3)}"})
        else:
            yield Occurrence("use_iter", {"i": rng.choice(list(iterators))})


def test_unsafe_map_iterator_reports_the_same_in_srs_and_ere():  # mop.md §6.1
    rules = mopsus.load(EXAMPLES / "Rewriting.mop")["UnsafeMapIteratorByRules"]
    pattern = mopsus.load(EXAMPLES / "UnsafeMapIterator.mop")["UnsafeMapIterator"]
    pattern = replace(pattern, properties=(replace(pattern.properties[0], handlers=()),))
    found = 0
    for seed in range(20):
        trace = list(iterator_traces(Random(seed)))
        reports = reports_of(rules, trace)
        assert reports == reports_of(pattern, trace)
        found += len(reports)
    assert found > 20


def test_has_next_reports_the_same_in_srs_and_ptltl():  # mop.md §6.1
    rules = mopsus.load(EXAMPLES / "Rewriting.mop")["HasNextByRules"]
    other = replace(rules, properties=(Property("past", "ptltl", "next => (*) hasnext", ()),))
    rng = Random(1)
    trace = [Occurrence(rng.choice(("hasnext", "next")), {"i": rng.randrange(5)}) for _ in range(400)]
    reports = reports_of(rules, trace)
    assert len(reports) > 50
    assert reports == reports_of(other, trace)


def test_safe_lock_reports_the_same_in_srs_and_cfg():  # mop.md §6.1
    rules = mopsus.load(EXAMPLES / "Rewriting.mop")["SafeLockByRules"]
    grammar = "S -> epsilon | S begin S end | S acquire S release"
    other = replace(rules, properties=(Property("nested", "cfg", grammar, (Handler("fail"),)),))
    for seed in range(30):
        rng = Random(seed)
        trace, opened = [], []
        for _ in range(40):  # nothing is ended that was not begun: that is where the two differ
            event = rng.choice(("begin", "acquire", "end", "release"))
            if event in ("end", "release"):
                if not opened:
                    continue
                event = rng.choice([*[{"begin": "end", "acquire": "release"}[opened.pop()]] * 9, event])
            else:
                opened.append(event)
            trace.append(Occurrence(event, {"l": 1}))
        assert reports_of(rules, trace)[:1] == reports_of(other, trace)[:1]
