"""Context-free properties in the core against their definition: on words, and sliced by parameters."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.grammars import random_grammar
from monitor.ways import COLUMNS, WAYS, Recorder, feed_rows
from oracle.compiled import compiled
from oracle.defined import grammar_by_definition
from oracle.slicing import AlgorithmC, Subject, run
from oracle.strategies import Case, random_spec, random_trace, resets

from mopsus.logics import LogicError, compile_spec, load_logic
from mopsus.model import BindingMode, Code, Event, Handler, Modifiers, Property, Spec
from mopsus.monitor import Monitor

CASES = int(os.environ.get("MOPSUS_CASES", "5000"))
LOGICS = ("cfg", "lr", "lr_lazy", "lalr", "lalr_lazy")
ALPHABET = ("a", "b", "c")
words = st.lists(st.sampled_from(ALPHABET), max_size=8)
grammars = st.builds(lambda rng: random_grammar(rng, ALPHABET), st.randoms(use_true_random=False))


def spec_of(logic, grammar, *categories, alphabet=ALPHABET, **modifiers):
    handlers = tuple(Handler(category) for category in categories)
    events = tuple(Event(name) for name in alphabet)
    return Spec(
        "T", events=events, properties=(Property("p", logic, grammar, handlers),), modifiers=Modifiers(**modifiers)
    )


def fault_of(spec):
    """The code of what is wrong with a spec, if anything is."""
    try:
        compile_spec(spec)
    except LogicError as error:
        return error.code
    return None


def reports(spec, word):
    """What is reported at each event of a word: categories, sorted."""
    found = []
    with Monitor(spec, on_verdict=lambda verdict: found[-1].append(verdict.category)) as monitor:
        for event in word:
            found.append([])
            monitor.emit(event)
    return found


def expected(logic, grammar, word):
    """The same from the definition."""
    plugin = load_logic(logic)
    formula = plugin.parse(grammar, ALPHABET)
    said = [sorted(plugin.reference(formula, ALPHABET, word[: at + 1]) - {"?"}) for at in range(len(word))]
    if not logic.endswith("lazy") and ["fail"] in said:
        first = said.index(["fail"])
        said[first + 1 :] = [[]] * (len(said) - first - 1)
    return said


@pytest.mark.parametrize("logic", LOGICS)
@given(grammar=grammars, word=words)
@settings(max_examples=150, deadline=None)
def test_every_prefix_has_the_verdict_of_the_definition(logic, grammar, word):
    spec = spec_of(logic, grammar, "match", "fail")
    fault = fault_of(spec)
    if fault is None:
        assert reports(spec, word) == expected(logic, grammar, word)
    elif fault == "LOGIC-032":
        formula = load_logic(logic).parse(grammar, ALPHABET)
        assert load_logic(logic).reference(formula, ALPHABET, ()) == {"fail"}
    else:
        assert fault == "LOGIC-033"
        assert logic != "cfg"


@pytest.mark.parametrize("logic", ["cfg", "lr", "lalr", "lalr_lazy"])
@given(grammar=grammars, word=words)
@settings(max_examples=100, deadline=None)
def test_suffix_matching_reports_when_some_suffix_is_in_the_language(logic, grammar, word):
    spec = spec_of(logic, grammar, "match", suffix=True)
    if fault_of(spec) is not None:
        return
    plugin = load_logic("cfg")
    formula = plugin.parse(grammar, ALPHABET)

    def matches(part):
        return "match" in plugin.reference(formula, ALPHABET, part)

    wanted = [["match"] * any(matches(word[start : at + 1]) for start in range(at + 1)) for at in range(len(word))]
    assert reports(spec, word) == wanted


def random_cfg_case(rng, values, *, noise=False):
    """A spec with one to two context-free properties that compile, and a trace of it."""
    while True:
        spec = random_spec(rng, raw=False)
        alphabet = tuple(event.name for event in spec.events)[:3]
        events = spec.events[:3]
        properties = []
        for number in range(rng.choice((1, 1, 2))):
            categories = ["match"] if spec.modifiers.suffix else rng.choice((["match"], ["fail"], ["match", "fail"]))
            code = [Code("__RESET") if rng.random() < 0.15 else None for _ in categories]
            handlers = tuple(map(Handler, categories, code))
            properties.append(Property(f"p{number}", rng.choice(LOGICS), random_grammar(rng, alphabet), handlers))
        # Which instances hide others depends on which are thought to be able to report; the definition knows better.
        modifiers = replace(spec.modifiers, every=False)
        if modifiers.binding is BindingMode.MAXIMAL:
            modifiers = replace(modifiers, binding=BindingMode.ANY)
        spec = replace(spec, events=events, properties=tuple(properties), modifiers=modifiers)
        if fault_of(spec) is not None:
            continue
        bound = {event.name: event.parameters for event in events}
        trace = random_trace(rng, bound, values, length=14, threads=spec.modifiers.perthread, noise=noise)
        return Case(spec, trace)


def subject_of(spec):
    machines = [
        grammar_by_definition(spec, prop, machine)
        for prop, machine in zip(spec.properties, compiled(spec).machines, strict=True)
    ]
    return Subject.of(spec, machines, resets(spec))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engine_reports_what_algorithm_c_reports_on_the_definition(way):
    for seed in range(-(-CASES // (12 * len(WAYS)))):
        rng = Random(seed)
        case = random_cfg_case(rng, way.values, noise=way.noise)
        assert way.reports(case, rng) == run(AlgorithmC, subject_of(case.spec), case.trace), f"seed {seed}\n{case}"


def test_a_trace_cut_by_snapshots_gives_the_same_reports():
    for seed in range(80):
        rng = Random(seed)
        case = random_cfg_case(rng, COLUMNS)
        recorder = Recorder(case)
        recorder.index = None
        half = rng.randint(0, len(case.trace))
        with Monitor(case.spec, on_verdict=recorder) as monitor:
            feed_rows(monitor, case.trace[:half])
            stored = json.dumps(monitor.snapshot())
        with Monitor(case.spec, on_verdict=recorder) as monitor:
            monitor.restore(json.loads(stored))
            feed_rows(monitor, case.trace[half:], first=half + 1)
        assert recorder.result() == run(AlgorithmC, subject_of(case.spec), case.trace), f"seed {seed}\n{case}"


def test_a_grammar_that_takes_too_much_work_is_given_up_and_said():
    spec = spec_of("cfg", "S -> S S | S S S | a | epsilon")
    found = reports(spec, "a" * 200)
    given_up = next(number for number, categories in enumerate(found) if "exhausted" in categories)
    assert found[:given_up] == [["match"]] * given_up
    assert found[given_up:] == [["exhausted"]] + [[]] * (len(found) - given_up - 1)


def test_what_was_too_much_is_said_where_something_was():
    grammar = spec_of("cfg", "S -> S S | S S S | a | epsilon")
    state = spec_of("fsm", "s [a -> exhausted] exhausted []", "exhausted")  # is only called so
    for spec, remarks in ((grammar, 1), (state, 0)):
        with Monitor(spec, history=0) as monitor:
            for _ in range(200):
                monitor.emit("a")
        (last,) = (verdict for verdict in monitor.verdicts if verdict.category == "exhausted")
        assert len(last.remarks) == remarks
        assert not remarks or "more than 100,000 steps, because the grammar" in last.remarks[0]


def test_under_suffix_only_the_matches_that_have_begun_are_given_up():
    spec = spec_of("cfg", "S -> S S | S S S | a | epsilon", suffix=True)
    found = reports(spec, "a" * 200 + "ba")
    assert ["exhausted"] in found
    assert found[-2:] == [[], ["match"]]
