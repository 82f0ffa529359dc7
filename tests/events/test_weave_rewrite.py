"""Rewritten programs behave as written: results, output, exceptions, tracebacks, the order and time of everything."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from rewrite_support import compare, everything, names

from mopsus.events.weave.joinpoints import Operation
from mopsus.events.weave.rewrite import Plan, rewrite
from mopsus.events.weave.sites import Place

pytestmark = pytest.mark.interpreter

ITERATION = (Operation.ITER, Operation.NEXT)

LOOPS = {
    "for": """
        total = 0
        for x in [1, 2, 3]:
            total += x
        else:
            print("done")
        print(total)
    """,
    "break and continue": """
        for x in range(10):
            if x == 1: continue
            if x == 3: break
            print(x)
        else:
            print("never")
    """,
    "changed while iterated": """
        d = {1: 2}
        for k in d:
            d[k + 1] = 3
    """,
    "comprehensions": """
        print([x * y for x in [1, 2] for y in (3, 4) if x], {x for x in "ab" if x > "a"})
        print({k: v for k, v in {1: 2}.items()})
        print(list(x + y for x in [1, 2] for y in [x]))
        def lazy():
            print("first")
            return [1]
        g = (x for x in lazy())
        print("made")
        print(list(g))
    """,
    "unpacking": """
        a, b = "xy"
        [c, *d] = iter([1, 2, 3])
        (e, (f, g)), h = [(1, (2, 3)), 4]
        i = j, k = [5, 6]
        a, b = b, a
        print(a, b, c, d, e, f, g, h, i, j, k)
        print([*d, *{1: 2}, *"z"], (*d,), {*d}, *d)
        def f(*args, **kw): return args, kw
        print(f(0, *d, *range(2), x=1, **{"y": 2}))
    """,
    "generators are closed in time": """
        def g():
            try:
                yield 1
                yield 2
            finally:
                print("closed")
        for x in g():
            print(x)
            break
        print("after")
        a, = [x for x in g() if x == 1]
        def first():
            for x in g():
                return x
        print(first())
        try:
            for x in g():
                raise KeyError(x)
        except KeyError:
            print("caught")
    """,
    "yield from": """
        def inner():
            try:
                got = yield 1
                print("got", got)
                try:
                    yield 2
                except ValueError as error:
                    print("thrown", error)
                return "value"
            finally:
                print("inner closed")
        def outer():
            result = yield from inner()
            print("result", result)
            yield from [3, 4]
            return "end"
        g = outer()
        print(next(g), g.send("x"), g.throw(ValueError("v")))
        print(list(g))
        g = outer()
        next(g)
        g.close()
        def number():
            yield from [1]
        n = number()
        next(n)
        n.send(5)
    """,
    "value of StopIteration": """
        def g():
            yield 1
            return 7
        it = g()
        next(it)
        try:
            next(it)
        except StopIteration as stop:
            print(stop.value)
        print(next(it, "default"), next(iter([]), None))
        next(iter([]))
    """,
    "iter and next of one's own": """
        def iter(x): return "mine", x
        print(iter(5), (lambda next: next(3))(str))
    """,
    "iter with a sentinel": """
        values = [1, 2, 0, 3]
        for x in iter(lambda: values.pop(0), 0):
            print(x)
    """,
    "iterators that are not iterable": """
        class I:
            n = 0
            def __next__(self):
                self.n += 1
                if self.n > 2: raise StopIteration
                return self.n
        class C:
            def __iter__(self):
                print("iter")
                return I()
        for x in C(): print(x)
        print([*C()], [x for x in C()])
        a, b = C()
    """,
    "length hints": """
        class L:
            def __len__(self):
                print("len")
                return 2
            def __iter__(self):
                print("iter")
                return iter("ab")
        print([*L()], {*L()})
        a, b = L()
    """,
    "targets": """
        class L:
            def __init__(self, *items): self.items = items
            def __iter__(self):
                print("iter", len(self.items))
                for item in self.items:
                    print("next")
                    yield item
                print("end")
            def __len__(self):
                print("len")
                return len(self.items)
        class T:
            def __setattr__(self, name, value): print("set", name, value)
        t = T()
        for a, b in L(L(1, 2), L(3, 4)): print(a, b)
        for (a, [b, *c]), d in [(L(1, L(2, 3)), 4)]: print(a, b, c, d)
        print([(a, c) for a, (b, c) in L(L(1, L(2, 3)))], {x: y for x, y in [L(1, 2)]})
        a, (b, (c, d)), e = L(1, L(2, L(3, 4)), 5)
        (a, b), (c, d) = L(1, 2), L(3, 4)
        t.x = a, b = t.y = c, *d = L(1, 2)
        (a, b) = [c, d] = L(L(5), L(6))
        a, *b, (c, d) = L(1, 2, 3, L(4, 5))
        t.x, (t.y, t.z) = 1, L(2, 3)
        for t.x, (t.y, b) in [L(1, L(2, 3))]: pass
        for [] in [()]: pass
        for a, in ["x"]: print(a)
        a = b = L(1)
    """,
    "targets of with": """
        class M:
            def __init__(self, value): self.value = value
            def __enter__(self): return self.value
            def __exit__(self, *info): print("exit", info[0])
        with M((1, (2, 3))) as (a, (b, c)), M([4]) as [d]: print(a, b, c, d)
        try:
            with M((1,)) as (a, b): pass
        except ValueError as error: print(error)
        with M(5) as (a, b): pass
    """,
    "iterators given to C code": """
        import itertools
        from itertools import chain as link, islice
        it = iter([1, 2, 3])
        print(sum(it), list(it), type(it), it.__length_hint__())
        def gen():
            yield "a"
            yield "b"
        print("".join(gen()), sorted(gen()), dict(zip(gen(), iter([1, 2]))), max(x for x in (3, 4)))
        print(list(map(str, iter([1]))), list(link(gen(), "c")))
        print(list(islice(itertools.count(), 2)), *link.from_iterable(["x"]))
        print([*reversed([1, 2])], tuple(enumerate("x")), list(filter(None, [0, 1])))
        class I:
            n = 0
            def __iter__(self): return self
            def __next__(self):
                self.n += 1
                if self.n > 3: raise StopIteration
                return self.n
        print(sum(iter(I())), 2 in iter(I()), any(x > 1 for x in I()))
        def fails():
            yield 1
            raise KeyError("k")
        try: list(fails())
        except KeyError as error: print(error)
        import copy, pickle
        it = iter([1, 2, 3]); next(it)
        print(list(copy.copy(it)), list(pickle.loads(pickle.dumps(it))), list(it))
        map(5)
    """,
    "yield from is what it was": """
        import sys
        def names():
            frame, found = sys._getframe(1), []
            while frame.f_code.co_name != "<module>":
                found.append(frame.f_code.co_name)
                frame = frame.f_back
            return found
        def inner():
            while True:
                try: got = yield names()
                except KeyError: print("thrown", names())
                else: print("sent", got)
        def outer():
            return (yield from inner())
        g = outer()
        print(next(g), g.send(1), g.throw(KeyError), g.gi_yieldfrom.gi_code.co_name, g.gi_running)
        g.close()
        class I:
            def __iter__(self): print("iter"); return self
            def __next__(self): return 1
            def send(self, value): return value
            def throw(self, *error): print("throw", error); raise StopIteration("value")
        def other():
            print((yield from I()))
            yield from [5]
        g = other()
        print(next(g), g.send(2), type(g.gi_yieldfrom).__name__)
        print(g.throw(KeyError(1)), type(g.gi_yieldfrom).__name__)
        def empty(): return (yield from ())
        print(list(empty()))
        async def c(): pass
        def wrong():
            coroutine = c()
            try: yield from coroutine
            finally: coroutine.close()
        list(wrong())
    """,
    "async for": """
        import asyncio
        async def numbers():
            for i in range(3):
                yield i
        async def main():
            async for x in numbers():
                print(x)
            print([x async for x in numbers() if x], [y for y in [x async for x in numbers()]])
        asyncio.run(main())
    """,
    "class bodies and scopes": """
        class C:
            items = [1, 2]
            doubled = [x * 2 for x in items]
            for y in items:
                last = y
        print(C.doubled, C.last, sorted(k for k in vars(C) if not k.startswith("__")))
        print(sorted(k for k in dict(globals()) if not k.startswith("__")))
        def f():
            for z in [1]:
                pass
            return locals()
        print(f())
    """,
    "annotations and docstrings": """
        from __future__ import annotations
        def f(x: list[int], *y: tuple[str, ...]) -> dict[str, int]:
            "doc"
            z: list[int] = [1]
            return {}
        print(f.__annotations__, f.__doc__)
    """,
    "matching": """
        import ast
        def f(x):
            match x:
                case [a, *rest]: return "list", a, rest
                case ast.Load: return "no"
                case {"k": v, **more}: return v, more
                case _: return None
        print(f([1, 2]), f({"k": 1, "l": 2}), f(3))
    """,
}

FAILURES = {
    "not iterable": "def f():\n    for x in 5:\n        pass\nf()",
    "on another line": "def f(x):\n    for y in (\n        x\n    ):\n        pass\nf(None)",
    "comprehension": "def f():\n    return [\n        x\n        for x in None\n    ]\nf()",
    "nested comprehension": "print([x for y in [1] for x in y])",
    "generator expression": "(x for x in 5)",
    "iter raises": "class A:\n    def __iter__(self):\n        raise ValueError('no')\nfor x in A(): pass",
    "iter returns nonsense": "class A:\n    def __iter__(self):\n        return 5\na, b = A()",
    "next raises": "class A:\n    def __iter__(self): return self\n    def __next__(self): raise KeyError(1)\n[*A()]",
    "too many": "a, b = [1, 2, 3]",
    "too many of an iterator": "a, b = iter([1, 2, 3])",
    "too few": "a, b = {1}",
    "too few with a star": "a, *b, c = [1]",
    "not unpackable": "a, b = 5",
    "not spreadable": "print(1, *5)",
    "not spreadable in a list": "x = [1,\n  *5]",
    "not delegable": "def g():\n    yield from 5\nlist(g())",
    "iter of nothing": "iter()",
    "next of a number": "next(5)",
    "zero division inside": "def g():\n    for x in (y / 0 for y in [1]):\n        yield x\nprint(list(g()))",
}


@pytest.mark.parametrize("name", LOOPS)
def test_iteration_goes_on_as_before(name: str) -> None:
    assert compare(dedent(LOOPS[name]), lambda log: everything(log, ITERATION)) or name in UNTOUCHED


UNTOUCHED = {"annotations and docstrings", "iter and next of one's own", "matching"}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_look_as_before(name: str) -> None:
    compare(FAILURES[name], lambda log: everything(log, ITERATION))


def test_what_is_not_asked_for_is_not_touched() -> None:
    source = "for x in y:\n    a.b = c[d]\n    with e: raise f\n"
    tree = ast.parse(source)
    assert not rewrite(tree, Plan({Operation.AWAIT: frozenset()}))
    assert ast.dump(tree, include_attributes=True) == ast.dump(ast.parse(source), include_attributes=True)


def test_events_of_a_loop() -> None:
    events = compare("for x in [1]: pass", lambda log: everything(log, ITERATION))
    assert names(events) == ["iter", "iter", "next", "next", "next", "next"]


def test_definitions_are_decorated_innermost() -> None:
    source = "@a\ndef f(): pass\nif 1:\n    class C:\n        def f(self): pass\n"
    tree = ast.parse(source)
    assert rewrite(tree, Plan(definitions=frozenset({"f"}))) == (Place("defined"),)
    chosen = ast.unparse(tree.body[0]).splitlines()
    assert chosen[0] == "@a"
    assert chosen[1] != ""
    assert chosen[2:] == ["def f():", "    pass"]
    assert ast.unparse(tree.body[1]) == ast.unparse(ast.parse(source).body[1])
