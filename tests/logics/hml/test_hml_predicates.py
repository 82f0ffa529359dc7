"""Python functions that guards of `.hml` texts call."""

from __future__ import annotations

import pytest

import mopsus
from mopsus.logics import LogicError, compile_spec
from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.parse import parse_whole
from mopsus.logics.hml.reference import verdicts
from mopsus.monitor import MonitorError
from mopsus.spec import SpecError, parse
from mopsus.spec.hml.predicates import PREDICATES


@pytest.fixture(autouse=True)
def even(monkeypatch):
    for name in list(PREDICATES):
        monkeypatch.delitem(PREDICATES, name)

    @mopsus.predicate
    def even(value):
        return value % 2 == 0

    yield even
    PREDICATES.pop("even", None)


def said(guard: str, message: object) -> str | None:
    text = f"with m:f() monitor [_ ? A when {guard}]ff."
    spec = next(iter(parse(text, "case.hml").values()))
    word = [("start", ("m", "f", [])), ("recv", ("<0.1.0>", message))]
    monitor = mopsus.Monitor(spec)
    for name, data in word:
        monitor.event(name)("<0.1.0>", *data)
    whole = parse_whole(spec.properties[0].formula, ())
    expected = verdicts(Reading(False), whole, word)[-1]
    assert (monitor.verdicts[0].category if monitor.verdicts else None) == expected
    return expected


@pytest.mark.parametrize(
    ("guard", "message", "expected"),
    [
        ("even(A)", 2, "rejection"),
        ("even(A)", 3, "inconclusive"),
        ("not even(A)", 3, "rejection"),
        ("even(A)", "text", "inconclusive"),
        ("not even(A)", "text", "inconclusive"),
        ("A > 1, even(A)", 4, "rejection"),
        ("even(A); A =:= 3", 3, "rejection"),
        ("A =:= 3 orelse even(A)", 3, "rejection"),
    ],
)
def test_meaning(guard, message, expected):
    assert said(guard, message) == expected


def test_they_take_variables():
    with pytest.raises(LogicError, match="takes variables"):
        compile_spec(next(iter(parse("with m:f() monitor [_ ? A when even(A + 1)]ff.", "case.hml").values())))


def test_unknown_ones_are_refused():
    with pytest.raises(LogicError, match="no guard function 'odd'"):
        compile_spec(next(iter(parse("with m:f() monitor [_ ? A when odd(A)]ff.", "case.hml").values())))


def test_they_are_code():
    spec = next(iter(parse("with m:f() monitor [_ ? A when not even(A)]ff.", "case.hml").values()))
    with pytest.raises(MonitorError, match="contains Python code"):
        mopsus.Monitor(spec, allow_code=False)


def test_names():
    with pytest.raises(SpecError, match="cannot be called in a guard"):
        mopsus.predicate(lambda value: value)
