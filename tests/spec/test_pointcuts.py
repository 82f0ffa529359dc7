"""How a trace row is recognised as an event, and where its parameters come from."""

from __future__ import annotations

import pytest

from mopsus.spec import parse_file
from mopsus.spec.pointcuts import PRIMITIVES, Primitive, columns, holds, recognition, register


def event(text, parameters="(i, j)"):
    return parse_file(f"S(i, j) {{ event e{parameters} {text} {{ pass }} }}", logics=()).specs["S"].events[0]


@pytest.mark.parametrize(
    ("text", "name", "row", "expected"),
    [
        ("", "e", {}, True),
        ("", "x", {}, False),
        (': named("x", "y")', "y", {}, True),
        (': named("x", "y")', "e", {}, False),
        (": row(a == 1)", "anything", {"a": 1}, True),
        (": row(a == 1)", "e", {"a": 2}, False),
        (': !named("x") && row(a == 1)', "x", {"a": 1}, False),
        (': (named("x") || row(a == 1)) && row(b == 1)', "y", {"a": 1, "b": 1}, True),
        (': named("x") || row(a == 1) && row(b == 1)', "x", {}, True),
        (": bind(i = src)", "e", {}, True),
        (": bind(i = src)", "x", {}, False),
        (": condition(i > 1)", "e", {}, True),
    ],
)
def test_recognition(text, name, row, expected):
    assert holds(recognition(event(text)), name, row) is expected


def test_columns():
    assert columns(event("")) == {"i": "i", "j": "j"}
    assert columns(event(': bind(j = "odd name") && row(x) && bind(i = a.b)')) == {"i": "a.b", "j": "odd name"}


def test_a_condition_is_split_off():
    declared = event(": condition(i > 1 and ord(')')) && row(x)")
    assert declared.condition.text == "i > 1 and ord(')')"
    assert declared.pointcut.kind == "row"
    assert (declared.condition.span.line, declared.condition.span.column) == (1, 37)


def test_a_source_can_bring_primitives():
    register(Primitive("topic", lambda text: (text.strip(), text.strip())))
    try:
        declared = event(": topic(a/b(c)) && !topic(d)")
        assert [part.argument or part.operands[0].argument for part in declared.pointcut.operands] == ["a/b(c)", "d"]
        with pytest.raises(ValueError, match="registered already"):
            register(PRIMITIVES["topic"])
    finally:
        del PRIMITIVES["topic"]
