"""The golden vectors of the reference, sections 7.2, 7.3 and 7.5, under the definition and under the monitor."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from oracle.components import happening, occurrence, start

from mopsus.logics import LogicError, compile_spec, load_logic
from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.erlang import parse_bare
from mopsus.logics.hml.formula import Junction, Maximum, Modality, Truth, Variable, Whole
from mopsus.logics.hml.matching import Happening
from mopsus.logics.hml.reference import verdicts
from mopsus.monitor import Monitor
from mopsus.spec import parse

VECTORS = tomllib.loads(Path(__file__).with_name("vectors.toml").read_text())["case"]
WORDS = {"rejection": "no", "acceptance": "yes", "inconclusive": "end"}
OTHERWISE = {"S29": "no@1"}
"""What differs under our default reading: sets keep every clause that an event fits."""


def component(case: dict[str, object]) -> Happening:
    return start("jobs", "boss") if case["id"] in ("S22", "S23") else start("jobs", "worker", 3)


def said(found: list[str | None]) -> str:
    """`no@3`: the verdict with the number of the event that it came at; the first is before any event."""
    for number, verdict in enumerate(found):
        if verdict is not None:
            return f"{WORDS[verdict]}@{number}"
    return "running"


def forms(text: str) -> list[tuple[Reading, Whole]]:
    spec = next(iter(parse(text, "vector.hml").values()))
    return [
        (Reading(linear=prop.logic == "maxhml"), load_logic(prop.logic).parse(prop.formula, ()))
        for prop in spec.properties
    ]


def word_of(case: dict[str, object]) -> list[Happening]:
    return [component(case), *(happening(occurrence(line)) for line in case["trace"])]


@pytest.mark.parametrize("first_match", [True, False], ids=["first match", "default"])
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["id"])
def test_definition(case, first_match):
    results = {
        said(verdicts(reading, whole, word_of(case), first_match=first_match)[1:])
        for reading, whole in forms(case["property"])
    } - {"running"}
    expected = case["expected"] if first_match else OTHERWISE.get(case["id"], case["expected"])
    assert results == ({expected} - {"running", "undefined"})


@pytest.mark.parametrize("first_match", [True, False], ids=["first match", "default"])
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["id"])
def test_monitor(case, first_match):
    compiled = compile_spec(next(iter(parse(case["property"], "vector.hml").values())), first_match=first_match)
    monitor = Monitor(compiled)
    word = word_of(case)
    at = {}
    for number, (name, data) in enumerate(word):
        before = len(monitor.verdicts)
        monitor.event(name)("<0.20.0>", *data)
        at |= dict.fromkeys(range(before, len(monitor.verdicts)), number)
    results = {f"{WORDS[verdict.category]}@{at[number]}" for number, verdict in enumerate(monitor.verdicts)}
    expected = case["expected"] if first_match else OTHERWISE.get(case["id"], case["expected"])
    assert results == ({expected} - {"running", "undefined"})


# ---- 7.5: formulas without `with`


def test_b01_conjunction_in_the_order_of_the_text():
    match parse_bare("[_ ? a]ff and [_ ? b]tt and X").formula:
        case Junction(True, (Modality(then=Truth(False)), Modality(then=Truth(True)), Variable("X"))):
            return
    pytest.fail("another shape")


def test_b02_parentheses():
    match parse_bare("[_ ? a](ff and X)").formula:
        case Modality(then=Junction(True, (Truth(False), Variable("X")))):
            return
    pytest.fail("another shape")


def test_b03_sequences():
    match parse_bare("[_ ? a][_ ? b]ff").formula:
        case Modality(then=Modality(then=Truth(False))):
            return
    pytest.fail("another shape")


def test_b04_b05_fixed_points():
    match parse_bare("max(X. [_ ? a]X and [_ ? b]ff)").formula:
        case Maximum("X", Junction(True, (_, _))):
            pass
        case _:
            pytest.fail("another shape")
    match parse_bare("max(X.[_ ? a]X) and ff").formula:
        case Junction(True, (Maximum("X"), Truth(False))):
            return
    pytest.fail("another shape")


def test_b06_alternatives_of_a_guard():
    formula = parse_bare("[P:Q ! {ok, A} when A =:= 1; A =:= 2]ff").formula
    assert len(formula.action.guard.alternatives) == 2


@pytest.mark.parametrize("text", ["ff.", "with m:f() monitor ff", "[_ ? a]ff and"])
def test_b07_refused(text):
    with pytest.raises(LogicError):
        parse_bare(text)


def test_b07_taken_by_the_union_of_the_dialects():
    assert parse_bare("and([_ ? a]ff)") == parse_bare("[_ ? a]ff")
    assert parse_bare("ff or tt").formula == Junction(False, (Truth(False), Truth(True)))


def test_b08_nothing_is_true():
    assert parse_bare(" % only a comment\n ").formula == Truth(True)


@pytest.mark.parametrize(
    ("text", "trace", "expected"),
    [
        pytest.param("max(X. [_ ? A when A > 0]X and [_ ? A when A > 5]ff)", "2 9", "no@2", id="B09"),
        pytest.param("max(X. [_ ? A when A > 0]X and [_ ? A when A > 5]ff)", "0", "end@1", id="B10"),
        pytest.param("[_ ? a]tt and [_ ? b]ff", "a", "end@1", id="B11"),
        pytest.param("[_ ? a]tt and [_ ? b]ff", "b", "no@1", id="B12"),
        pytest.param("[_ ? a]ff and max(X. [_ ? _]X)", "b a", "running", id="B13"),
        pytest.param("[_ ? a]ff and max(X. [_ ? _]X)", "a", "no@1", id="B14"),
    ],
)
def test_set_semantics(text, trace, expected):
    word = [happening(occurrence(f"recv(W,{message})")) for message in trace.split()]
    assert said(verdicts(Reading(linear=False), parse_bare(text), word)) == expected
