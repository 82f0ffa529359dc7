"""Messages come back as they were, from the hints of their classes alone, and what does not fit them is refused."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.bus import BusError, pack, unpack
from mopsus.bus.values import DEEPEST
from mopsus.model import ObjectRef, Severity, Value
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.model.value import Address


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    value: Value = None
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    colour: Colour
    others: Sequence[Inner] = ()
    table: Mapping[int, str] = field(default_factory=dict)
    binding: Mapping[str, Value] = field(default_factory=dict)
    pair: tuple[str, int] | None = None
    listed: list[float] = field(default_factory=list)
    time: float | int | None = None
    sure: bool = False
    plain: Any = None


@dataclass(frozen=True, slots=True)
class Other:
    name: str


TEXTS = st.text(st.characters(exclude_categories=()), max_size=5)
INTEGERS = st.integers() | st.sampled_from([2**63, 2**64, -(2**64), 2**5000])
FLOATS = st.floats(allow_nan=False)
SCALARS = st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS | st.binary(max_size=5)
TERMS = st.builds(lambda kind, text: kind(text), st.sampled_from([Atom, Pid, Reference, String]), TEXTS)
OBJECTS = st.builds(ObjectRef, TEXTS, st.integers(0, 9), TEXTS) | st.builds(Address, INTEGERS)
VALUES = st.recursive(
    SCALARS | TERMS | OBJECTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(SCALARS | st.tuples(SCALARS, SCALARS), inner, max_size=3)
    ),
    max_leaves=6,
)
SMALL = st.integers(-(10**20), 10**20)
INNER = st.builds(Inner, TEXTS, VALUES, st.lists(SMALL, max_size=3).map(tuple))
OUTER = st.builds(
    Outer,
    INNER,
    st.sampled_from(list(Colour)),
    st.lists(INNER, max_size=2).map(tuple),
    st.dictionaries(SMALL, TEXTS, max_size=2),
    st.dictionaries(TEXTS, VALUES, max_size=2),
    st.none() | st.tuples(TEXTS, SMALL),
    st.lists(FLOATS | SMALL, max_size=2),
    st.none() | FLOATS | SMALL,
    st.booleans(),
    st.none() | st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=2),
)


@given(OUTER)
def test_what_is_unpacked_is_what_was_packed(message):
    data = pack(message)
    assert repr(unpack(Outer, data)) == repr(message)  # 1, 1.0 and True are equal, and are three values
    assert repr(unpack(Other | Outer, data)) == repr(message)


class Red(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize("value", [Red.ONE, type("Name", (str,), {})("x"), type("Row", (tuple,), {})(), object(), {1}])
def test_a_value_of_a_type_of_its_own_arrives_as_text(value):
    given = unpack(Inner, pack(Inner("a", (value, [value])))).value
    assert given == (ObjectRef(type(value).__name__, 0, repr(value)), [given[0]])


def test_values_that_are_nested_too_deeply_arrive_as_text():
    value = ()
    for _ in range(10_000):
        value = (value,)
    given = unpack(Inner, pack(Inner("a", value))).value
    for _ in range(DEEPEST):
        (given,) = given
    assert given == ObjectRef("tuple", 0, "…")


def test_a_list_that_contains_itself_arrives():
    value: list[object] = []
    value += [value, value, {1: value}]
    again = ObjectRef("list", 0, "…")
    assert unpack(Inner, pack(Inner("a", value))).value == [again, again, {1: again}]


GOOD = Outer(
    Inner("a", (1, [2], {"k": b"x"}, Atom("ok")), (1, 2)), Colour.RED, (Inner("b"),), {1: "x"}, {"i": Address(3)}
)


@pytest.mark.parametrize(
    ("path", "wrong", "told"),
    [
        ((), None, "Outer: it is not Outer"),
        ((), [], "Outer: it is not Outer"),
        ((), {}, "Outer: it lacks colour, inner"),
        (("more",), 1, "Outer: Outer has no field 'more'"),
        (("inner",), "a", "Outer.inner: it is not Inner"),
        (("inner", "name"), 1, "Outer.inner.name: it is not a text"),
        (("inner", "numbers"), "12", "Outer.inner.numbers: it is not a list"),
        (("inner", "numbers", 1), True, "Outer.inner.numbers.1: it is not an integer"),
        (("inner", "numbers", 1), 1.0, "Outer.inner.numbers.1: it is not an integer"),
        (("colour",), "green", "Outer.colour: it is none of red, blue"),
        (("colour",), [], "Outer.colour: it is none of red, blue"),
        (("others",), {}, "Outer.others: it is not a list"),
        (("others", 0, "name"), None, "Outer.others.0.name: it is not a text"),
        (("table",), [], "Outer.table: it is not a mapping"),
        (("table", "x"), "y", "Outer.table: 'x' is not a key"),
        (("table", "1"), 1, "Outer.table.1: it is not a text"),
        (("binding", "i"), {}, "Outer.binding.i: what stands for a value is not known"),
        (("binding", "i"), {"eval": "1"}, "Outer.binding.i: what stands for a value is not known"),
        (("binding", "i"), {"__class__": []}, "Outer.binding.i: what stands for a value is not known"),
        (("binding", "i"), {"int": 1}, "Outer.binding.i: a value lacks its text"),
        (("binding", "i"), {"int": "x"}, "Outer.binding.i: invalid literal"),
        (("binding", "i"), {"bytes": "x"}, "Outer.binding.i: non-hexadecimal"),
        (("binding", "i"), {"list": 1}, "Outer.binding.i: a value lacks its items"),
        (("binding", "i"), {"map": [[1]]}, "Outer.binding.i: a mapping has something that is not a pair"),
        (("binding", "i"), {"map": [[{"list": []}, 1]]}, "Outer.binding.i: a mapping has a key that cannot be one"),
        (("binding", "i"), {"object": ["a", 1]}, "Outer.binding.i: an object lacks"),
        (("binding", "i"), {"object": [1, 1, "a"]}, "Outer.binding.i: an object lacks"),
        (("pair",), ["a"], "Outer.pair: it is not a list of 2"),
        (("pair",), ["a", "b"], "Outer.pair.1: it is not an integer"),
        (("listed", 0), "1", "Outer.listed.0: it is not a number"),
        (("time",), "1", "Outer.time: it is not a number or an integer or nothing"),
        (("sure",), 1, "Outer.sure: it is not a truth value"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(path, wrong, told):
    whole = json.loads(pack(Outer(GOOD.inner, GOOD.colour, GOOD.others, GOOD.table, GOOD.binding, ("a", 1), [1.0])))
    holder, key = whole, "Outer"
    for step in path:
        holder, key = holder[key], step
    holder[key] = wrong
    with pytest.raises(BusError) as found:
        unpack(Outer, json.dumps(whole).encode())
    assert told in found.value.message
    assert found.value.code == "BUS-004"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"1",
        b"null",
        b"[]",
        b"{}",
        b'{"Other": {"name": "x"}}',
        b'{"Outer": {}, "Other": {}}',
        b'{"Outer"',
    ],
)
def test_what_is_not_the_message_is_refused(data):
    with pytest.raises(BusError, match="what came"):
        unpack(Outer, data)


@pytest.mark.parametrize(
    "value",
    [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 200 + b"]" * 200, b'{"list":[' * 100 + b"]}" * 100, b"9" * 5000],
)
def test_what_is_nested_deeply_or_huge_is_refused(value):
    with pytest.raises(BusError):
        unpack(Inner, b'{"Inner": {"name": "a", "value": ' + value + b"}}")


def test_what_is_not_a_dataclass_has_no_form():
    with pytest.raises(TypeError, match="no form"):
        pack(Other(object()))  # type: ignore[arg-type]


def test_enumerations_arrive_as_their_members():
    @dataclass(frozen=True)
    class Serious:
        severity: Severity

    Serious.__annotations__["severity"] = Severity
    assert unpack(Serious, pack(Serious(Severity.NOTE))).severity is Severity.NOTE


def test_an_integer_may_have_more_digits_than_python_prints():
    number = 1 << 1_000_000
    assert unpack(Inner, pack(Inner("a", number))).value == number


def test_the_codec_needs_no_package():
    code = "import sys, mopsus.bus.codec, mopsus.bus.frames; print({'msgspec', 'asyncio', 'socket'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
