"""What well-formed specifications mean, and where their parts were written."""

from __future__ import annotations

from pathlib import Path

import pytest

import mopsus.spec
from mopsus.model import BindingMode, Severity
from mopsus.spec import SpecError, format_file, load, load_file, locate, parse, parse_file, print_spec
from mopsus.spec.logics import BUILT_IN
from mopsus.spec.source import Source

EXAMPLES = Path(__file__).parents[2] / "examples" / "specs"
LOGICS = ("ere", "fsm")

FULL = """\
import os
from re import (match,
                search as s)

full-binding connected UnsafeMapIter(m: dict | collections.abc.Mapping+, c, i by identity) {
    severity: warning
    doc: "a stale 'iterator'"
    var n: dict[str, int] = {"a": 7 // 2}
    creation event create_coll(m, c)
    event create_iter after(c) returning(i) : named("iter") { n["a"] += 1 }
    event failed after() raising(i)
    event use_iter(i) {
        if n:
            print("}", {1: 2})  # }
    }
    event update_map(m)
    ere : create_coll update_map* /* } */ create_iter  // more
          use_iter* update_map+ use_iter
    @match[error] { print("stale", __LOC); __RESET }
    @fail
    fsm : a [ use_iter -> a ]
    ere : use_iter
}
"""


@pytest.fixture(scope="module")
def full():
    return parse_file(FULL, "f.mop", logics=LOGICS).specs["UnsafeMapIter"]


def test_header(full):
    assert [(p.name, p.type, p.by) for p in full.parameters] == [
        ("m", "dict | collections.abc.Mapping+", None),
        ("c", None, None),
        ("i", None, "identity"),
    ]
    assert full.modifiers.binding is BindingMode.FULL
    assert full.modifiers.connected
    assert not full.modifiers.suffix
    assert full.severity is Severity.WARNING
    assert full.doc == "a stale 'iterator'"
    assert [code.text for code in full.imports] == ["import os", "from re import match, search as s"]
    assert (full.span.file, full.span.line, full.span.column) == ("f.mop", 5, 24)


def test_variables(full):
    (variable,) = full.variables
    assert (variable.name, variable.type, variable.initial.text) == ("n", "dict[str, int]", '{"a": 7 // 2}')


def test_events(full):
    create, iterate, failed, use, update = full.events
    assert create.creation
    assert create.parameters == ("m", "c")
    assert (iterate.advice, iterate.parameters, iterate.returning) == ("after", ("c", "i"), "i")
    assert (failed.advice, failed.parameters, failed.raising) == ("after", ("i",), "i")
    assert use.action.text == 'if n:\n    print("}", {1: 2})  # }'
    assert (use.action.span.line, use.action.span.column) == (13, 9)
    assert update.pointcut is None


def test_properties(full):
    ere, fsm, again = full.properties
    assert [prop.name for prop in full.properties] == ["ere", "fsm", "ere2"]
    assert ere.formula == "create_coll update_map* create_iter\nuse_iter* update_map+ use_iter"
    match, fail = ere.handlers
    assert (match.category, match.severity, match.code.text) == (
        "match",
        Severity.ERROR,
        'print("stale", __LOC); __RESET',
    )
    assert (fail.code, fail.severity) == (None, None)
    assert fsm.formula == "a [ use_iter -> a ]"
    assert again.logic == "ere"


def test_a_fault_in_a_formula_is_found_in_the_source(full):
    ere = full.properties[0]
    for word in ("create_coll", "create_iter", "update_map+", "use_iter*"):
        span = locate(ere, Source(FULL, "f.mop"), ere.formula.index(word), len(word))
        assert FULL.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1] == word
    end = locate(ere, Source(FULL, "f.mop"), len(ere.formula))
    assert FULL.split("\n")[end.line - 1][: end.column - 1].endswith("update_map+ use_iter")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{}", None),
        ("{ }", None),
        ("{\n\n}", None),
        ("{ x }", "x"),
        ("{\n        x\n    }", "x"),
        ("{\n\t\tif x:\n\t\t\ty\n\t}", "if x:\n\ty"),
        ("{ x\n   y }", "x\ny"),
        ("{ if x:\n       y\n       z }", "if x:\n    y\n    z"),
        ("{  # why\n    x }", "# why\nx"),
        ("{\n  # low\n        x\n    }", "# low\nx"),
        ('{\n    x = """a\n  b\n"""\n    y\n}', 'x = """a\n  b\n"""\ny'),
        ("{\n    f(a,\n  b)\n    c\n}", "f(a,\nb)\nc"),
        ("{ f'{x}' '}' }", "f'{x}' '}'"),
        ("{ x = {'}': {}} }", "x = {'}': {}}"),
        ("{ __SKIP; __RESET() }", "__SKIP; __RESET()"),
        ("{ return }", "return"),
    ],
)
def test_bodies(body, text):
    action = parse(f"from names import *\nS {{ event a {body}\nevent b {{ pass }} }}")["S"].events[0].action
    assert (action.text if action else None) == text


def test_lines_of_a_body_are_those_of_the_file():
    text = "S {\n  event a {\n\n    # first\n    x = 1\n  }\n}"
    action = parse(text)["S"].events[0].action
    lines = text.split("\n")
    for number, line in enumerate(action.text.split("\n")):
        assert lines[action.span.line - 1 + number].strip() == line.strip()


@pytest.mark.parametrize(
    "text",
    [
        "S(i){event a(i)event b(i)ere:a b @match@fail{pass}}",
        "S ( i ) {\nevent a\n(i)\nevent b ( i )\nere\n:\na b\n@match\n@fail\n{ pass } }",
        "// c\nS(i)/* { */{ event a(i); event b(i); ere : a b; @match; @fail { pass }; }",
        "\ufeffS(i) {\r\n event a(i)\r\n event b(i)\r\n ere : a # c }\r\n b\r\n @match @fail {\r\n pass\r\n }\r\n}",
    ],
)
def test_layout_does_not_matter(text):
    spec = parse_file(text, logics=LOGICS).specs["S"]
    assert [event.name for event in spec.events] == ["a", "b"]
    assert spec.properties[0].formula.replace("\n", " ").rstrip(";") == "a b"
    assert [(handler.category, handler.code and handler.code.text) for handler in spec.properties[0].handlers] == [
        ("match", None),
        ("fail", "pass"),
    ]


def test_rewriting_symbols_are_no_comments():
    text = "S { event a\nsrs : a a -> #epsilon . # a comment\n  ^ a -> #fail .\n@fail }"
    assert parse_file(text, logics=("srs",)).specs["S"].properties[0].formula == "a a -> #epsilon .\n^ a -> #fail ."


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("S(i,\n  j) { event a(i)\nere : a }", "SPEC-060", 2, 3),
        ("S(i) { event a(i) }", "SPEC-061", 1, 1),
        ("suffix suffix S(i) { event a(i)\nere : a }", "SPEC-062", 1, 8),
        ("connected S { event a\nere : a }", "SPEC-063", 1, 11),
    ],
)
def test_warnings(text, code, line, column):
    (warning,) = parse_file(text, logics=LOGICS).warnings
    assert (warning.code, warning.span.line, warning.span.column, warning.warning) == (code, line, column, True)


def test_any_logic_is_taken_when_none_is_known():
    assert parse_file("S { event a\nxyz : a }", logics=()).specs["S"].properties[0].logic == "xyz"


def test_hints_name_what_was_probably_meant():
    with pytest.raises(SpecError) as caught:
        parse_file("sufix S(it) { severity: eror\nevent a(itt)\nfms : a }", logics=LOGICS)
    hints = [d.hint for d in caught.value.diagnostics]
    assert hints == [f"did you mean '{word}'?" for word in ("suffix", "error", "it", "fsm")]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("severity = error", "write 'severity: …'"),
        ("evnt x(i)", "did you mean 'event'?"),
        ("x(i)", "write 'event x(…)' to declare an event"),
        ('event x(i) named("y")', "a pointcut follows ':', and its parts are joined by '&&' or '||'"),
        ("ere : a @match print(1)", "a handler's body stands in braces"),
        ("%", "expected an event, a property ('logic : formula'), a handler ('@category'), 'var' or '}'"),
        (
            "event x before(i) : call(y)",
            "bind it by target(…), args(…), or what names it: next(i), returning(x), raising(e), thread(t)",
        ),
        ("event x after(i) returning", "write 'returning(…)'"),
    ],
)
def test_hints_say_what_to_write(line, hint):
    with pytest.raises(SpecError) as caught:
        parse_file(f"S(i) {{\nevent a(i)\n{line}\n}}", logics=LOGICS)
    assert [found.hint for found in caught.value.diagnostics] == [hint]


def test_files(tmp_path):
    path = tmp_path / "a.mop"
    path.write_text("S { event a { pass } }", encoding="utf-8")
    assert list(load(path)) == ["S"]
    assert load_file(path).specs["S"].span.file == str(path)
    path.write_bytes(b"S {\n event \xff }")
    with pytest.raises(SpecError) as caught:
        load(path)
    assert (caught.value.code, caught.value.diagnostics[0].span.line) == ("SPEC-029", 2)
    with pytest.raises(SpecError, match="cannot read"):
        load(tmp_path / "missing.mop")
    with pytest.raises(SpecError, match="cannot read"):
        load(tmp_path)
    path.write_bytes(b" " * 5_000_000)
    with pytest.raises(SpecError, match="is it a specification"):
        load(path)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.mop")), ids=lambda path: path.stem)
def test_examples_are_in_canonical_form_and_give_no_warning(path):
    file = load_file(path, logics=BUILT_IN)
    assert file.specs
    assert not file.warnings
    assert all(spec.doc for spec in file.specs.values())
    assert format_file(file.source.text, logics=BUILT_IN) == file.source.text


def test_examples_show_every_modifier():
    modifiers = [spec.modifiers for path in EXAMPLES.glob("*.mop") for spec in load(path).values()]
    assert {modifier.binding for modifier in modifiers} == set(BindingMode)
    for flag in ("connected", "suffix", "perthread", "unsynchronized", "decentralized"):
        assert any(getattr(modifier, flag) for modifier in modifiers)


def test_every_public_name_is_there():
    assert all(getattr(mopsus.spec, name) is not None for name in mopsus.spec.__all__)
    assert set(mopsus.spec.__all__) <= set(dir(mopsus.spec))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mopsus.spec.nothing  # noqa: B018  # looking it up is the test


def test_fields_follow_the_parameters():
    text = "S(p) {\n    event recv(p; message, sender)\n    event tick(; n)\n    ere : recv tick\n}\n"
    spec = parse(text)["S"]
    assert [(event.parameters, event.fields) for event in spec.events] == [
        (("p",), ("message", "sender")),
        ((), ("n",)),
    ]
    assert print_spec(spec) == text.replace("\n    ere", "\n\n    ere")


def test_a_file_without_an_end_is_refused():
    with pytest.raises(SpecError, match="more than 16,777,216 bytes"):
        load_file("/dev/zero")
