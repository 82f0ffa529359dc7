"""Pointcuts of what components do: what may be written, how it is printed, what is refused and why."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mopsus
from mopsus.model.symbolic import Any_, Bind, ListOf, Literal, MapOf, Same, TupleOf
from mopsus.spec import SpecError, print_spec
from mopsus.spec.component import Doing, cases, is_component
from mopsus.spec.program import is_program


def spec_of(event: str, parameters: str = "p"):
    text = f"S({parameters}) {{\n  {event}\n  ere : e\n}}\n"
    return mopsus.parse(text)["S"]


def pointcut_of(text: str, names: str = "p", parameters: str = "p"):
    return spec_of(f"event e({names}) : {text}", parameters).events[0].pointcut


@pytest.mark.parametrize(
    ("text", "names", "patterns"),
    [
        ("send(p, _, m)", "p; m", (Bind(0), Any_(), Bind(1))),
        ('recv(p, ("job", x, x))', "p; x", (Bind(0), TupleOf((Literal("job"), Bind(1), Same(1))))),
        ("recv(p, [a, *r])", "p; a, r", (Bind(0), ListOf((Bind(1),), Bind(2)))),
        ("recv(p, [])", "p", (Bind(0), ListOf(()))),
        ('recv(p, {"id": i, 2: _})', "p; i", (Bind(0), MapOf((("id", Bind(1)), (2, Any_()))))),
        ("recv(p, Job(i, -1))", "p; i", (Bind(0), TupleOf((Bind(1), Literal(-1)), "Job"))),
        ("recv(p, None)", "p", (Bind(0), Literal(None))),
        ("recv(p, (True,))", "p", (Bind(0), TupleOf((Literal(True),)))),
        ('recv(p, b"x")', "p", (Bind(0), Literal(b"x"))),
        ("exit(p, r)", "p; r", (Bind(0), Bind(1))),
        ("fork(p, c, f)", "p; c, f", (Bind(0), Bind(1), Bind(2), Any_())),
        ("init(p, _, jobs.worker(n, _))", "p; n", (Bind(0), Any_(), Literal("jobs.worker"), ListOf((Bind(1), Any_())))),
        ("init(p, _, pkg.mod.Class.run)", "p", (Bind(0), Any_(), Literal("pkg.mod.Class.run"), Any_())),
    ],
)
def test_patterns(text, names, patterns):
    doing = pointcut_of(text, names).argument
    assert isinstance(doing, Doing)
    assert doing.patterns == patterns


def test_cases():
    found = list(cases(pointcut_of("(recv(p, _) || exit(p, _)) && runs(a.f | b.*) && !runs(a.g)")))
    assert [case.doing.kind for case in found] == ["recv", "exit"]
    assert found[0].runs == ((("a.f", "b.*"), True), (("a.g",), False))


def test_exit_of_one_argument_is_that_of_a_block():
    of_block = spec_of("event e before(p) : exit(p)").events[0].pointcut
    of_component = pointcut_of("exit(p, _)")
    assert is_program(of_block)
    assert not is_component(of_block)
    assert is_component(of_component)
    assert not is_program(of_component)


@pytest.mark.parametrize(
    ("event", "code", "message"),
    [
        ("event e(p) : recv(p)", "SPEC-019", "'recv' takes 2 arguments"),
        ("event e(p) : send(p, _)", "SPEC-019", "'send' takes 3 arguments"),
        ("event e(p) : recv(p, m=1)", "SPEC-019", "'recv' takes 2 arguments"),
        ("event e(p) : recv((p, 1), _)", "SPEC-019", "a component is a name, or _"),
        ("event e(p) : recv(p, 1 + 2)", "SPEC-019", "this is no pattern"),
        ("event e(p) : recv(p, ...)", "SPEC-019", "this is no pattern"),
        ("event e(p) : recv(p, {x: 1})", "SPEC-019", "a key of a mapping is a constant"),
        ("event e(p) : recv(p, (1)", "SPEC-005", None),
        ("event e(p) : fork(p, _, worker(1))", "SPEC-019", "a function is module.function, a name, or _"),
        ("event e(p) : fork(p, _, m.f(k=1))", "SPEC-019", "arguments by name are a mapping at the end"),
        ("event e(p) : runs()", "SPEC-019", "a glob is missing"),
        ("event e(p) : recv(p, m)", "SPEC-052", "unknown parameter or field 'm'"),
        ("event e(p; m) : recv(p, _)", "SPEC-051", "nothing gives 'm' a value"),
        ("event e(p; m) : recv(p, m) || exit(p, _)", "SPEC-051", "nothing gives 'm' a value"),
        ("event e(p) : runs(a.b)", "SPEC-057", "nothing is done here"),
        ("event e(p) : !recv(p, _)", "SPEC-057", "that something is not done is no event"),
        ("event e(p) : recv(p, _) && exit(p, _)", "SPEC-057", "nothing is both 'recv' and 'exit'"),
        ("event e(p) : recv(p, _) && within(a.b)", "SPEC-048", "'within' is not about components, the rest is"),
        ("event e(p) : recv(p, _) && row(x > 1)", "SPEC-048", "'row' is not about components, the rest is"),
        ("event e before(p) : recv(p, _)", "SPEC-056", "what a component does has no before and after"),
    ],
)
def test_what_is_refused(event, code, message):
    with pytest.raises(SpecError) as error:
        spec_of(event)
    assert error.value.code == code
    assert message is None or error.value.diagnostics[0].message == message


def test_a_pointcut_with_too_many_cases():
    many = " && ".join(["(runs(a.b) || runs(c.d))"] * 7)
    with pytest.raises(SpecError) as error:
        spec_of(f"event e(p) : recv(p, _) && {many}")
    assert error.value.code == "SPEC-054"


scalars = st.one_of(
    st.integers(-9, 9), st.booleans(), st.none(), st.text("ab\"'\\\n", max_size=3), st.binary(max_size=2)
).map(repr)
patterns = st.recursive(
    st.one_of(scalars, st.sampled_from(["_", "m"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: "(" + "".join(part + "," for part in parts) + ")"),
        st.lists(inner, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]"),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: "[" + ", ".join([*parts[:-1], "*m"]) + "]"),
        st.lists(st.tuples(scalars, inner), max_size=2).map(
            lambda items: "{" + ", ".join(f"{key}: {value}" for key, value in items) + "}"
        ),
        st.lists(inner, max_size=2).map(lambda parts: "Job(" + ", ".join(parts) + ")"),
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.lists(patterns, min_size=1, max_size=2))
def test_what_is_printed_is_read_again(texts):
    alternatives = " || ".join(f"send(p, _, (m, {text}))" for text in texts)
    spec = spec_of(f"event e(p; m) : {alternatives}")
    printed = print_spec(spec)
    again = mopsus.parse(printed)["S"]
    assert again == spec
    assert print_spec(again) == printed
