"""Which components an `.hml` text is about, by the function that they run."""

from __future__ import annotations

import pytest

from mopsus.logics.hml.select import argument_list, selector
from mopsus.spec import parse


def selects(text: str, module: str, function: str, *arguments: object, **keywords: object) -> bool:
    spec = next(iter(parse(text, "case.hml").values()))
    return selector(spec)(module, function, arguments, keywords or None)


@pytest.mark.parametrize(
    ("selection", "module", "function", "arguments", "keywords", "expected"),
    [
        ("m:f()", "m", "f", (), {}, True),
        ("m:f()", "m", "g", (), {}, False),
        ("m:f()", "n", "f", (), {}, False),
        ("m:f()", "m", "f", (1,), {}, False),
        ("m:f(_)", "m", "f", (1,), {}, True),
        ("m:f(A, A)", "m", "f", (1, 1), {}, True),
        ("m:f(A, A)", "m", "f", (1, 2), {}, False),
        ("m:f(A) when A > 3", "m", "f", (4,), {}, True),
        ("m:f(A) when A > 3", "m", "f", (3,), {}, False),
        ("m:f(A, limit = 3)", "m", "f", (1,), {"limit": 3, "more": 1}, True),
        ("m:f(A, limit = 3)", "m", "f", (1,), {"limit": 4}, False),
        ("m:f(A, limit = L) when L > A", "m", "f", (1,), {"limit": 4}, True),
        ("m:f(_)", "m", "f", (1,), {"limit": 4}, False),
        ("app.work:Worker.run(_)", "app.work", "Worker.run", (1,), {}, True),
        ("'__main__':'Worker'()", "__main__", "Worker", (), {}, True),
        ("_:F(_) when F =:= run", "anything", "run", (1,), {}, True),
        ("_:F(_) when F =:= run", "anything", "walk", (1,), {}, False),
    ],
)
def test_selections(selection, module, function, arguments, keywords, expected):
    assert selects(f"with {selection} monitor ff.", module, function, *arguments, **keywords) is expected


def test_any_form_selects():
    text = "with m:f() monitor ff, with m:g() check tt."
    assert selects(text, "m", "f")
    assert selects(text, "m", "g")
    assert not selects(text, "m", "h")


def test_properties_without_a_selection_are_about_all():
    spec = parse("S(p) {\n    event e(p)\n    shml : [e] ff\n}\n")["S"]
    assert selector(spec)("m", "f", (), None)


def test_arguments_by_name_are_one_mapping():
    assert argument_list((1,), {"k": 2}) == [1, {"k": 2}]
    assert argument_list((1,), None) == [1]
