"""A class and a text that say the same give equal specifications."""

from __future__ import annotations

import linecache
import textwrap
from dataclasses import replace

import pytest

from mopsus.spec import SpecError, event, param, parse_file, print_spec, property, specification, var

LOGICS = ("ere", "fsm")


def from_text(text):
    # The text has the code of methods, which read `self`.
    text = "from builtins import object as self\n" + textwrap.dedent(text)
    (spec,) = parse_file(text, logics=LOGICS).specs.values()
    return replace(spec, imports=())


def line_of(fragment):
    lines = linecache.getlines(__file__)
    return next(number for number, line in enumerate(lines, 1) if fragment in line)


@specification("full-binding connected", doc="a stale iterator", severity="warning", logics=LOGICS)
class UnsafeMapIter:
    m = param()
    c = param("collections.abc.Collection+")
    i = param(by="identity")
    n: int = var(0)
    seen: list[str] = var(factory=lambda: ["a"])

    @event(creation=True)
    def create_coll(self, m, c): ...

    @event(advice="after", returning="i", pointcut='named("iter") && row(x == 1)')
    def create_iter(self, c, i):
        """Nothing to do."""

    @event(condition=lambda self: self.n > 3)
    def use_iter(self, i):
        self.n += 1
        if self.n:
            self.seen.append("}")

    @event
    def update_map(self, m):
        pass

    stale = property(
        "ere",
        """
        create_coll update_map* create_iter  // both
            use_iter* update_map+ use_iter
        """,
    )

    @stale.on("match", severity="error")
    def report(self, m, i):
        print("stale", i, self.location)

    stale.on("fail")

    again = property("ere", "use_iter use_iter")


TEXT = """
    full-binding connected UnsafeMapIter(m, c: collections.abc.Collection+, i by identity) {
        severity: warning
        doc: "a stale iterator"
        var n: int = 0
        var seen: list[str] = ["a"]
        creation event create_coll(m, c)
        event create_iter after(c) returning(i) : named("iter") && row(x == 1)
        event use_iter(i) : condition(self.n > 3) {
            self.n += 1
            if self.n:
                self.seen.append("}")
        }
        event update_map(m)
        ere : create_coll update_map* create_iter
              use_iter* update_map+ use_iter
        @match[error] { print("stale", i, self.location) }
        @fail
        ere : use_iter use_iter
    }
"""


def test_a_class_and_a_text_give_equal_specs():
    assert UnsafeMapIter == from_text(TEXT)
    assert print_spec(UnsafeMapIter) == print_spec(from_text(TEXT))


def test_code_holds_the_functions():
    class Monitor:
        n = 4
        location = "here"

    use = UnsafeMapIter.event("use_iter")
    monitor = Monitor()
    assert use.condition.function(monitor)
    assert UnsafeMapIter.event("create_coll").action is None
    assert UnsafeMapIter.event("create_iter").action is None
    make = UnsafeMapIter.variables[1].initial.function
    assert make(monitor) == ["a"]
    assert make(monitor) is not make(monitor)
    assert UnsafeMapIter.properties[0].handlers[0].code.function.__name__ == "report"


def test_spans_point_into_the_python_file():
    use = UnsafeMapIter.event("use_iter")
    assert use.span.file == __file__
    assert use.action.span.line == line_of("self.n += 1")
    assert UnsafeMapIter.properties[1].span.line == line_of('again = property("ere"')
    assert UnsafeMapIter.span.line == line_of('@specification("full-binding connected", doc')


def broken_modifier():
    @specification("full-bindng", logics=LOGICS)  # here: modifier
    class Broken:
        i = param()

        @event
        def a(self, i):
            print(i)


def broken_event():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event  # here: event
        def a(self, j):
            print(j)

        @event
        def b(self, i): ...


def broken_pointcut():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event(pointcut='nmaed("x")')  # here: pointcut
        def a(self, i):
            print(i)


def broken_logic():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event
        def a(self, i): ...

        p = property("eer", "a")  # here: logic


def broken_formula():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event
        def a(self, i): ...

        p = property("ere", " // nothing")  # here: formula


def broken_severity():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event
        def a(self, i): ...

        p = property("ere", "a")
        p.on("match", severity="high")  # here: severity


def broken_returning():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event(advice="before", returning="i")  # here: returning
        def a(self, i):
            print(i)


def broken_advice():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event(advice="befor")  # here: advice
        def a(self, i):
            print(i)


def broken_condition():
    @specification(logics=LOGICS)
    class Broken:
        i = param()

        @event(condition="n >")  # here: condition
        def a(self, i):
            print(i)


def broken_variable():
    @specification(logics=LOGICS)
    class Broken:
        items: list[int] = var([])  # here: variable


def broken_by():
    @specification(logics=LOGICS)  # here: by
    class Broken:
        i = param(by="name")

        @event
        def a(self, i):
            print(i)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (broken_modifier, "SPEC-041"),
        (broken_event, "SPEC-036"),
        (broken_pointcut, "SPEC-017"),
        (broken_logic, "SPEC-042"),
        (broken_formula, "SPEC-009"),
        (broken_severity, "SPEC-043"),
        (broken_returning, "SPEC-015"),
        (broken_advice, "SPEC-014"),
        (broken_condition, "SPEC-007"),
        (broken_variable, "SPEC-047"),
        (broken_by, "SPEC-028"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_errors_point_at_the_class(make, code):
    with pytest.raises(SpecError) as caught:
        make()
    (found,) = [d for d in caught.value.diagnostics if d.code == code]
    what = make.__name__.removeprefix("broken_")
    assert (found.span.file, found.span.line) == (__file__, line_of(f"# here: {what}"))
    assert found.source.strip() in "".join(linecache.getlines(__file__))


def test_a_class_without_source():
    scope: dict[str, object] = {}
    code = """
from mopsus.spec import specification, param, event, property, var

@specification(logics=("ere",))
class S:
    i = param()
    n = var(factory=lambda: [])

    @event(condition=lambda self: self.n)
    def a(self, i):
        self.n.append(i)

    p = property("ere", "a")
"""
    exec(compile(code, "<nowhere>", "exec"), scope)
    spec = scope["S"]
    assert spec.event("a").action.function.__name__ == "a"
    assert spec.event("a").parameters == ("i",)


def test_the_decorator_may_stand_alone():
    @specification
    class Alone:
        x = param()

        @event
        def a(self, x): ...

    assert from_text("Alone(x) { event a(x) }") == Alone
