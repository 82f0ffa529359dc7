"""Very broad wildcards do not change what a program does: the same programs are run plainly and woven."""

from __future__ import annotations

import ctypes
import importlib
import logging
import re
from typing import ClassVar

import pytest
from events.woven import program, recorded

import mopsus

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures

BROAD = """
Calls(x) {{
    event call after(x) : call({0}.*.*) && target(x)
    event body before(x) : execution({0}.*+.*) && target(x)
    ere : call body
}}
Functions() {{
    event call before() : call({0}.*)
    event method before() : execution({0}.*.*)
    ere : call
}}
Objects(x) {{
    event new after() returning(x) : new({0}.* | {0}.*+)
    ere : new
}}
Attributes(x, v) {{
    event get after(x) returning(v) : get({0}.*.*) && target(x)
    event set before(x, v) : set({0}.*.*) && target(x) && args(v)
    event gone before(x) : delete({0}.*.*) && target(x)
    ere : get
}}
"""

PROGRAMS = {
    "enumerations": """
        import enum, inspect, pickle
        class Color(enum.Enum):
            def _generate_next_value_(name, start, count, last):
                return name.lower()
            RED = enum.auto()
            name_ = enum.auto()
            def shout(self):
                return self.value.upper()
        class Di(enum.Enum):
            name = 1
            value = 2
        class Perm(enum.Flag):
            R, W = 1, 2
        def run():
            members = dict(inspect.getmembers(Color))
            return (Color.RED.shout(), list(Color), Di.name is Di["name"], Di["value"].value, Perm.R | Perm.W,
                    sorted(members), pickle.loads(pickle.dumps(Color.RED)) is Color.RED)
    """,
    "caches and copies": """
        import copy, functools, pickle, weakref
        class A:
            @functools.lru_cache
            def cached(self, x):
                return x + 1
            def plain(self):
                return 1
            @functools.singledispatchmethod
            def dispatched(self, x):
                return "any"
            @dispatched.register
            def _(self, x: int):
                return "int"
            part = functools.partialmethod(lambda self, x, y: (x, y), 1)
            @functools.cached_property
            def lazy(self):
                return [1]
        @functools.lru_cache
        def cached(x):
            return x
        @functools.singledispatch
        def dispatched(x):
            return "any"
        @dispatched.register(int)
        def _(x):
            return "int"
        def run():
            one = A()
            bound = weakref.WeakMethod(one.plain)
            gone = weakref.ref(A.__dict__["plain"])
            results = [one.cached(1), A.cached.cache_info().misses, one.dispatched(1), one.dispatched("x"),
                       one.part(2), one.lazy is one.lazy, cached(3), dispatched(1), dispatched("x"),
                       copy.copy(cached) is cached, copy.deepcopy(A.cached) is A.cached,
                       copy.deepcopy(A.plain) is A.plain, pickle.loads(pickle.dumps(cached)) is cached,
                       pickle.loads(pickle.dumps(one.plain))(), bound()()]
            del A.plain
            return [*results, gone(), bound()]
    """,
    "functions are functions": """
        import inspect, types, typing, doctest
        def f(a: "int", b: str = "x", *, c=3) -> bool:
            '''Says so.

            >>> f(1)
            True
            '''
            return True
        class C:
            def m(self, a, /, *b, **c):
                return a, b, c
            @classmethod
            def of(cls):
                return cls
            @staticmethod
            def static(x):
                return x
        def run():
            results = [inspect.isfunction(f), isinstance(f, types.FunctionType), inspect.signature(f),
                       typing.get_type_hints(f), f.__code__.co_name, f.__defaults__, f.__kwdefaults__, f.__closure__,
                       inspect.getsource(C.m), inspect.isroutine(C.m), inspect.ismethod(C().m), C().m == C().m,
                       C.of() is C, C.static(4), C.__dict__["of"].__func__.__name__, inspect.getfullargspec(C.m),
                       f == f, hash(f) == hash(f), {f: 1}[f], callable(f), C.m is C.m]
            f.__defaults__ = ("y",)
            f.mark = 1
            results += [inspect.signature(f), f.mark, vars(f)]
            examples = doctest.DocTestFinder().find(f, "f", globs={"f": f})
            results.append([doctest.DocTestRunner(verbose=False).run(each) for each in examples])
            f.__code__ = (lambda a, b=0, *, c=0: "changed").__code__
            return [*results, f(1)]
    """,
    "descriptors": """
        import dataclasses, inspect
        class D:
            def __set_name__(self, owner, name):
                self.name = "_" + name
            def __get__(self, instance, owner):
                return 100 if instance is None else getattr(instance, self.name)
            def __set__(self, instance, value):
                setattr(instance, self.name, int(value))
        @dataclasses.dataclass
        class P:
            i: D = D()
        @dataclasses.dataclass(slots=True, order=True)
        class S:
            x: int
            y: int = 2
        @dataclasses.dataclass
        class T(S):
            z: int = 3
        class Slotted:
            __slots__ = {"power": "in kilowatts"}
            @property
            def double(self):
                "Twice."
                return 2 * self.power
            @double.setter
            def double(self, value):
                self.power = value // 2
            @double.deleter
            def double(self):
                del self.power
        class Wider(Slotted):
            @Slotted.double.getter
            def double(self):
                return -1
        def run():
            s = Slotted()
            s.double = 8
            try:
                s.other = 1
            except AttributeError as error:
                complaint = str(error)
            results = [P().i, P("7"), P.i, S(1) < S(2), T(1, z=9), s.double, inspect.getdoc(Slotted.power),
                       Slotted.double.__doc__, isinstance(Slotted.double, property), Wider().double, complaint,
                       [each.name for each in dataclasses.fields(T)],
                       [each[:2] for each in inspect.classify_class_attrs(Slotted)]]
            del s.double
            return [*results, hasattr(s, "power")]
    """,
    "metaclasses that talk back": """
        class Silent(type):
            def __eq__(cls, other):
                raise RuntimeError("compared")
            @property
            def __dict__(cls):
                raise RuntimeError("asked")
            __hash__ = None
        class Loud(metaclass=Silent):
            def method(self):
                return 1
        class Sub(Loud):
            pass
        class Liar:
            __class__ = property(lambda self: 1 / 0)
        liar = Liar()
        class Prepared(type):
            @classmethod
            def __prepare__(mcs, name, bases, **more):
                return {"given": more}
            def __new__(mcs, name, bases, space, **more):
                return super().__new__(mcs, name, bases, dict(space))
        class Made(metaclass=Prepared, key=1):
            def method(self):
                return __class__.given, super().__repr__ is not None
        def run():
            return Loud().method(), Sub().method(), Made().method()
    """,
    "protocols and abstract classes": """
        import abc, typing
        class Speaks(typing.Protocol):
            def speak(self) -> str: ...
        class Base:
            def __init__(self):
                self.ready = True
        class Dog(Speaks, Base):
            def speak(self):
                return "woof"
        class Cat(Speaks):
            def speak(self):
                return "meow"
        class Kitten(Cat, Base):
            pass
        class Abstract(abc.ABC):
            @property
            @abc.abstractmethod
            def size(self): ...
            @abc.abstractmethod
            def grow(self): ...
        class Concrete(Abstract):
            size = 1
            def grow(self):
                return self.size
        class Final:
            @typing.final
            @classmethod
            def of(cls):
                return cls
            Any = typing.Callable
        def refused(cls):
            try:
                cls()
            except TypeError as error:
                return str(error)
        def run():
            return (refused(Speaks), Dog().ready, Kitten().ready, Cat().speak(), refused(Abstract), Concrete().grow(),
                    sorted(Abstract.__abstractmethods__), Final.__dict__["of"].__final__, Final.of() is Final,
                    Final.Any[[int], str])
    """,
    "mocks": """
        from unittest import mock
        def helper(x):
            return x
        class Service:
            def ask(self, question):
                return "real " + question
        def run():
            with mock.patch(__name__ + ".helper", return_value=7) as patched:
                results = [helper(1), patched.call_count]
            with mock.patch.object(Service, "ask", autospec=True, return_value="mocked") as patched:
                one = Service()
                results += [one.ask("a"), patched.call_args == mock.call(one, "a")]
                try:
                    one.ask()
                except TypeError as error:
                    results.append(str(error))
            auto = mock.create_autospec(Service)
            auto().ask.return_value = 5
            results.append(auto().ask("c"))
            return [*results, helper(2), Service().ask("b")]
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_broad_wildcards_change_nothing(program, name, caplog, capfd):
    written = program(PROGRAMS[name])
    plain = importlib.import_module(written)
    expected = repr(plain.run())
    again = program(PROGRAMS[name], written + "_w")
    with caplog.at_level(logging.WARNING), mopsus.weave(mopsus.parse(BROAD.format("woven_*")), history=0) as woven:
        got = repr(importlib.import_module(again).run())
        assert sum(monitor.stats().events for monitor in woven.monitors.values()) > 0
    assert _anonymous(got.replace(again, written)) == _anonymous(expected)
    assert not caplog.records
    assert "Traceback" not in capfd.readouterr().err


def _anonymous(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def test_a_wildcard_for_methods_leaves_those_of_builtin_bases_alone(program):
    name = program("class Mine(dict):\n    def own(self):\n        return 1\n")
    before = dict(vars(dict))
    with mopsus.weave(mopsus.parse(BROAD.format("woven_*"))) as woven:
        importlib.import_module(name).Mine().own()
        assert dict(vars(dict)) == before
        assert all(vars(dict)[key] is value for key, value in before.items())
        assert woven.monitors["Calls"].stats().events > 0
    # One that is asked for by its name is seen all the same.
    text = f"S(x) {{ event get before(x) : call({name}.Mine.get) && target(x) ere : get }}"
    with mopsus.weave(mopsus.parse(text)) as woven:
        importlib.import_module(name).Mine().get(1)
        {}.get(1)
    assert len(woven.verdicts) == 1


def test_one_call_of_an_inherited_method_is_one_event(program):
    name = program("class A:\n    def m(self):\n        return 1\nclass B(A):\n    pass\n")
    text = f"S(x) {{ event m before(x) : call({name}.*.m) && target(x) ere : m m }}"
    with mopsus.weave(mopsus.parse(text)) as woven:
        importlib.import_module(name).B().m()
        assert woven.monitors["S"].stats().events == 1


def test_objects_with_a_binding_of_their_own(program):
    name = program(
        "import functools\nclass C:\n    m = functools.partialmethod(lambda self, x, y: (x, y), 1)\n"
        "    @functools.singledispatchmethod\n    def d(self, x):\n        return x\n"
    )
    text = f"S(x) {{ event m before(x) : call({name}.C.m | {name}.C.d) && target(x) ere : m m }}"
    module = importlib.import_module(name)
    with mopsus.weave(mopsus.parse(text)) as woven:
        one = module.C()
        assert one.m(2) == (1, 2)
        assert one.d(3) == 3
    assert len(woven.verdicts) == 1


def test_classes_whose_metaclass_was_made_in_c():
    class Pair(ctypes.BigEndianStructure):
        _fields_: ClassVar = [("a", ctypes.c_int)]

    class Choice(ctypes.BigEndianUnion):  # its metaclass takes no change that goes around it
        _fields_: ClassVar = [("a", ctypes.c_int)]

    with mopsus.weave(mopsus.parse("S(x: object) { event end before(x) : endObject(x) ere : end }")) as woven:
        before = len(woven.verdicts)
        Pair()
        Choice()
        assert len(woven.verdicts) > before
    assert not any("__del__" in vars(each) for kind in (Pair, Choice) for each in kind.__mro__)
