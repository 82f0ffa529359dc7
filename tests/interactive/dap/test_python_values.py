"""Values of Python programs as an editor sees them: opened, paged, set; whatever they are."""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from types import FrameType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.interactive.dap.python.variables import (
    Globals,
    Variables,
    arguments_of,
    assigned,
    execute,
    open_value,
    text_of,
    value_of,
    variable,
)
from mopsus.interactive.dap.workbench import Inside
from mopsus.interactive.debugger import DebuggerError

pytestmark = pytest.mark.interpreter

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.integers() | st.text() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner) | st.lists(inner).map(deque)
    ),
    max_leaves=12,
)


def here() -> FrameType:
    return sys._getframe(1)


def opened(value: object) -> Inside:
    inside = open_value(value, here(), "value")
    assert inside is not None
    return inside


@given(VALUES)
def test_a_value_is_one_line_and_opens_into_just_what_it_holds(value):
    shown = variable("value", value, here(), expression="value")
    assert shown.value.isprintable()
    inside = shown.inside
    if isinstance(value, list | tuple | deque | dict) and value:
        assert inside is not None
        held = list(value.values()) if isinstance(value, dict) else list(value)
        found = [*inside.members(), *inside.elements(0, inside.indexed)]
        assert [each.value for each in found] == [text_of(each) for each in held]
        assert inside.named + inside.indexed == len(held)
    else:
        assert inside is None


@given(VALUES)
def test_an_expression_gives_again_what_was_opened(value):
    for each in _all_inside(variable("value", value, here(), expression="value")):
        if each.expression is not None:
            assert text_of(value_of(each.expression, here())) == each.value


@given(st.lists(st.integers(), min_size=1), st.integers(0, 40), st.integers(1, 40))
def test_elements_come_in_parts(value, start, count):
    shown = opened(value).elements(start, count)
    assert [(each.name, each.value) for each in shown] == [
        (str(at), repr(value[at])) for at in range(len(value))[start : start + count]
    ]


@given(st.lists(st.integers(), min_size=1), st.data())
def test_what_is_set_in_a_list_is_there(value, data):
    at, new = data.draw(st.integers(0, len(value) - 1)), data.draw(st.integers())
    wanted = [*value[:at], new, *value[at + 1 :]]
    assert opened(value).set(str(at), repr(new)).value == repr(new)
    assert value == wanted


@given(st.dictionaries(KEYS, st.integers(), min_size=1), st.data())
def test_what_is_set_in_a_dict_is_there(value, data):
    key, new = data.draw(st.sampled_from(list(value))), data.draw(st.integers())
    name = next(each.name for each, known in zip(opened(value).members(), value, strict=True) if known == key)
    opened(value).set(name, repr(new))
    assert value[key] == new


class Slotted:
    __slots__ = ("__hidden", "seen", "unset")

    def __init__(self) -> None:
        self.seen, self.__hidden = 1, 2

    @property
    def computed(self) -> int:
        raise AssertionError("looking must not run this")


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")

    def __getattr__(self, name: str) -> object:
        raise AssertionError("looking must not run this")


class Rows(list[int]):
    def __init__(self) -> None:
        super().__init__([1, 2])
        self.title = "rows"


def test_objects_open_into_what_they_have_stored():
    assert [(each.name, each.value) for each in opened(Slotted()).members()] == [
        ("_Slotted__hidden", "2"),
        ("seen", "1"),
    ]
    assert [each.name for each in opened(SimpleNamespace(a=1, b=2)).members()] == ["a", "b"]
    rows = opened(Rows())
    assert ([each.name for each in rows.members()], rows.indexed) == (["title"], 2)
    assert [each.name for each in opened(Slotted).members()] == ["_Slotted__hidden", "computed", "seen", "unset"]


def test_an_object_that_cannot_be_shown_is_shown_all_the_same():
    assert "Loud" in text_of(Loud())
    assert open_value(Loud(), here(), None) is None
    endless: list[object] = []
    endless.append(endless)
    assert text_of(endless) == "[[[[[...]]]]]"
    assert text_of(10**5000).startswith("0x")
    assert len(text_of("x" * 10**6)) < 3000
    assert "\n" not in text_of(SimpleNamespace(a="\n\x1b[31m"))


def test_keys_that_look_the_same_are_told_apart():
    class Key:
        def __repr__(self) -> str:
            return "key"

    first, second = Key(), Key()
    value = {first: 1, second: 2}
    names = [each.name for each in opened(value).members()]
    assert names == ["key", "key #1"]
    opened(value).set("key #1", "3")
    assert value == {first: 1, second: 3}


def test_sets_are_opened_and_not_set():
    inside = opened({7})
    assert [(each.name, each.value, each.constant) for each in inside.elements(0, 5)] == [("0", "7", True)]
    with pytest.raises(DebuggerError, match="set"):
        inside.set("0", "8")


def test_what_cannot_be_set_says_why():
    with pytest.raises(DebuggerError, match="does not support item assignment"):
        opened((1, 2)).set("0", "3")
    with pytest.raises(DebuggerError, match="NameError"):
        opened([1]).set("0", "nothing")
    with pytest.raises(DebuggerError, match="SyntaxError"):
        value_of("1 +", here())


def test_variables_of_a_frame_are_seen_and_set():
    def function(a: int, *rest: int, b: int = 2, **more: int) -> tuple[object, ...]:
        c = [a]
        frame = sys._getframe()
        assert arguments_of(frame.f_code) == ["a", "b", "rest", "more"]
        names = Variables(frame, ["a", "c", "later"])
        assert [each.name for each in names.members()] == ["a", "c"]
        names.set("a", "a + 40")
        assigned("c[0]", 5, frame)
        execute("b = a * 2\nif b:\n    c.append(b)", frame)
        # What a function inside of an expression names is found, too.
        assert value_of("[x for x in c if x > a]", frame) == [82]
        later = 1
        return a, b, c, later

    assert function(1) == (41, 82, [5, 82], 1)


def test_variables_of_a_module_are_without_what_every_module_has():
    names = [each.name for each in Globals(here()).members()]
    assert "Slotted" in names
    assert not [name for name in names if name.startswith("__")]


@given(st.dictionaries(st.text(min_size=1), st.integers(), min_size=1))
def test_a_dict_of_another_class_is_opened_like_a_dict(value):
    assert [each.value for each in opened(OrderedDict(value)).members()] == list(map(repr, value.values()))


def _all_inside(shown):
    yield shown
    if shown.inside is not None:
        for each in [*shown.inside.members(), *shown.inside.elements(0, shown.inside.indexed)]:
            yield from _all_inside(each)
