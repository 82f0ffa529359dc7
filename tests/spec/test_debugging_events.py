"""Events of specs as a debugger sees them: places and readings, or the reason why there are none."""

from __future__ import annotations

import pytest

from mopsus import MopsusError
from mopsus.model import Place, PlaceKind, Reading, ReadingKind
from mopsus.spec import SpecError, parse, print_spec
from mopsus.spec.debugging import formal

RESULT = Reading(ReadingKind.RESULT)


def event_of(text):
    return parse(f"S(q) {{\n event e {text}\n event other(q)\n ere : e other }}")["S"].event("e")


def arg(index):
    return Reading(ReadingKind.ARGUMENT, index=index)


@pytest.mark.parametrize(
    ("text", "places", "readings"),
    [
        ("before(q) : call(f) && args(q, ..)", [Place(PlaceKind.CALL, "f")], {"q": arg(1)}),
        (
            "before(q; n) : execution(Queue.push) && target(q) && args(_, n, ..)",
            [Place(PlaceKind.CALL, "Queue.push")],
            {"q": arg(1), "n": arg(3)},
        ),
        (
            "before(q) : call(f | g) && args(size=q, ..)",
            [Place(PlaceKind.CALL, "f"), Place(PlaceKind.CALL, "g")],
            {"q": Reading(ReadingKind.NAME, "size")},
        ),
        ("after() returning(q) : call(fopen)", [Place(PlaceKind.CALL, "fopen", True)], {"q": RESULT}),
        (
            'before(q) : call("ns::f") && value(q = arg 1)',
            [Place(PlaceKind.CALL, "ns::f")],
            {"q": arg(1)},
        ),
        (
            'after(q; n, m) : write("counter") && value(q = ret, n = *p : int, m = {len(x)})',
            [Place(PlaceKind.WRITE, "counter", True)],
            {
                "q": RESULT,
                "n": Reading(ReadingKind.POINTEE, inner=Reading(ReadingKind.NAME, "p"), type="int"),
                "m": Reading(ReadingKind.PYTHON, "len(x)"),
            },
        ),
        ("after(q) : set(counter) && args(q)", [Place(PlaceKind.WRITE, "counter", True)], {"q": RESULT}),
        ("before() : get(Queue.size)", [Place(PlaceKind.READ, "Queue.size")], {}),
        ('before() : access("x") || read("y")', [Place(PlaceKind.ACCESS, "x"), Place(PlaceKind.READ, "y")], {}),
        (': update("x + y")', [Place(PlaceKind.UPDATE, "x + y")], {}),
        (': line("f.c:12") || line("f.c:20")', [Place(PlaceKind.LINE, "f.c:12"), Place(PlaceKind.LINE, "f.c:20")], {}),
        ('after() : syscall("write")', [Place(PlaceKind.SYSCALL, "write", True)], {}),
        (': signal("SIGUSR1")', [Place(PlaceKind.SIGNAL, "SIGUSR1")], {}),
        ("(q) : throw() && value(q = ret)", [Place(PlaceKind.THROW, "")], {"q": RESULT}),
        ('(q) : catch("T") && value(q = ret)', [Place(PlaceKind.CATCH, "T")], {"q": RESULT}),
        ("before(q) : raising(q)", [Place(PlaceKind.THROW, "")], {"q": RESULT}),
        ("before() : handling(KeyError)", [Place(PlaceKind.CATCH, "KeyError")], {}),
        (": endProgram()", [Place(PlaceKind.END)], {}),
    ],
)
def test_places_and_readings(text, places, readings):
    found = formal(event_of(text))
    assert [each.place for each in found] == places
    assert all(each.readings == readings for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "(q)",
        '(q) : named("a")',
        "around() : call(f)",
        "after() raising(q) : call(f)",
        "before() : call(f) && within(pkg.*)",
        "before() : call(f) && cflow(call(g))",
        'before() : call(f) && threadName("w")',
        "before() : call(f) && !call(g)",
        "before() : call(f*)",
        "before() : call(Base+.f)",
        "before() : call(f) && call(g)",
        "before(q) : next(q)",
        "before() : new(Queue)",
        "before(q) : set(counter) && args(q)",
    ],
)
def test_what_no_debugger_sees_is_refused_with_the_reason(text):
    with pytest.raises(SpecError) as caught:
        formal(event_of(text))
    assert caught.value.code == "SPEC-087"
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        'before(q; n) : call("ns::f") && value(q = arg 1, n = "q->size" : int)',
        "after(q) : call(f) && value(q = ^*ret)",
        ': line("f.c:12")',
        'after(; n) : syscall("read") && value(n = ret)',
        "before() : access(\"a['x']\")",
    ],
)
def test_canonical_texts_round_trip(text):
    spec = parse(f"S(q) {{\n event e {text}\n event other(q)\n ere : e other }}")["S"]
    assert f"event e {text}" in print_spec(spec)
    assert parse(print_spec(spec)) == {"S": spec}


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("before(q) : call(f) && value(q = )", "SPEC-001", 42),
        ("before(q) : call(f) && value(q = arg 1, q = arg 2)", "SPEC-019", 50),
        ("before(q) : call(f) && value(q = arg 1 : char)", "SPEC-086", 51),
        ("before() : call(f) && value(p = arg 1)", "SPEC-052", 32),
        ("before(q) : call(f) && value(q = arg 1) && args(q)", "SPEC-051", 53),
        ("before(q) : call(f)", "SPEC-051", 22),
        (": line(12)", "SPEC-019", 17),
        (': write("x")', "SPEC-049", 8),
    ],
)
def test_faults_have_their_places(text, code, column):
    with pytest.raises(SpecError) as caught:
        event_of(text)
    assert [(each.code, each.span.column) for each in caught.value.diagnostics] == [(code, column)], caught.value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("before(q) : call(f) && value(q = arg 1)", False),
        ("before(q) : call(f) && value(q = ^*p)", False),
        ('before(q) : call(f) && value(q = "wipe()")', True),
        ("before(q) : call(f) && value(q = ^{wipe()})", True),
        ('before() : write("q->cells[3]")', False),
        ('before() : write("wipe()")', True),
        (': update("*wipe()")', True),
        (': line("f.c:12") || signal()', False),
        ('before() : call(f) || read("wipe()")', True),
    ],
)
def test_expressions_are_code_that_may_be_forbidden(text, code):
    spec = parse(f"S(q) {{\n event e {text}\n event other(q)\n ere : e other }}")["S"]
    if code:
        with pytest.raises(MopsusError) as caught:
            spec.monitor(allow_code=False)
        assert caught.value.code == "MONITOR-001"
    else:
        spec.monitor(allow_code=False)
