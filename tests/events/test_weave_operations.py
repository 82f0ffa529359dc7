"""Events of operations that no function stands for: loops, items, attributes, blocks, exceptions, generators."""

from __future__ import annotations

import importlib

import pytest
from events.woven import Recorder, program, recorded

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures


def load(name):
    return importlib.import_module(name)


def test_loops_in_all_their_forms(program):
    name = program("""
        def run(items):
            for x in items:
                pass
            [x for x in items]
            a, *b = items
            print(*items, file=__import__("io").StringIO())
            it = iter(items)
            next(it)
    """)
    with Recorder(
        "R(c: list, i)",
        "event create after(c) returning(i) : iter(c)",
        "event called after(c) returning(i) : call(builtins.iter) && args(c)",
    ) as seen:
        items = [1, 2]
        load(name).run(items)
    assert seen.names.count("create") == seen.names.count("called") == 5
    assert all(c is items for _, c, _ in seen)


def test_next_before_and_after(program):
    name = program("def run(items):\n    return [x for x in items]\n")
    with (
        Recorder("R(i)", "event ask before(i) : next(i)") as before,
        Recorder("A(i, v)", "event got after(i) returning(v) : next(i)") as after,
    ):
        assert load(name).run((7, 8)) == [7, 8]
    assert len(before.seen) == 3
    assert [value for _, _, value in after] == [7, 8]


def test_items(program):
    name = program("""
        def run(d):
            d["a"] = 1
            x = d["a"]
            del d["a"]
            return x
        class Own(dict):
            def __getitem__(self, key):
                return super().__getitem__(key)
    """)
    events = [
        "event put before(d, k) : setitem(dict) && target(d) && args(k, _)",
        "event get after(d, k) : getitem(dict) && target(d) && args(k)",
        "event gone before(d, k) : delitem(dict) && target(d) && args(k)",
    ]
    with (
        Recorder("R(d: dict, k)", *events) as seen,
        Recorder("O(o)", f"event own before(o) : getitem({name}.Own) && target(o)") as own,
    ):
        module = load(name)
        plain = {}
        assert module.run(plain) == 1
        assert module.run(module.Own()) == 1
    assert [(event, k) for event, d, k in seen if d is plain] == [("put", "a"), ("get", "a"), ("gone", "a")]
    assert own.names == ["own"]


def test_attributes_of_instances(program):
    name = program("""
        class Account:
            def __init__(self):
                self.balance = 0
        class Other:
            balance = 1
        def run(account):
            account.balance = 5
            account.balance += 1
            x = account.balance
            del account.balance
            return x
    """)
    events = [
        f"event put before(a, v) : set({name}.Account.balance) && target(a) && args(v)",
        f"event got after(a) returning(v) : get({name}.Account.balance) && target(a)",
    ]
    with (
        Recorder("R(a, v)", *events) as seen,
        Recorder("D(a)", f"event gone before(a) : delete({name}.Account.balance) && target(a)") as gone,
    ):
        module = load(name)
        account = module.Account()
        assert module.run(account) == 6
        other = module.Other()
        other.balance = 3
        assert module.run(other) == 6
    assert [(event, v) for event, a, v in seen] == [
        ("put", 0),
        ("put", 5),
        ("got", 5),
        ("put", 6),
        ("got", 6),
    ]
    assert gone.seen == [("gone", account)]


def test_slots(program):
    name = program("class P:\n    __slots__ = ('x',)\ndef run(p):\n    p.x = 1\n    return p.x\n")
    with Recorder(
        "R(p, v)",
        f"event put before(p, v) : set({name}.P.x) && target(p) && args(v)",
        f"event got after(p) returning(v) : get({name}.P.x) && target(p)",
    ) as seen:
        module = load(name)
        assert module.run(module.P()) == 1
    assert [(event, v) for event, _, v in seen] == [("put", 1), ("got", 1)]


def test_blocks(program):
    name = program("""
        class Manager:
            def __enter__(self):
                return 5
            def __exit__(self, *error):
                return True
        def run(manager):
            with manager as value:
                raise ValueError(value)
            return value
    """)
    with (
        Recorder("R(m)", "event enter before(m) : enter(m)", "event exit before(m) : exit(m)") as seen,
        Recorder("T(v)", f"event entered after() returning(v) : enter({name}.Manager)") as typed,
    ):
        module = load(name)
        manager = module.Manager()
        assert module.run(manager) == 5
    assert seen.seen == [("enter", manager), ("exit", manager)]
    assert typed.seen == [("entered", 5)]


def test_exceptions(program):
    name = program("""
        def run(error):
            try:
                raise error
            except (KeyError, ValueError) as caught:
                return caught
    """)
    with (
        Recorder("R(e)", "event raised before(e) : raising(e)", "event caught before(e) : handling(e)") as seen,
        Recorder("V", "event raised before() : raising(ValueError)") as typed,
    ):
        module = load(name)
        one, two = KeyError(1), ValueError(2)
        module.run(one)
        module.run(two)
    assert seen.seen == [("raised", one), ("caught", one), ("raised", two), ("caught", two)]
    assert typed.names == ["raised"]


def test_awaiting(program):
    name = program("""
        import asyncio
        async def inner():
            return 3
        async def run():
            return await inner()
        def main():
            return asyncio.run(run())
    """)
    with Recorder("R(v)", "event done after() returning(v) : awaiting(_)") as seen:
        assert load(name).main() == 3
    assert ("done", 3) in seen.seen


def test_generators(program):
    name = program("""
        def numbers():
            yield 1
            yield 2
        def others():
            yield 3
        def run():
            return list(numbers()) + list(others())
    """)
    with Recorder(
        "R", f"event gives before() : yielding({name}.numbers)", "event goes before() : resuming(numbers)"
    ) as seen:
        assert load(name).run() == [1, 2, 3]
    assert seen.names == ["gives", "goes", "gives", "goes"]


def test_new_objects_of_builtin_types(program):
    name = program("def run():\n    return list((1, 2)), dict(a=1)\n")
    with Recorder("R(x)", "event made after() returning(x) : new(list)") as seen:
        made, _ = load(name).run()
    assert [id(x) for _, x in seen] == [id(made)]


def test_within_chooses_the_modules_that_are_rewritten(program):
    first = program("def run(x):\n    for _ in x:\n        pass\n")
    second = program("def run(x):\n    for _ in x:\n        pass\ndef other(x):\n    for _ in x:\n        pass\n")
    with Recorder("R(c)", f"event loop before(c) : iter(c) && within({second}.run)") as seen:
        load(first).run([1])
        load(second).run([2])
        load(second).other([3])
    assert [c for _, c in seen] == [[2]]


def test_nothing_is_told_after_the_end(program):
    name = program("def run(x):\n    for _ in x:\n        pass\n")
    with Recorder("R(c)", "event loop before(c) : iter(c)") as seen:
        module = load(name)
    module.run([1])
    assert not seen.seen
    with Recorder("R(c)", "event loop before(c) : iter(c)") as again:
        module.run([1])
    assert again.names == ["loop"]


@pytest.mark.parametrize("kind", ["iter(c)", "next(c)"])
def test_type_of_the_subject(program, kind):
    name = program("def run(x):\n    for _ in x:\n        pass\n")
    with Recorder("R(c: set | set_iterator)", f"event loop before(c) : {kind}") as seen:
        load(name).run([1])
        load(name).run({1})
    assert {type(c).__name__ for _, c in seen} <= {"set", "set_iterator"}
    assert seen.seen
