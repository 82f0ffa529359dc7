"""Hypothesis strategies for specifications and their parts, for every test that needs random ones.

Tests elsewhere import it with this folder on `sys.path`, as the `conftest.py` beside it does.
"""

from __future__ import annotations

import keyword

from hypothesis import strategies as st

from mopsus.model import (
    BindingMode,
    Code,
    Event,
    Handler,
    Modifiers,
    Parameter,
    Pointcut,
    Property,
    Severity,
    Spec,
    Variable,
)
from mopsus.spec import predicate as p
from mopsus.spec.pointcuts import named

RESERVED = {"creation", "event", "var", "by"}

names = st.from_regex(r"[a-zA-Zäλ][a-zA-Z0-9_ñ]{0,5}", fullmatch=True).filter(
    lambda name: name.isidentifier() and not keyword.iskeyword(name) and name not in RESERVED
)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
field_names = st.one_of(names, st.tuples(names, names).map(".".join), texts)
severities = st.sampled_from(Severity)
bodies = st.sampled_from(
    [
        "pass",
        "count = 1",
        'print("}", {1: {2: 3}})',
        "if id:\n    print(id)\nelse:\n    __RESET",
        "x = '''a\n  } b\n'''\nprint(x)",
        "# nothing {",
        "max(id,\nid)",
        "return  # done }",
        "def f():\n\n    return f'{id!r:>{id}}'",
        "print('{' '}')",
    ]
)
expressions = st.sampled_from(
    ["0", "id > 3", "{'a': [1, 2]}", "str(1)[1:2]", "';' + \"#\"", "(1,\n 2)", "7 // 2", "id == ')'"]
)
types = st.sampled_from(["int", "dict[str, int]", "collections.abc.Iterator", "'x'"])


def literals() -> st.SearchStrategy[p.Literal]:
    numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
    return st.one_of(numbers, st.booleans(), texts).map(p.Literal)


def predicates() -> st.SearchStrategy[p.Predicate]:
    """Predicates in the form that reading gives: `and` and `or` are flat."""
    fields = field_names.map(p.Field)
    operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    leaves = st.one_of(
        fields,
        st.booleans().map(p.Literal),
        st.builds(p.Compare, operators, fields, st.one_of(fields, literals())),
        st.builds(p.Compare, operators, literals(), fields),
        st.builds(p.In, fields, st.lists(literals(), min_size=1, max_size=3).map(tuple), st.booleans()),
        st.builds(p.IsNull, fields),
        st.builds(p.Call, st.sampled_from(["startswith", "endswith", "contains"]), fields, texts),
        st.builds(p.Call, st.just("matches"), fields, st.sampled_from(["a+", r"^\d*$", "x|'", '"', "\\\\", ""])),
    )

    def joined(inner: st.SearchStrategy[p.Predicate]) -> st.SearchStrategy[p.Predicate]:
        many = st.lists(inner, min_size=2, max_size=3)
        return st.one_of(
            inner.map(p.Not),
            many.map(lambda parts: p.And(_flat(p.And, parts))),
            many.map(lambda parts: p.Or(_flat(p.Or, parts))),
        )

    return st.recursive(leaves, joined, max_leaves=6)


def _flat(kind, parts):
    return tuple(x for part in parts for x in (part.operands if isinstance(part, kind) else (part,)))


def pointcuts() -> st.SearchStrategy[Pointcut]:
    """Pointcuts of trace primitives that may stand anywhere."""
    rows = predicates().map(lambda tree: Pointcut("row", argument=tree, text=p.print_predicate(tree)))
    leaves = st.one_of(st.lists(texts, min_size=1, max_size=2).map(lambda given: named(*given)), rows)

    def joined(inner: st.SearchStrategy[Pointcut]) -> st.SearchStrategy[Pointcut]:
        many = st.lists(inner, min_size=2, max_size=3)
        return st.one_of(
            inner.map(lambda one: Pointcut("not", (one,))),
            many.map(lambda parts: Pointcut("and", _join("and", parts))),
            many.map(lambda parts: Pointcut("or", _join("or", parts))),
        )

    return st.recursive(leaves, joined, max_leaves=4)


def _join(kind, parts):
    return tuple(x for part in parts for x in (part.operands if part.kind == kind else (part,)))


def _bind(pairs) -> Pointcut:
    text = ", ".join(f"{name} = {p.field_text(field)}" for name, field in pairs)
    return Pointcut("bind", argument=tuple(pairs), text=text)


@st.composite
def events(draw, name: str, parameters: tuple[str, ...]) -> Event:
    """An event of that name over some of the parameters."""
    bound = tuple(draw(st.lists(st.sampled_from(parameters), unique=True))) if parameters else ()
    advice = draw(st.sampled_from([None, None, "before", "after", "around"]))
    result = draw(st.sampled_from([None, "returning", "raising"])) if advice == "after" and bound else None
    pointcut = draw(st.none() | pointcuts())
    if bound and draw(st.booleans()):
        bind = _bind([(parameter, draw(field_names)) for parameter in bound[:2]])
        parts = (pointcut, bind) if pointcut else (bind,)
        pointcut = Pointcut("and", _join("and", parts)) if len(parts) > 1 else bind
    return Event(
        name,
        bound,
        draw(st.booleans()),
        advice,
        bound[-1] if result == "returning" else None,
        bound[-1] if result == "raising" else None,
        pointcut,
        draw(st.none() | expressions.map(Code)),
        draw(st.none() | bodies.map(Code)),
    )


@st.composite
def properties(draw, number: int, logic: str) -> Property:
    """A property with any text for a formula that a property can hold."""
    pieces = ["a b*", "( a", ") | b", "s [ a -> s", "]", "alias x = s", "a#b", "x@y"]
    lines = st.lists(st.sampled_from(pieces), min_size=1)
    categories = draw(st.lists(names, unique=True, max_size=3))
    handlers = [
        Handler(category, draw(st.none() | bodies.map(Code)), draw(st.none() | severities)) for category in categories
    ]
    name = logic if number == 1 else f"{logic}{number}"
    return Property(name, logic, "\n".join(draw(lines)), tuple(handlers))


@st.composite
def specs(draw) -> Spec:
    """A specification that is well formed and in canonical form, with any name and any combination of parts."""
    chosen = draw(st.lists(names, unique=True, min_size=6, max_size=12))
    parameters = tuple(chosen[1 : 1 + draw(st.integers(0, 3))])
    variables = tuple(chosen[4 : 4 + draw(st.integers(0, 2))])
    event_names = draw(st.lists(names, unique=True, min_size=1, max_size=4))
    logics = draw(st.lists(st.sampled_from(["ere", "fsm", "my-logic"]), max_size=3))
    imports = draw(st.lists(st.sampled_from(["import os", "from a.b import c as d, e"]), max_size=2))
    kinds = st.none() | st.sampled_from(["str", "a.b.C+", "A | b.B+"])
    ways = st.none() | st.sampled_from(["identity", "equality"])
    return Spec(
        chosen[0],
        tuple(Parameter(name, draw(kinds), draw(ways)) for name in parameters),
        Modifiers(draw(st.sampled_from(BindingMode)), *(draw(st.booleans()) for _ in range(5))),
        tuple(Variable(name, draw(st.none() | types), Code(draw(expressions))) for name in variables),
        tuple(draw(events(name, parameters)) for name in event_names),
        tuple(draw(properties(1 + logics[:k].count(logic), logic)) for k, logic in enumerate(logics)),
        draw(st.none() | severities),
        draw(texts),
        tuple(map(Code, imports)),
    )
