"""Advice put on modules and classes: everything that is called is seen, and everything is as before in the end."""

from __future__ import annotations

import abc
import builtins
import collections
import enum
import functools
import inspect
import pickle
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from mopsus import _core
from mopsus.events.weave.joinpoints import Advised, From, Moment, Operation, Source, Tap
from mopsus.events.weave.place import Placements

pytestmark = pytest.mark.interpreter

TARGET = Source(From.TARGET)
FIRST = Source(From.ARGUMENT, 0)
RESULT = Source(From.RESULT)
Log = list[tuple[Any, ...]]


def tap(log: Log, *sources: Source, moment: Moment = Moment.BEFORE, **more: Any) -> Tap:
    """A tap that notes the values it is given."""
    return Tap("Spec", "event", moment, lambda *values: log.append(values), sources, **more)


@pytest.fixture
def log() -> Log:
    return []


@pytest.fixture
def places() -> Iterator[Placements]:
    made = Placements()
    yield made
    made.undo()


def put(places: Placements, holder: object, name: str, *taps: Tap, **more: Any) -> None:
    assert places.put([Advised(holder, name, taps, **more)]) == [None]


def module(name: str, source: str) -> Any:
    """A loaded module of that source."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(source, vars(made))
    return made


@pytest.fixture
def modules() -> Iterator[Callable[[str, str], Any]]:
    before = set(sys.modules)
    yield module
    for name in set(sys.modules) - before:
        del sys.modules[name]


class Plain:
    def method(self, value: int = 1) -> int:
        """A method."""
        return value

    @classmethod
    def of_class(cls, value: int) -> tuple[type, int]:
        return cls, value

    @staticmethod
    def static(value: int) -> int:
        return value

    @property
    def size(self) -> int:
        """How large it is."""
        return int(self.__dict__.get("_size", 0))

    @size.setter
    def size(self, value: int) -> None:
        self.__dict__["_size"] = value


class Derived(Plain):
    pass


def test_a_method_is_seen_and_restored(places: Placements, log: Log) -> None:
    before = dict(vars(Plain))
    put(places, Plain, "method", tap(log, TARGET, FIRST))
    one = Plain()
    assert one.method(5) == 5
    assert one.method() == 1
    assert one.method(value=7) == 7
    assert [call(2) for call in [one.method]] == [2]
    assert Plain.method(one, 3) == 3
    assert log == [(one, 5), (one, 1), (one, 7), (one, 2), (one, 3)]
    places.undo()
    one.method()
    assert len(log) == 5
    assert dict(vars(Plain)) == before
    assert all(vars(Plain)[name] is value for name, value in before.items())
    assert list(vars(Plain)) == list(before)


def test_a_method_is_advised_where_it_is_inherited_from(places: Placements, log: Log) -> None:
    put(places, Derived, "method", tap(log, TARGET))
    assert "method" not in vars(Derived)
    one, other = Derived(), Plain()
    one.method()
    other.method()
    assert log == [(one,), (other,)]


def test_a_default_is_put_where_nothing_was(places: Placements, log: Log) -> None:
    put(places, Derived, "__init__", tap(log, TARGET), default=object.__init__)
    one = Derived()
    Plain()
    assert log == [(one,)]
    places.undo()
    assert "__init__" not in vars(Derived)
    Derived()
    assert len(log) == 1


def test_a_function_is_seen_under_every_name(places: Placements, log: Log, modules: Any) -> None:
    first = modules("weave_first", "def f(x): return x + 1\ndef g(): return f(1)")
    second = modules("weave_second", "from weave_first import f as other\ndef h(): return other(2)")
    original = first.f
    put(places, first, "f", tap(log, FIRST))
    third = modules("weave_third", "from weave_first import f\ndef h(): return f(3)")
    assert (first.g(), second.h(), third.h()) == (2, 3, 4)
    assert log == [(1,), (2,), (3,)]
    places.undo()
    assert first.f is second.other is third.f is original


def test_bound_methods_in_modules_are_seen(places: Placements, log: Log, modules: Any) -> None:
    one = modules("weave_bound", "class C:\n def m(self): return 1\ninstance = C()\nm = instance.m\nplain = C.m")
    put(places, one.C, "m", tap(log, TARGET))
    assert (one.m(), one.plain(one.instance)) == (1, 1)
    assert log == [(one.instance,)] * 2
    places.undo()
    assert one.m.__func__ is one.plain is vars(one.C)["m"]
    assert type(one.plain) is types.FunctionType


def test_a_function_of_a_module_is_not_a_method_that_a_class_made_of_it(
    places: Placements, log: Log, modules: Any
) -> None:
    one = modules("weave_shared", "def f(x): return x\nclass C:\n m = f\n s = staticmethod(f)")
    put(places, one.C, "s", tap(log, FIRST))
    put(places, one.C, "m", tap(log, TARGET))
    one.f(1)
    assert log == []
    instance = one.C()
    instance.s(2)
    instance.m()
    assert log == [(2,), (instance,)]


def test_class_and_static_methods(places: Placements, log: Log) -> None:
    put(places, Plain, "of_class", tap(log, TARGET, FIRST))
    put(places, Plain, "static", tap(log, FIRST))
    assert Plain.of_class(1) == (Plain, 1)
    assert Derived().of_class(2) == (Derived, 2)
    assert Plain.static(3) == Derived().static(3) == 3
    assert log == [(Plain, 1), (Derived, 2), (3,), (3,)]
    assert isinstance(vars(Plain)["of_class"], classmethod)
    assert isinstance(vars(Plain)["static"], staticmethod)


def test_properties(places: Placements, log: Log) -> None:
    original = vars(Plain)["size"]
    one = Plain()
    put(places, Plain, "size", tap(log, TARGET), operation=Operation.GET)
    put(places, Plain, "size", tap(log, TARGET, FIRST), operation=Operation.SET)
    one.size = 4
    assert one.size == 4
    assert log == [(one, 4), (one,)]
    assert Plain.size.__doc__ == "How large it is."
    assert isinstance(Plain.size, property)
    reason = places.put([Advised(Plain, "size", (), Operation.DELETE)])
    assert reason == ["the property has no delete"]
    assert places.put([Advised(Plain, "size", ())]) == ["it is a property: its uses are get, set and delete"]
    places.undo()
    assert vars(Plain)["size"] is original


def test_descriptors_of_data(places: Placements, log: Log) -> None:
    class Positive:
        """A number."""

        def __get__(self, instance: object, owner: type | None = None) -> int:
            return int(vars(instance)["number"])

        def __set__(self, instance: object, value: int) -> None:
            vars(instance)["number"] = value

    class Holder:
        number = Positive()

    original = vars(Holder)["number"]
    put(places, Holder, "number", tap(log, TARGET, RESULT, moment=Moment.RETURNING), operation=Operation.GET)
    put(places, Holder, "number", tap(log, TARGET, FIRST), operation=Operation.SET)
    one = Holder()
    one.number = 3
    assert one.number == 3
    assert log == [(one, 3), (one, 3)]
    places.undo()
    assert vars(Holder)["number"] is original


def test_slots(places: Placements, log: Log) -> None:
    @dataclass(slots=True)
    class Slotted:
        x: int
        y: int = 0

    original = vars(Slotted)["x"]
    for operation, sources in {
        Operation.GET: [TARGET],
        Operation.SET: [TARGET, FIRST],
        Operation.DELETE: [TARGET],
    }.items():
        put(places, Slotted, "x", tap(log, *sources), operation=operation)
    one = Slotted(1)
    assert one.x == 1
    assert one == Slotted(1)
    del one.x
    with pytest.raises(AttributeError):
        one.x  # noqa: B018 - reading is what is tested
    assert log[0] == (one, 1)
    places.undo()
    assert vars(Slotted)["x"] is original


@pytest.mark.parametrize(
    ("make", "name", "arguments"),
    [
        (list, "append", (1,)),
        (list, "clear", ()),
        (dict, "get", (1,)),
        (dict, "update", ({},)),
        (set, "add", (1,)),
        (collections.deque, "append", (1,)),
        (threading.Lock, "acquire", ()),
        (str, "upper", ()),
    ],
)
def test_methods_of_builtin_types(
    places: Placements, log: Log, make: Any, name: str, arguments: tuple[Any, ...]
) -> None:
    one = make()
    holder = type(one)
    original = vars(holder)[name]
    call = f"one.{name}(*arguments)"
    put(places, holder, name, tap(log, TARGET))
    expected = eval(call)
    # Other threads of whoever runs the tests may use such an object meanwhile.
    assert [target is one for (target,) in log].count(True) == 1
    places.undo()
    seen = len(log)
    assert vars(holder)[name] is original
    eval(call, {"one": make(), "arguments": arguments})
    assert len(log) == seen
    assert expected == getattr(make(), name)(*arguments)


def test_class_methods_of_builtin_types(places: Placements, log: Log) -> None:
    put(places, dict, "fromkeys", tap(log, TARGET, FIRST))
    assert dict.fromkeys("ab") == {"a": None, "b": None}
    assert collections.OrderedDict.fromkeys("a") == {"a": None}
    assert log[0] == (dict, "ab")


def test_operations_of_builtin_types_are_refused(places: Placements) -> None:
    reason = "operations of built-in types are not looked up by name"
    assert places.put([Advised(list, name, ()) for name in ("__len__", "__setitem__", "__new__")]) == [reason] * 3


def test_what_cannot_be_advised(places: Placements) -> None:
    class Holder:
        constant = 3
        inner = Plain

    assert places.put(
        [
            Advised(Holder, "nothing", ()),
            Advised(Holder, "constant", ()),
            Advised(Holder, "inner", ()),
            Advised(Holder(), "constant", ()),
            Advised(Holder, "constant", (), Operation.GET),
            Advised(sys, "version", (), Operation.GET),
        ]
    ) == [
        "there is no such attribute",
        "it cannot be called",
        "it is a class, and must stay one",
        "there is no such attribute",
        "it is kept in the instances, not in the class",
        "attributes of modules are not found through anything that could be advised",
    ]


def hot(append: list[int], plain: Plain, get: Callable[[Plain], int]) -> None:
    for value in range(200):
        append.append(value)
        plain.method(value)
        get(plain)
        len(append)
        plain[value]  # type: ignore[index]  # its class gets it in the test


def test_hot_loops_notice_that_advice_comes_and_goes(log: Log) -> None:
    """The interpreter has specialised its code for what stood there before."""

    class Hot(Plain):
        def __getitem__(self, index: int) -> int:
            return index

        @property
        def value(self) -> int:
            return 1

    def get(one: Hot) -> int:
        return one.value

    def run() -> int:
        log.clear()
        hot([], Hot(), get)  # type: ignore[arg-type]
        return log.__len__()  # `len` itself is being watched

    for _ in range(3):
        assert run() == 0
        places = Placements()
        put(places, list, "append", tap(log, TARGET))
        assert run() == 200
        put(places, Plain, "method", tap(log, TARGET))
        assert run() == 400
        put(places, Hot, "value", tap(log, TARGET), operation=Operation.GET)
        assert run() == 600
        put(places, builtins, "len", tap(log, FIRST))
        assert run() == 800
        put(places, Hot, "__getitem__", tap(log, TARGET))
        assert run() == 1000
        places.undo()
    assert run() == 0


def test_creation_in_hot_loops(log: Log) -> None:
    class Made:
        def __init__(self, value: int) -> None:
            self.value = value

    class Born:
        def __new__(cls, value: int) -> Born:
            return super().__new__(cls)

    def run() -> int:
        log.clear()
        for value in range(100):
            assert Made(value).value == value
            Born(value)
        return len(log)

    for _ in range(3):
        assert run() == 0
        places = Placements()
        put(places, Made, "__init__", tap(log, TARGET, FIRST, moment=Moment.RETURNING))
        put(places, Born, "__new__", tap(log, TARGET, FIRST, RESULT, moment=Moment.RETURNING))
        assert run() == 200
        assert log[1][0] is Born
        assert log[1][1] == 0
        assert type(log[1][2]) is Born
        places.undo()
    assert run() == 0


def test_places_are_shared(log: Log) -> None:
    original = vars(Plain)["method"]
    first, second = Placements(), Placements()
    one = Plain()
    mine, other = tap(log, TARGET), tap(log, TARGET)
    put(first, Plain, "method", mine)
    advice = vars(Plain)["method"]
    put(second, Derived, "method", other)
    put(second, Plain, "method", other)
    assert vars(Plain)["method"] is advice
    one.method()
    assert len(log) == 2
    first.undo()
    one.method()
    assert len(log) == 3
    second.undo()
    assert vars(Plain)["method"] is original


def test_an_advice_that_came_before_is_taken_over(places: Placements, log: Log, modules: Any) -> None:
    one = modules("weave_early", "def f(): return 1")
    original = one.f
    one.f = _core.Advice(original, [])
    put(places, one, "f", tap(log))
    one.f()
    assert log == [()]
    places.undo()
    assert one.f is original


def test_what_somebody_else_put_in_place_stays(places: Placements, log: Log) -> None:
    class Patched:
        def method(self) -> int:
            return 1

    original = vars(Patched)["method"]
    put(places, Patched, "method", tap(log))
    advised = Patched.method

    def replacement(self: Patched) -> int:
        return advised(self) + 1

    Patched.method = replacement  # type: ignore[method-assign]
    assert Patched().method() == 2
    places.undo()
    assert Patched.method is replacement
    assert Patched().method() == 2
    assert len(log) == 1
    assert advised == original


def test_enumerations_abstract_classes_and_metaclasses(places: Placements, log: Log) -> None:
    class Colour(enum.Enum):
        RED = 1

        def shout(self) -> str:
            return self.name

    class Meta(type):
        def __setattr__(cls, name: str, value: object) -> None:
            raise TypeError("not here")

        def made(cls) -> str:
            return cls.__name__

    class Guarded(metaclass=Meta):
        def method(self) -> int:
            return 1

    class Abstract(abc.ABC):
        @abc.abstractmethod
        def method(self) -> int: ...

    for holder, name in ((Colour, "shout"), (Guarded, "method"), (Meta, "made"), (Abstract, "method")):
        put(places, holder, name, tap(log, TARGET))
    assert Colour.RED.shout() == "RED"
    assert Guarded().method() == 1
    assert Guarded.made() == "Guarded"
    assert Abstract.__abstractmethods__ == {"method"}
    assert inspect.isabstract(Abstract)
    assert [target for (target,) in log][::2] == [Colour.RED, Guarded]
    assert list(Colour) == [Colour.RED]


def test_descriptors_that_give_functions(places: Placements, log: Log) -> None:
    other: Log = []

    class Odd:
        def add(self, a: int, b: int) -> int:
            return a + b

        increment = functools.partialmethod(add, 1)

        @functools.singledispatchmethod
        def show(self, value: object) -> str:
            return "object"

        @show.register
        def _(self, value: int) -> str:
            return "int"

        @functools.cache  # noqa: B019 - this very thing is tested
        def cached(self) -> int:
            return 1

    Odd.borrowed = Plain().method  # type: ignore[attr-defined]
    put(places, Odd, "borrowed", tap(other, FIRST))
    one: Any = Odd()
    assert one.borrowed(5) == 5
    assert other == [(5,)]
    for name in ("increment", "show", "cached"):
        put(places, Odd, name, tap(log, TARGET))
    assert one.increment(2) == 3
    assert one.show(1) == "int"
    assert one.show("") == "object"
    assert one.cached() == one.cached() == 1
    assert Odd.cached.cache_info().hits == 1
    assert log == [(one,)] * 5
    places.undo()
    assert one.increment(2) == 3


def test_pickling_by_name(places: Placements, log: Log) -> None:
    plain = Plain()
    before = {name: pickle.dumps(getattr(Plain, name)) for name in ("method", "static")}
    bound = pickle.dumps(plain.method)
    builtin = pickle.dumps(list.append)
    put(places, Plain, "method", tap(log))
    put(places, Plain, "static", tap(log))
    put(places, list, "append", tap(log))
    assert {name: pickle.dumps(getattr(Plain, name)) for name in before} == before
    assert pickle.dumps(plain.method) == bound
    assert pickle.dumps(list.append) == builtin
    assert pickle.loads(before["method"]) is Plain.method


def test_threads(places: Placements, log: Log) -> None:
    put(places, Plain, "method", tap(log, TARGET))
    one = Plain()
    threads = [threading.Thread(target=lambda: [one.method() for _ in range(1000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log) == 4000
