"""Operators and statements other than loops: rewritten they behave as written, and tell what they do."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest
from rewrite_support import Event, compare, everything, names, tap

from mopsus.events.weave.joinpoints import From, Moment, Operation, Rewrite, Source

pytestmark = pytest.mark.interpreter

PROGRAMS = {
    "attributes": """
        class C:
            __slots__ = ("a", "_C__hidden", "b")
            def __init__(self):
                self.a, self.__hidden = 1, 2
                self.b = self.a = self.__hidden
            def __getattr__(self, name):
                print("getattr", name)
                raise AttributeError(name)
        c = C()
        print(c.a, c.b, hasattr(c, "z"), c._C__hidden, C.a.__name__)
        c.a += 5
        c.a, *c.b = c.a, 2, 3
        for c.a in [7, 8]: print(c.a)
        del c.a
        [c.b for c.b in [9]] if False else None
        print((lambda: c).__call__().b, "x".upper().lower(), f"{c.b!r:>5}")
        c.a
    """,
    "order of evaluation": """
        def e(name, value=None):
            print(name)
            return value
        class O: pass
        o = O()
        e("o", o).x = e("v", 1)
        e("o", o).x += e("v", 1)
        e("d", {})[e("k")] = e("v")
        e("d", [0])[e("i", 0)] += e("v", 1)
        e("a", o).x, e("b", [1])[e("i", 0)] = e("v", (1, 2))
        del e("o", o).x, e("l", [1])[e("i", 0)]
        e("f", print)(e("x"), *e("y", []), k=e("z")) if False else None
    """,
    "items": """
        l = [1, 2, 3, 4]
        print(l[0], l[-1], l[1:3], l[::2], {"a": 1}["a"], "text"[1:][0])
        l[0] += 10
        l[1:3] = [7]
        l[0], l[1] = l[1], l[0]
        del l[0], l[:1]
        for l[0] in range(3): pass
        print(l)
        class M:
            def __getitem__(self, key): return key
            def __class_getitem__(cls, key): return "class", key
        m = M()
        print(m[1, 2], m[1:2, ...], m[*[1, 2], 3], M[int], m[()], m[(1,)])
        x: dict[str, int] = {}
        x["a"]: int = 1
        print(x, m[lambda: 0].__name__)
    """,
    "with": """
        class C:
            def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
            def __enter__(self): print("enter", self.name); return self.name
            def __exit__(self, *info): print("exit", self.name, info[0], info[1]); return self.swallow
            def __del__(self): print("del", self.name)
        with C("a") as a, C("b") as (b,): print(a, b)
        with C("c", True): raise KeyError
        def f():
            with C("d"): return 1
        print(f())
        with (C("e") as x): pass
        import contextlib
        @contextlib.contextmanager
        def manager():
            try: yield 1
            finally: print("finally")
        with manager() as m: print(m)
        for _ in [1]:
            with C("f"): break
        with C("g"): 1 / 0
    """,
    "raise and except": """
        class E(Exception):
            def __init__(self, *args): print("made", args); super().__init__(*args)
        def f(e, *cause):
            try:
                if cause: raise e from cause[0]
                raise e
            except E as error:
                print(repr(error), error.__cause__, error.__suppress_context__, type(error.__context__))
                try: raise
                except* E as group: print(repr(group))
            except (TypeError, ValueError) as error:
                print(repr(error))
            except: print("other")
            else: print("none")
            finally: print("end")
        f(E); f(E(1)); f(E, KeyError); f(E(2), None); f(5); f(E, 5); f(KeyError); f(int)
        class Odd(Exception):
            def __new__(cls): return 5
        f(Odd)
        def g():
            try: raise E
            except E: raise KeyError
        try: g()
        except KeyError as error: print(repr(error.__context__))
        def order(x): print(x); return E
        try: raise order("first") from order("second")
        except E: pass
        raise
    """,
    "assert": """
        class AssertionError: pass
        def f(x, message):
            try:
                assert x
                assert not x, message()
                if x: assert x, 1 / 0
            except Exception as error: print(repr(error), error.__context__)
        f(0, lambda: 1 / 0); f(1, lambda: "m"); f(1, lambda: 1 / 0); f(1, lambda: (1, 2)); f(1, lambda: None)
        assert (0, "never fails")
        def g(): assert (yield 1), (yield 2)
        print(list(f for f in map(next, [g()])))
    """,
    "await": """
        import asyncio
        class A:
            def __await__(self):
                yield from asyncio.sleep(0).__await__()
                return "waited"
        async def fails(): raise KeyError("k")
        async def value(x):
            await asyncio.sleep(0)
            return x
        async def main():
            print(await A(), await value((1, 2)), await value(None), await value(KeyError(3)))
            print(await asyncio.gather(value(1), value(2)))
            try: await fails()
            except KeyError as error: print(error)
            task = asyncio.ensure_future(asyncio.sleep(10))
            asyncio.get_running_loop().call_soon(task.cancel)
            try: await task
            except asyncio.CancelledError: print("cancelled")
            async def stuck():
                try: await asyncio.Event().wait()
                finally: print("cleaned")
            try: await asyncio.wait_for(stuck(), 0.01)
            except asyncio.TimeoutError: print("timeout")
            c = value(1)
            await c
            try: await c
            except RuntimeError as error: print(error)
            async with asyncio.Lock() as lock: print(lock)
            await 5
        asyncio.run(main())
    """,
    "yield": """
        def g():
            x = yield
            print("got", x)
            y = yield x, 1
            try: yield
            except ValueError: print("thrown")
            yield from (yield 3)
            return 7
        it = g()
        print(next(it), it.send("a"), it.send("b"), it.throw(ValueError), it.send([8, 9]), list(it))
        print([*(lambda: (yield))()])
        async def a():
            for i in range(2): yield i
        import asyncio
        async def main(): print([x async for x in a()])
        asyncio.run(main())
    """,
    "throw": """
        def g():
            x = yield 1
            while True:
                try:
                    x = (yield x), 1
                    print(x)
                except ValueError as error: print("thrown", repr(error), error.__context__)
                finally: print("finally")
        it = g()
        print(next(it), it.send(2), it.throw(ValueError("v")), it.throw(ValueError))
        it.close()
        it = g()
        next(it)
        def inner():
            try: yield
            except: return 5
        def outer():
            return (yield from inner()), (yield [(yield), (yield)])
        h = outer()
        next(h)
        print(h.throw(KeyError))
        try: h.throw(KeyError, None)
        except KeyError as error:
            trace = error.__traceback__.tb_next
            print(repr(error), trace.tb_lineno, trace.tb_next)
        def failing():
            (yield) + 1 / 0
        f = failing()
        next(f)
        try: next(f)
        except ZeroDivisionError: pass
        it.throw(KeyError("k"))
    """,
    "await is what it was": """
        import asyncio, types
        @types.coroutine
        def pause(value): return (yield value)
        class A:
            def __await__(self): return (yield 7)
        async def inner(): return await pause(1)
        async def outer(): return (await inner(), await A())
        c = outer()
        print(c.send(None), c.send("x"))
        try: c.send("y")
        except StopIteration as stop: print(stop.value)
        async def both(): return await A() + await A()
        c = both()
        c.send(None), c.send(1)
        try: c.send(2)
        except StopIteration as stop: print(stop.value)
        c = outer(); c.send(None); c.close()
        async def order():
            def e(x): print(x); return pause(x)
            print([await e(1), await e(2)], {await e(3): await e(4)})
            print([await e(x) for x in (5, 6)], [x async for x in numbers() if await e(x)])
        async def numbers():
            yield await pause(8)
        c = order()
        try:
            while True: c.send(c.send(None))
        except StopIteration: pass
    """,
    "async with": """
        import asyncio
        class C:
            def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
            async def __aenter__(self):
                await asyncio.sleep(0)
                print("enter", self.name)
                return self.name
            async def __aexit__(self, *info):
                await asyncio.sleep(0)
                print("exit", self.name, info[0], info[1])
                return self.swallow
            def __del__(self): print("del", self.name)
        class Odd:
            def __aenter__(self): return 5
            def __aexit__(self, *info): pass
        async def main():
            async with C("a") as a, C("b") as (b,): print(a, b)
            async with C("c", True): raise KeyError
            for each in (5, Odd()):
                try:
                    async with each: pass
                except TypeError as error: print(error)
            async with C("d"): 1 / 0
        asyncio.run(main())
    """,
    "calls": """
        print(len("abc"), max(1, 2, key=lambda x: -x), *[1], **{"sep": "-"})
        def len(x): return "mine"
        print(len(3), sorted(*[[2, 1]], **{"reverse": True}))
        import os.path
        print(os.path.basename("a/b"), isinstance(1, int))
        class C:
            def m(self, *a, **k): return super().__repr__()[:1], a, k
        print(C().m(1, k=2), str.upper("x"))
        isinstance(1)
    """,
    "private names": """
        class _C:
            __x = 1
            def f(self): return self.__x, self.__class__.__name__
            class __D:
                __y = 2
                def g(self): return self.__y
            def h(self): return self.__D().g()
        print(_C().f(), _C().h(), _C._C__x)
    """,
}


FAILURES = {
    "no attribute": "class C: pass\ndef f():\n    return C().wrong\nf()",
    "no attribute of nothing": "x = None\nx.y = 1",
    "delete what is not there": "class C: pass\ndel C().x",
    "no key": "d = {}\nd[\n  'k']",
    "no index": "l = []\nl[0] += 1",
    "not subscriptable": "x = None\nx[0]",
    "unhashable": "d = {}\nd[[]] = 1",
    "no context manager": "with 5 as x:\n    pass",
    "half a context manager": "class C:\n    def __enter__(self): pass\nwith C():\n    pass",
    "enter fails": "class C:\n    def __enter__(self): 1 / 0\n    def __exit__(self, *a): pass\nwith C():\n    pass",
    "exit fails": "class C:\n    def __enter__(self): pass\n    def __exit__(self, *a): 1 / 0\nwith C():\n    {}[1]",
    "nothing to raise": "raise",
    "chain": "try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('v') from e",
    "context": "try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('v')",
    "raised again": "def f():\n    try:\n        {}[1]\n    except KeyError:\n        raise\nf()",
    "class that cannot be made": "class E(Exception):\n    def __init__(self, x): pass\nraise E",
    "assertion": "def f(x):\n    assert (x and\n        not x), (\n        'message')\nf(1)",
    "assertion by itself": "x = 1\nassert x == 2 and x",
    "assertion of comparisons": "x = 1\nassert not (x < 2 or (x if x == 3 else\n    x > 4)), x",
    "message that fails": "x = 0\nassert x, (x +\n    x / x)",
    "arguments": "print(len(1, 2))",
    "not a mapping": "print(**5)",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_operators_do_what_they_did(name: str) -> None:
    assert compare(dedent(PROGRAMS[name]))


@pytest.mark.parametrize("name", FAILURES)
def test_failures_look_as_before(name: str) -> None:
    compare(FAILURES[name])


def only(operation: Operation, moment: Moment, *sources: From | Source, **more: Any) -> Any:
    """One tap on one operation."""
    names = more.pop("names", frozenset())
    return lambda log: (Rewrite(operation, tap(log, operation.value, moment, *sources, **more), names),)


OBJECT = "class C:\n    n = 0\nc = C()\n"


@pytest.mark.parametrize(
    ("source", "make", "expected"),
    [
        ("c.n = 5", only(Operation.SET, Moment.BEFORE, From.ARGUMENT), [5]),
        ("c.n", only(Operation.GET, Moment.RETURNING, From.RESULT), [0]),
        ("c.n += 2", only(Operation.SET, Moment.AFTER, From.ARGUMENT), [2]),
        ("c.n; c.m = 1; c.m", only(Operation.GET, Moment.RETURNING, From.RESULT, names=frozenset({"m"})), [1]),
        ("d = [7]\nd[0]", only(Operation.GET_ITEM, Moment.RETURNING, From.RESULT), [7]),
        ("d = [7]\nd[0] = 8", only(Operation.SET_ITEM, Moment.BEFORE, Source(From.ARGUMENT, 1)), [8]),
        ("d = [7]\ndel d[0]", only(Operation.DELETE_ITEM, Moment.AFTER, From.ARGUMENT), [0]),
        ("d = {}\nd[1] = 2", only(Operation.SET_ITEM, Moment.BEFORE, From.TARGET, target=list), []),
        ("d = {}\nd[1] = 2", only(Operation.SET_ITEM, Moment.BEFORE, From.ARGUMENT, target=dict), [1]),
        ("len('abc'); abs(1)", only(Operation.CALL, Moment.RETURNING, From.RESULT, names=frozenset({"len"})), [3]),
        (
            "import os.path as p, os.path\np.isabs('a'); os.path.isabs('b')",
            only(Operation.CALL, Moment.BEFORE, From.ARGUMENT, names=frozenset({"os.path.isabs"})),
            ["b"],
        ),
        ("def g():\n    yield 1\n    yield 2\nlist(g())", only(Operation.YIELD, Moment.BEFORE, From.ARGUMENT), [1, 2]),
        (
            "def g():\n    yield 1\ndef h():\n    yield 2\nlist(g()), list(h())",
            only(Operation.YIELD, Moment.BEFORE, From.ARGUMENT, names=frozenset({"h"})),
            [2],
        ),
        (
            "def g():\n    yield\ni = g()\nnext(i)\nnext(i, 0)",
            only(Operation.RESUME, Moment.BEFORE, From.ARGUMENT),
            [None],
        ),
        (
            "def g():\n    yield\ni = g()\nnext(i)\nnext(i, 0)",
            only(Operation.RESUME, Moment.BEFORE, From.TARGET),
            ["generator"],
        ),
    ],
)
def test_what_is_told(source: str, make: Any, expected: list[Any]) -> None:
    values = [value for (_, value) in compare(OBJECT + source, make)]
    assert [type(value).__name__ if type(value).__name__ == "generator" else value for value in values] == expected


def test_exceptions_are_told() -> None:
    source = (
        "try:\n    raise KeyError\nexcept KeyError:\n    pass\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    pass"
    )
    raised = compare(source, lambda log: everything(log, [Operation.RAISE, Operation.HANDLE]))
    assert (
        raised
        == [("raising", "KeyError")] * 2 + [("handling", "KeyError")] * 2 + [("handling", "ZeroDivisionError")] * 2
    )


def test_the_end_of_waiting_is_told() -> None:
    source = """
        import asyncio
        async def f(x):
            await asyncio.sleep(0)
            if x: raise KeyError
            return "value"
        async def main():
            await f(0)
            try: await f(1)
            except KeyError: pass
        asyncio.run(main())
    """
    told: list[Event] = []

    def make(log: list[Event]) -> tuple[Rewrite, ...]:
        return (
            Rewrite(Operation.AWAIT, tap(log, "returned", Moment.RETURNING, From.RESULT)),
            Rewrite(Operation.AWAIT, tap(log, "raised", Moment.RAISING, From.EXCEPTION)),
        )

    told = compare(dedent(source), make)
    assert names(told) == ["returned", "returned", "returned", "raised"]
    assert told[1][1] == "value"
    assert type(told[3][1]) is KeyError


def test_what_is_awaited_is_itself_while_only_its_result_is_told() -> None:
    source = """
        import types
        @types.coroutine
        def pause(): return (yield 1)
        async def inner(): return await pause()
        async def outer(): return await inner()
        c = outer()
        c.send(None)
        print(c.cr_await.__name__, c.cr_await.cr_await.__name__)
        try: c.send(5)
        except StopIteration as stop: print(stop.value)
    """

    def make(log: list[Event]) -> tuple[Rewrite, ...]:
        return (
            Rewrite(Operation.AWAIT, tap(log, "begun", Moment.BEFORE)),
            Rewrite(Operation.AWAIT, tap(log, "returned", Moment.RETURNING, From.RESULT)),
        )

    assert compare(dedent(source), make) == [("begun",), ("returned", 5)]


def test_managers_are_told() -> None:
    source = "import threading\nlock = threading.Lock()\nwith lock: print(lock.locked())"
    told = compare(source, lambda log: everything(log, [Operation.ENTER, Operation.EXIT]))
    assert told == [("enter", "lock")] * 2 + [("exit", "lock")] * 2


def test_asynchronous_loops_and_managers_are_told() -> None:
    source = """
        import asyncio
        async def numbers():
            yield 1
        class M:
            async def __aenter__(self): await asyncio.sleep(0)
            async def __aexit__(self, *info): await asyncio.sleep(0)
        async def main():
            async for x in numbers(): pass
            print([x async for x in numbers()])
            async with M(): pass
        asyncio.run(main())
    """
    asked = [Operation.ITER, Operation.NEXT, Operation.ENTER, Operation.EXIT]
    told = compare(dedent(source), lambda log: everything(log, asked))
    loop = [("iter", "async_generator")] * 2 + [("next", "async_generator")] * 4
    assert told == loop * 2 + [("enter", "M")] * 2 + [("exit", "M")] * 2


def test_the_ends_of_asynchronous_steps_are_told() -> None:
    source = """
        import asyncio
        async def numbers():
            yield 1
        class M:
            async def __aenter__(self): return 2
            async def __aexit__(self, *info): raise KeyError
        async def main():
            async for x in numbers(): pass
            try:
                async with M(): pass
            except KeyError: pass
        asyncio.run(main())
    """

    def make(log: list[Event]) -> tuple[Rewrite, ...]:
        return (
            Rewrite(Operation.NEXT, tap(log, "value", Moment.RETURNING, From.RESULT)),
            Rewrite(Operation.NEXT, tap(log, "end", Moment.RAISING, From.EXCEPTION)),
            Rewrite(Operation.ENTER, tap(log, "entered", Moment.RETURNING, From.RESULT)),
            Rewrite(Operation.EXIT, tap(log, "failed", Moment.RAISING, From.EXCEPTION)),
        )

    told = compare(dedent(source), make)
    assert names(told) == ["value", "end", "entered", "failed"]
    assert [told[0][1], type(told[1][1]), told[2][1], type(told[3][1])] == [1, StopAsyncIteration, 2, KeyError]


def test_an_exception_thrown_into_a_generator_makes_it_go_on() -> None:
    source = """
        def g():
            while True:
                try:
                    x = (yield) + int("x" if x else "1")
                except (KeyError, NameError): pass
        i = g()
        next(i)
        i.throw(KeyError)
        i.send(1)
        i.close()
    """
    told = compare(dedent(source), lambda log: everything(log, [Operation.RESUME]))
    assert told == [("resuming", "generator")] * 4
