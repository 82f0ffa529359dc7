"""Which events a woven program sends, pointcut by pointcut."""

from __future__ import annotations

import asyncio
import importlib
import threading

import pytest
from events.pool import POOL
from events.woven import Recorder, program, recorded

import mopsus

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures


def test_before_with_target(program):
    name = program(POOL)
    with Recorder("R(p)", f"event get before(p) : call({name}.Pool.acquire) && target(p)") as seen:
        pool = importlib.import_module(name).Pool()
        assert pool.acquire(1) == [1, True]
        assert pool.acquire(2, wait=False) == [2, False]
    pool.acquire(3)
    assert seen.seen == [("get", pool), ("get", pool)]


def test_classes_that_are_loaded_already(program):
    name = program(POOL)
    module = importlib.import_module(name)
    before = dict(vars(module.Pool))
    pool = module.Pool()
    with Recorder("R(p)", "event get before(p) : call(Pool.acquire) && target(p)") as seen:
        pool.acquire(1)
    assert seen.seen == [("get", pool)]
    assert dict(vars(module.Pool)) == before


def test_returning_raising_and_after(program):
    name = program(POOL)
    pattern = f"call({name}.Pool.acquire) && target(p)"
    events = [
        f"event got after(p) returning(r) : {pattern}",
        f"event failed after(p) raising(r) : {pattern}",
    ]
    with Recorder("R(p, r)", *events) as seen, Recorder("A(p)", f"event done after(p) : {pattern}") as after:
        pool = importlib.import_module(name).Pool()
        result = pool.acquire(1)
        with pytest.raises(KeyError) as caught:
            pool.acquire(None)
    assert seen.seen == [("got", pool, result), ("failed", pool, caught.value)]
    assert after.names == ["done", "done"]


def test_arguments_by_position_name_and_default(program):
    name = program(POOL)
    with (
        Recorder("R(k, w)", f"event get before(k, w) : call({name}.Pool.acquire) && args(k, w)") as seen,
        Recorder("N(w)", f"event get before(w) : call({name}.Pool.acquire) && args(wait=w, ..)") as named,
    ):
        pool = importlib.import_module(name).Pool()
        pool.acquire("a")
        pool.acquire("b", False)
        pool.acquire(wait=False, key="c")
    assert seen.seen == [("get", "a", True), ("get", "b", False), ("get", "c", False)]
    assert named.seen == [("get", True), ("get", False), ("get", False)]


def test_number_of_arguments(program):
    name = program(POOL)
    with Recorder("R(k)", f"event get before(k) : call({name}.Pool.acquire) && args(k)") as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire("a")
        pool.acquire("b", False)
    assert seen.seen == [("get", "a")]


def test_functions_and_their_aliases(program):
    name = program(POOL)
    user = program(f"from {name} import helper as h\ndef use():\n    return h(1)\n")
    with Recorder("R(x, r)", f"event help after(x) returning(r) : call({name}.helper) && args(x, ..)") as seen:
        module = importlib.import_module(user)
        assert module.use() == 3
        assert importlib.import_module(name).helper(5, y=1) == 6
    assert seen.seen == [("help", 1, 3), ("help", 5, 6)]


def test_class_and_static_methods(program):
    name = program(POOL)
    with Recorder(
        "R(s)",
        f"event make before(s) : call({name}.Pool.make) && args(s)",
        f"event limit before(s) : call({name}.Pool.limit) && args(s)",
    ) as seen:
        module = importlib.import_module(name)
        assert module.Pool.make(3).size == 3
        assert module.Pool.limit(4) == module.Pool().limit(4) == 4
    assert seen.seen == [("make", 3), ("limit", 4), ("limit", 4)]


def test_wildcards_leave_special_methods_out(program):
    name = program(POOL)
    with Recorder("R(p)", f"event any before(p) : call({name}.Pool.*e) && target(p)") as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire(1)
        pool.release(1)
    assert seen.names == ["any", "any"]


def test_exclusion(program):
    name = program(POOL)
    pointcut = f"call({name}.Pool.*) && !call(Pool.release) && target(p)"
    with Recorder("R(p)", f"event any before(p) : {pointcut}") as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire(1)
        pool.release(1)
    assert seen.names == ["any"]


def test_alternatives_with_different_bindings(program):
    name = program(POOL)
    pointcut = f"call({name}.Pool.acquire) && args(k, ..) || call({name}.Pool.release) && args(k)"
    with Recorder("R(k)", f"event use before(k) : {pointcut}") as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire("a")
        pool.release("b")
    assert seen.seen == [("use", "a"), ("use", "b")]


def test_types_of_parameters(program):
    name = program(POOL)
    with Recorder("R(k: str)", f"event get before(k) : call({name}.Pool.acquire) && args(k, ..)") as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire("a")
        pool.acquire(1)
    assert seen.seen == [("get", "a")]


def test_properties(program):
    name = program(POOL)
    with Recorder(
        "R(p, v)",
        f"event got after(p) returning(v) : get({name}.Pool.room) && target(p)",
        f"event put before(p, v) : set({name}.Pool.room) && target(p) && args(v)",
    ) as seen:
        pool = importlib.import_module(name).Pool(1)
        assert pool.room == 1
        pool.room = 7
        assert pool.size == 7
    assert seen.seen == [("got", pool, 1), ("put", pool, 7)]


def test_within_speaks_of_the_caller(program):
    name = program(POOL)
    event = "event get before(p) : call({0}.Pool.acquire) && target(p) && {1}"
    with (
        Recorder("R(p)", event.format(name, f"within({name}.inner)")) as inside,
        Recorder("O(p)", event.format(name, f"!within({name})")) as outside,
    ):
        module = importlib.import_module(name)
        pool = module.Pool()
        module.inner(pool)
        pool.acquire(1)
    assert len(inside.seen) == len(outside.seen) == 1


def test_control_flow(program):
    name = program(POOL)
    pointcut = f"call({name}.Pool.acquire) && target(p) && cflow(call({name}.outer))"
    with Recorder("R(p)", f"event get before(p) : {pointcut}") as seen:
        module = importlib.import_module(name)
        pool = module.Pool()
        module.inner(pool)
        module.outer(pool)
        pool.acquire(1)
    assert seen.names == ["get"]


def test_thread_and_its_name(program):
    name = program(POOL)
    with Recorder(
        "R(t)",
        f"event here before(t) : call({name}.Pool.acquire) && thread(t)",
        f'event worker before(t) : call({name}.Pool.acquire) && thread(t) && threadName("w")',
    ) as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire(1)
        thread = threading.Thread(target=pool.acquire, args=(1,), name="w")
        thread.start()
        thread.join()
    assert seen.seen == [("here", threading.current_thread()), ("here", thread), ("worker", thread)]


def test_task(program):
    name = program(POOL)
    with Recorder("R(t)", f"event here before(t) : call({name}.Pool.acquire) && task(t)") as seen:
        pool = importlib.import_module(name).Pool()

        async def main():
            pool.acquire(1)
            return asyncio.current_task()

        task = asyncio.run(main())
    assert seen.seen == [("here", task)]


def test_beginning_and_end_of_threads():
    with Recorder("R(t)", "event begin before(t) : startThread(t)", "event end after(t) : endThread(t)") as seen:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    assert seen.seen[:2] == [("begin", thread), ("end", thread)]


def test_end_of_the_program():
    with Recorder("R", "event end after() : endProgram()") as seen:
        assert not seen.seen
    assert seen.names == ["end"]


def test_end_of_objects(program):
    name = program(POOL)
    with Recorder(f"R(p: {name}.Pool)", "event end after(p) : endObject(p)") as seen:
        module = importlib.import_module(name)
        pool, special = module.Pool(), module.Special()
        del pool
        assert seen.names == ["end"]
        del special
        assert seen.names == ["end", "end"]
        seen.seen.clear()
    assert "__del__" not in vars(module.Pool)


def test_builtin_types():
    with Recorder(
        "R(c: list)", "event update after(c) : call(list.append | list.extend | list.pop) && target(c)"
    ) as seen:
        one, two = [], []
        one.append(1)
        two.extend((1, 2))
        one.pop()
    assert [id(c) for _, c in seen] == [id(one), id(two), id(one)]


def test_builtin_functions():
    with Recorder("R(x)", "event size before(x) : call(builtins.len) && args(x)") as seen:
        assert len("abc") == 3
    assert seen.seen == [("size", "abc")]


def test_execution_is_where_the_function_is(program):
    name = program(POOL)
    with Recorder("R(p)", f"event get before(p) : execution(Pool.acquire) && target(p) && within({name}.*)") as seen:
        pool = importlib.import_module(name).Pool()
        pool.acquire(1)
    assert seen.names == ["get"]


def test_around_can_leave_out(program):
    name = program(POOL)
    text = f"Guard(p) {{ event get around(p) : call({name}.Pool.acquire) && target(p) {{ __SKIP(42) }} }}"
    with mopsus.weave(mopsus.parse(text)):
        pool = importlib.import_module(name).Pool()
        assert pool.acquire(None) == 42
    with pytest.raises(KeyError):
        pool.acquire(None)


def test_module_functions_by_wildcard_are_those_defined_there(program):
    name = program("from os.path import join\ndef a():\n    return join('x', 'y')\ndef b():\n    return 1\n")
    with Recorder("R", f"event any before() : call({name}.*)") as seen:
        module = importlib.import_module(name)
        module.a()
        module.b()
    assert seen.names == ["any", "any"]


@pytest.mark.parametrize("modifier", ["", "unsynchronized "])
def test_around_is_decided_while_another_thread_is_being_handled(program, modifier):
    """What is left out must be known before it happens, however busy the monitor is."""
    name = program(
        "import threading\nbusy, go = threading.Event(), threading.Event()\n"
        "def slow():\n    return 0\ndef wait():\n    busy.set()\n    go.wait(5)\ndef guarded():\n    return 1\n"
    )
    text = f"""
    import {name}
    {modifier}Guard() {{
        event slow before() : call({name}.slow) {{ {name}.wait() }}
        event guarded around() : call({name}.guarded) {{ __SKIP(42) }}
    }}"""
    module = importlib.import_module(name)
    got = []
    with mopsus.weave(mopsus.parse(text)):
        first = threading.Thread(target=module.slow)
        first.start()
        assert module.busy.wait(5)
        second = threading.Thread(target=lambda: got.append(module.guarded()))
        second.start()
        second.join(0.05)
        module.go.set()
        second.join(5)
        first.join(5)
    assert got == [42]


def test_what_a_handler_leaves_out_is_its_own_threads(program):
    """While one handler runs, a verdict of another thread comes: its handler runs where it came from."""
    name = program(
        "import threading\nbusy, go = threading.Event(), threading.Event()\n"
        "def slow():\n    return 0\ndef wait():\n    busy.set()\n    go.wait(5)\ndef guarded():\n    return 1\n"
    )
    text = f"""
    import {name}
    Slow(x) {{
        event slow before(x) : call({name}.slow) && thread(x)
        event guarded around(x) : call({name}.guarded) && thread(x)
        fsm : start [ slow -> busy  guarded -> held ] busy [] held []
        @busy {{ {name}.wait() }}
        @held {{ __SKIP(42) }}
    }}"""
    module = importlib.import_module(name)
    got = []
    with mopsus.weave(mopsus.parse(text)):
        first = threading.Thread(target=lambda: got.append(module.slow()))
        first.start()
        assert module.busy.wait(5)
        second = threading.Thread(target=lambda: got.append(module.guarded()))
        second.start()
        second.join(5)
        module.go.set()
        first.join(5)
    assert got == [42, 0]


COROUTINES = """
    import asyncio

    def step(n):
        return n

    async def deeper(n):
        await asyncio.sleep(0)
        return step(n)

    async def outer(n):
        step(n)
        await asyncio.sleep(0)
        return await deeper(n)

    async def other(n):
        await asyncio.sleep(0)
        return step(-n)

    def numbers():
        yield step(10)

    async def both():
        made = outer(1)
        step(-5)
        await asyncio.gather(made, other(2))
        given = numbers()
        step(-6)
        next(given)
        step(-7)
"""


def test_control_flow_of_coroutines_and_generators_is_where_they_run(program):
    name = program(COROUTINES)
    module = importlib.import_module(name)
    flow = f"cflow(call({name}.outer | {name}.numbers))"
    with Recorder("R(n)", f"event e before(n) : call({name}.step) && args(n) && {flow}") as seen:
        asyncio.run(module.both())
        module.step(-8)
        assert seen.woven.explain().count("cflow:") == 1
    assert [n for _, n in seen] == [1, 1, 10]
