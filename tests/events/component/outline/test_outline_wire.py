"""Values on their way from a program to its monitor."""

from __future__ import annotations

import contextlib
import math
import random
from collections import namedtuple
from dataclasses import dataclass, make_dataclass
from enum import Enum, IntEnum, StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus import _core
from mopsus.events.component.occurrence import Function
from mopsus.events.component.outline.wire import Opaque
from mopsus.model.term import Atom, Pid, Reference, String

pytestmark = pytest.mark.interpreter

texts = st.text(st.characters(), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | texts
    | st.binary(max_size=20)
    | texts.map(Atom)
    | texts.map(Pid)
    | texts.map(Reference)
    | texts.map(String)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(scalars, inner, max_size=4)
        | st.builds(Function, texts, texts, st.lists(inner, max_size=3).map(tuple), st.none())
    ),
    max_leaves=15,
)


def sent(value):
    return _core.decode(_core.encode(value))


def same(a, b):
    """Equal in value and in every type."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(k, m) and same(v, w) for (k, v), (m, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


@given(values)
def test_plain_values_arrive_as_they_are(value):
    assert same(sent(value), value)


@given(st.integers(min_value=0, max_value=70), st.integers(-3, 3))
def test_integers_of_every_size(bits, more):
    for number in (2**bits + more, -(2**bits) + more, 10**bits):
        assert sent(number) == number


def test_floats_that_are_no_numbers():
    assert math.isnan(sent(math.nan))
    assert sent(-math.inf) == -math.inf
    assert math.copysign(1, sent(-0.0)) == -1


class Colour(Enum):
    RED = 1
    BLUE = ("b", 2)


class Level(IntEnum):
    LOW = 1


class Word(StrEnum):
    GO = "go"


@dataclass(frozen=True)
class Point:
    x: int
    y: list[int]


@dataclass(frozen=True, slots=True)
class Slotted:
    x: int


@dataclass
class Loose:
    x: int


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize("member", [Colour.RED, Colour.BLUE, Level.LOW, Word.GO])
def test_members_of_enumerations_keep_name_and_value(member):
    arrived = sent([member, member])
    assert isinstance(arrived[0], Enum)
    assert (arrived[0].name, arrived[0].value) == (member.name, member._value_)
    assert type(arrived[0]).__name__ == type(member).__name__
    assert arrived[0] is arrived[1]


def test_records_keep_class_name_fields_and_values():
    arrived = sent(Pair(1, Point(2, [3])))
    assert type(arrived).__name__ == "Pair"
    assert arrived._fields == ("first", "second")
    assert arrived.first == 1
    assert type(arrived.second).__name__ == "Point"
    assert (arrived.second.x, arrived.second.y) == (2, [3])
    assert sent(Slotted(4)).x == 4
    assert type(sent(Pair(5, 6))) is type(arrived)


def test_classes_of_one_name_are_told_apart():
    one = make_dataclass("Thing", ["a"], frozen=True)
    other = make_dataclass("Thing", ["b"], frozen=True)
    assert [sent(one(1)).a, sent(other(2)).b] == [1, 2]


def test_a_class_that_is_gone_is_no_other():
    """Addresses of classes are used again."""
    for number in range(50):
        cls = make_dataclass(f"Made{number}", [f"field{number}"], frozen=True)
        assert getattr(sent(cls(number)), f"field{number}") == number
        del cls


def test_subclasses_of_plain_types_arrive_as_those():
    class Text(str):
        pass

    class Number(int):
        pass

    class Items(list):
        pass

    assert same(sent((Text("x"), Number(3), Items([1]))), ("x", 3, [1]))


@pytest.mark.parametrize("thing", [object(), {1, 2}, Loose(1), len, bytearray(b"x"), Exception("e")])
def test_other_objects_arrive_as_marks_of_their_identity(thing):
    first, second, other = sent([thing, thing, object()])
    assert isinstance(first, Opaque)
    assert first is second
    assert first is not other
    assert type(thing).__name__ in repr(first)


def test_nothing_of_the_program_is_called():
    class Loud:
        def __repr__(self):
            raise AssertionError

        def __eq__(self, other):
            raise AssertionError

        def __hash__(self):
            raise AssertionError

        def __reduce__(self):
            raise AssertionError

    assert isinstance(sent(Loud()), Opaque)


def test_a_field_that_cannot_be_read_makes_its_object_opaque():
    @dataclass(frozen=True)
    class Broken:
        x: int

        def __getattribute__(self, name):
            raise RuntimeError(name)

    assert isinstance(sent(Broken.__new__(Broken)), Opaque)


def test_too_deep_values_are_refused():
    nested = []
    for _ in range(90):
        nested = [nested]
    assert sent(nested) == nested
    nested.append(nested)
    with pytest.raises(ValueError, match="deep"):
        _core.encode(nested)


@given(st.binary(max_size=80))
def test_random_bytes_never_crash(data):
    with contextlib.suppress(ValueError):
        _core.decode(data)


@given(values, st.randoms(use_true_random=False))
def test_damaged_values_never_crash(value, numbers: random.Random):
    data = bytearray(_core.encode(value))
    for _ in range(numbers.randint(1, 3)):
        data[numbers.randrange(len(data))] = numbers.randrange(256)
    for damaged in (bytes(data), bytes(data[: numbers.randrange(len(data) + 1)])):
        with contextlib.suppress(ValueError):
            _core.decode(damaged)


def test_names_that_are_none_make_no_class():
    data = _core.encode(Pair(1, 2))
    for bad in (b"first", b"class"), (b"first", b"__cls"), (b"second", b"first "), (b"Pair", b"12 3"):
        with pytest.raises(ValueError, match="damaged"):
            _core.decode(data.replace(*bad))
