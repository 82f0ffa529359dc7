"""Pointcuts for programs: what is read, what is printed, and into which cases they fall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mopsus
from mopsus.model import Pointcut
from mopsus.spec.printer import print_pointcut, print_spec
from mopsus.spec.program import MAX_BRANCHES, PROGRAM, Arguments, Dotted, TooManyBranchesError, branches, subject


def pointcut_of(text, advice="before", parameters="x"):
    spec = mopsus.parse(f"S({parameters}) {{ event e {advice}({parameters}) : {text} ere : e }}")["S"]
    assert mopsus.parse(print_spec(spec))["S"] == spec
    return spec.events[0].pointcut


@pytest.mark.parametrize(
    ("text", "kind", "argument", "canonical"),
    [
        ("call(f)", "call", (Dotted(("f",)),), "f"),
        ("call( list . append|list.pop )", "call", (Dotted(("list", "append")), Dotted(("list", "pop"))), None),
        ("call(a.*Pool+.acquire)", "call", (Dotted(("a", "*Pool", "acquire"), 1),), "a.*Pool+.acquire"),
        ("new(Base+)", "new", (Dotted(("Base",), 0),), "Base+"),
        ("getitem(dict)", "getitem", (Dotted(("dict",)),), "dict"),
        ("getitem()", "getitem", (), ""),
        ("next(_)", "next", (), "_"),
        ("args(x,_ , k = y, ..)", "args", Arguments(("x", None), (("k", "y"),), True), "x, _, k=y, .."),
        ("args()", "args", Arguments((), (), False), ""),
        ("within(a.* | b?)", "within", ("a.*", "b?"), "a.* | b?"),
        ("threadName('T 1')", "threadName", "T 1", '"T 1"'),
        ("endProgram()", "endProgram", (), ""),
    ],
)
def test_arguments(text, kind, argument, canonical):
    from mopsus.spec.pointcuts import PRIMITIVES

    name, _, rest = text.partition("(")
    found, printed = PRIMITIVES[name].parse(rest[:-1])
    assert (name, found) == (kind, argument)
    again, same = PRIMITIVES[name].parse(printed)
    assert (again, same) == (found, printed)
    if canonical is not None:
        assert printed == canonical


@pytest.mark.parametrize("advice", ["before", "after", "around"])
def test_every_advice(advice):
    assert pointcut_of("call(C.m) && target(x)", advice).kind == "and"


def test_results_with_and_without_a_name():
    text = "S(x, r) {{ event e after(x) {} : call(C.m) && target(x) ere : e }}"
    for clause, returning, raising in [
        ("returning(r)", "r", None),
        ("raising(r)", None, "r"),
        ("returning()", "", None),
        ("raising()", None, ""),
    ]:
        spec = mopsus.parse(text.format(clause))["S"]
        assert (spec.events[0].returning, spec.events[0].raising) == (returning, raising)
        assert mopsus.parse(print_spec(spec))["S"] == spec
        assert clause in print_spec(spec)


def test_cases_of_a_pointcut():
    pointcut = pointcut_of("(call(A.m) && target(x) || next(x)) && !within(t.*) && !(call(A.n) || cflow(call(f)))")
    first, second = branches(pointcut)
    assert [point.text for point in first.points] == ["A.m"]
    assert [point.text for point in second.points] == ["x"]
    assert [point.text for point in first.without] == ["A.n"]
    assert [(part.kind, wanted) for part, wanted in first.others] == [
        ("target", True),
        ("within", False),
        ("cflow", False),
    ]


def test_subject_is_a_plain_name_only():
    assert subject(pointcut_of("next(x)")) == "x"
    assert subject(Pointcut("next", argument=(Dotted(("a", "B")),))) is None
    assert subject(Pointcut("next", argument=(Dotted(("Base",), 0),))) is None
    assert subject(Pointcut("call", argument=(Dotted(("f",)),))) is None


def test_class_api():
    @mopsus.specification
    class Calls:
        x = mopsus.param("list")
        r = mopsus.param()

        @mopsus.event(advice="after", returning="r", pointcut="call(list.copy) && target(x)")
        def copied(self, x, r): ...

        @mopsus.event(advice="after", returning="", pointcut="call(list.pop) && target(x)")
        def popped(self, x): ...

        ere = mopsus.property("ere", "copied popped")

    text = """
    Calls(x: list, r) {
        event copied after(x) returning(r) : call(list.copy) && target(x)
        event popped after(x) returning() : call(list.pop) && target(x)
        ere : copied popped
    }
    """
    assert mopsus.parse(text)["Calls"] == Calls


def test_class_api_has_the_same_errors():
    with pytest.raises(mopsus.MopsusError) as caught:

        @mopsus.specification
        class Calls:
            x = mopsus.param()

            @mopsus.event(advice="before", pointcut="call(list.copy)")
            def copied(self, x): ...

            ere = mopsus.property("ere", "copied")

    assert caught.value.code == "SPEC-051"


def test_nested_control_flow_is_printed():
    pointcut = pointcut_of("next(x) && cflow(call(a) || execution(b) && within(c))")
    assert print_pointcut(pointcut) == "next(x) && cflow(call(a) || execution(b) && within(c))"


names = st.from_regex(r"[a-z_*][a-z0-9_*]{0,4}", fullmatch=True).filter(lambda name: name != "_")


@given(st.lists(st.lists(names, min_size=1, max_size=4), min_size=1, max_size=3), st.booleans())
def test_patterns_are_read_as_printed(alternatives, plus):
    from mopsus.spec.pointcuts import PRIMITIVES

    dotted = tuple(Dotted(tuple(parts), len(parts) - 1 if plus else None) for parts in alternatives)
    found, printed = PRIMITIVES["new"].parse(" | ".join(map(str, dotted)))
    assert found == dotted
    assert PRIMITIVES["new"].parse(printed) == (found, printed)


@st.composite
def trees(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        return Pointcut(draw(st.sampled_from(sorted(PROGRAM))), argument=(), text=str(draw(st.integers(0, 5))))
    if draw(st.integers(0, 2)) == 0:
        return Pointcut("not", (draw(trees(depth - 1)),))
    operands = draw(st.lists(trees(depth - 1), min_size=2, max_size=3))
    return Pointcut(draw(st.sampled_from(["and", "or"])), tuple(operands))


def holds(pointcut, true):
    match pointcut.kind:
        case "and":
            return all(holds(each, true) for each in pointcut.operands)
        case "or":
            return any(holds(each, true) for each in pointcut.operands)
        case "not":
            return not holds(pointcut.operands[0], true)
    return (pointcut.kind, pointcut.text) in true


@given(trees(), st.data())
def test_cases_mean_the_same_as_the_pointcut(tree, data):
    try:
        cases = branches(tree)
    except TooManyBranchesError:
        return
    assert len(cases) <= MAX_BRANCHES

    def leaves(pointcut):
        return [pointcut] if not pointcut.operands else [x for each in pointcut.operands for x in leaves(each)]

    atoms = sorted({(leaf.kind, leaf.text) for leaf in leaves(tree)})
    true = data.draw(st.sets(st.sampled_from(atoms)))
    by_cases = any(
        all(holds(point, true) for point in case.points)
        and not any(holds(point, true) for point in case.without)
        and all(holds(part, true) is wanted for part, wanted in case.others)
        for case in cases
    )
    assert by_cases == holds(tree, true)
