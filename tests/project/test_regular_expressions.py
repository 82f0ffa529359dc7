"""No regular expression of the sources is tried in more ways than its text is long, whatever the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from mopsus.spec.backtracking import Ambiguity

SOURCES = Path(__file__).parents[2] / "src"
MADE_WHEN_NEEDED = {
    ("events/component/log/logging_format.py", "''.join(parts)"): "of a format that the user gives, for lines of a log",
    ("events/weave/hook.py", "b'|'.join(patterns)"): "a choice of expressions that are listed themselves",
    ("events/weave/patterns.py", "_expression(self.text)"): "see `test_globs`",
    ("events/weave/patterns.py", "_expression(part)"): "see `test_globs`",
    ("logics/srs/syntax.py", "f'{word}\\\\b'"): "one of a few words",
    ("logics/temporal/syntax.py", "spelling"): "one of a few words",
    ("spec/matching.py", "pattern"): "what a specification's author wrote in `matches`; judged before it is used",
    ("spec/names.py", "f'(?<![\\\\w.]){re.escape(use.name)}(?!\\\\w)'"): "a word",
}
"""What cannot be known from the source, and why that is good enough."""


def expressions() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((SOURCES / "mopsus").rglob("*.py")):
        if {"stdlib", "packages"} & set(path.parts):  # examples of contracts
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=name)) if name != "escape":
                    yield path.relative_to(SOURCES / "mopsus").as_posix(), node


def read(file: str, call: ast.Call) -> re.Pattern[str] | re.Pattern[bytes] | None:
    """The expression; None if it is not known before the program runs."""
    flags = re.RegexFlag(0)
    for given in (*call.args[1:], *(keyword.value for keyword in call.keywords)):
        if ast.unparse(given).startswith("re."):
            flags |= eval(ast.unparse(given), {"re": re})
    try:
        return re.compile(ast.literal_eval(call.args[0]), flags)
    except ValueError:
        module = import_module(".".join(["mopsus", *Path(file).with_suffix("").parts]))
    try:
        return re.compile(eval(ast.unparse(call.args[0]), vars(module)), flags)
    except NameError:
        return None


def test_every_expression_of_the_sources_is_unambiguous():
    wrong, unknown, count = [], set(), 0
    for file, call in expressions():
        count += 1
        pattern = read(file, call)
        if pattern is None:
            unknown.add((file, ast.unparse(call.args[0])))
        elif Ambiguity(pattern).degree > 1:
            wrong.append(f"{file}:{call.lineno}: {pattern.pattern!r}")
    assert not wrong, "\n".join(wrong)
    assert count > 100
    assert unknown == set(MADE_WHEN_NEEDED)


@pytest.mark.parametrize(
    ("pattern", "degree"),
    [
        (r"(?:\s|%[^\n]*)*with", 3),
        (r"(?:\s++|%[^\n]*+)*+with", 1),
        (r"(a+)+b", 3),
        (r"(ab|[ab]b)*c", 3),
        (r"(a|b|ab)*c", 3),
        (r"(?:x(?:a*)*)y", 3),
        (r"(?=(a+)+b)a", 3),
        (r"\s*;?\s*x", 2),
        (r"a*[ab]*c", 2),
        (r".*:.*:.*", 2),
        (r'"(?:[^"\\]|\\.)*"', 1),
        (r"\w+(?:\s*,\s*\w+)*", 1),
        (r"[0-9]{1,30}(?:\.[0-9]{1,30})?", 1),
    ],
)
def test_ambiguity(pattern, degree):
    assert Ambiguity(re.compile(pattern)).degree == degree


def test_globs():
    from mopsus.events.weave.patterns import _expression

    for glob, name, expected in [
        ("a*b*c", "axxbyybzc", True),
        ("a*b*c", "axxcyy", False),
        ("*.x?", "a.b.xy", True),
        ("*", "", True),
        ("a**b", "ab", True),
        ("ab*b", "ab", False),
    ]:
        assert (re.match(_expression(glob), name) is not None) == expected, glob
    # With an expression of `.*` for each star this would not end.
    assert re.match(_expression("*a" * 30 + "b"), "a" * 3000) is None


def test_texts_that_took_for_ever_are_read():
    from mopsus.decentral.load.places import Places
    from mopsus.logics.hml.parse import _FORM

    long = "the_switch_in_the_hall_is_pressed_now" * 50
    places = Places(f'[monitors]\ncheck = """\n{long} -> X {long}\n"""\n', "ml.toml")
    assert places.key("monitors", "check").origins[0].line == 2
    assert _FORM.match("%" * 5000) is None
    assert _FORM.match("% a banner\n%%%%\n with x") is not None
