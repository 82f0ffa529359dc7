"""An advice is the original to the program."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import operator
import pickle
import sys
import threading
import typing
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from events.advised import HAS_NEXT, RESULT, TARGET, Log, argument, failing, log, noting, sample, spec, tap

from mopsus import _core
from mopsus.events.weave.joinpoints import Moment

pytestmark = pytest.mark.interpreter
__all__ = ["log"]  # fixtures


def test_attributes_are_those_of_the_original() -> None:
    advice: Any = _core.Advice(sample, [])
    assert advice.__name__ == "sample"
    assert advice.__qualname__ == "sample"
    assert advice.__module__ == sample.__module__
    assert advice.__doc__ == "A sample."
    assert advice.__defaults__ == (2,)
    assert advice.__code__ is sample.__code__
    assert repr(advice) == repr(sample)
    assert dir(advice) == dir(sample)
    advice.note = 5
    try:
        assert sample.note == 5  # type: ignore[attr-defined]
    finally:
        del advice.note
    assert not hasattr(sample, "note")
    assert isinstance(advice, type(sample))
    assert isinstance(advice, Callable)  # type: ignore[arg-type]
    assert _core.advised(advice) is sample
    assert callable(advice)


def test_equality_and_hash_are_those_of_the_original() -> None:
    advice = _core.Advice(sample, [])
    assert advice == sample
    assert sample == advice
    assert advice == _core.Advice(sample, [])
    assert advice != failing
    assert {sample: 1}[advice] == 1
    assert {advice: 1}[sample] == 1


def test_inspection() -> None:
    async def coroutine() -> None: ...

    def generator() -> Any:
        yield 1

    assert inspect.signature(_core.Advice(sample, [])) == inspect.signature(sample)
    assert inspect.getsource(_core.Advice(sample, [])) == inspect.getsource(sample)
    assert inspect.isfunction(_core.Advice(sample, []))
    assert inspect.isroutine(_core.Advice(sample, []))
    assert inspect.iscoroutinefunction(_core.Advice(coroutine, []))
    assert inspect.isgeneratorfunction(_core.Advice(generator, []))
    assert inspect.getdoc(_core.Advice(sample, [])) == "A sample."
    assert typing.get_type_hints(_core.Advice(failing, [])) == {"value": int, "return": type(None)}
    assert inspect.signature(_core.Advice(sorted, [])) == inspect.signature(sorted)
    assert inspect.signature(_core.Advice(list.append, [], "method")) == inspect.signature(list.append)
    assert inspect.isbuiltin(_core.Advice(len, []))
    assert inspect.signature(functools.partial(_core.Advice(sample, []), 1)) == inspect.signature(
        functools.partial(sample, 1)
    )


def test_what_a_wrapper_wraps_is_still_found() -> None:
    @functools.wraps(sample)
    def wrapper(*args: Any) -> Any:
        return sample(*args)

    advice: Any = _core.Advice(wrapper, [])
    assert advice.__wrapped__ is sample
    assert inspect.unwrap(advice) is sample
    assert not hasattr(_core.Advice(sample, []), "__wrapped__")


def test_copies_and_pickles() -> None:
    advice = _core.Advice(sample, [])
    assert copy.copy(advice) is copy.deepcopy(advice) is advice
    builtin = _core.Advice(list.append, [], "method")
    assert pickle.loads(pickle.dumps(builtin)) == list.append
    module = sys.modules[sample.__module__]
    vars(module)["sample"] = advice
    try:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(advice, protocol)) is advice
    finally:
        vars(module)["sample"] = _core.advised(advice)


def test_binding() -> None:
    class Thing:
        number = _core.Advice(len, [])

        def method(self) -> Thing:
            return self

    Thing.method = _core.Advice(Thing.method, [], "method")  # type: ignore[method-assign]
    thing: Any = Thing()
    assert thing.method() is thing
    assert thing.method.__self__ is thing
    assert thing.method == thing.method
    assert vars(Thing)["method"].__get__(thing, Thing)() is thing
    assert thing.number([1]) == 1
    assert weakref.WeakMethod(thing.method)()() is thing  # type: ignore[misc]
    assert operator.methodcaller("method")(thing) is thing


def test_weak_references_and_garbage() -> None:
    class Thing:
        def method(self) -> None: ...

    holder: Any = Thing
    monitor = spec(HAS_NEXT).monitor()
    circle: list[Any] = []
    holder.method = _core.Advice(
        Thing.method, [tap(monitor.event("next"), TARGET, admits=lambda a, k: bool(circle))], "method"
    )
    circle.append(holder)
    dead = weakref.ref(holder.method)
    assert dead() is holder.method
    del holder, Thing
    circle = []
    gc.collect()
    assert dead() is None


def test_taps_may_be_replaced_while_they_are_served(log: Log) -> None:
    def emit(value: int) -> None:
        log.append((value,))
        _core.serve(advice, [])

    advice = _core.Advice(
        sample, [tap(emit, argument()), noting(log, argument()), noting(log, argument(), moment=Moment.AFTER)]
    )
    assert advice(1)[0] == 1
    assert advice(2)[0] == 2
    assert log == [(1,)] * 3
    assert _core.taps(advice) == ()


def test_recursion() -> None:
    count = 0

    def emit(depth: int) -> None:
        nonlocal count
        count += 1

    def dive(depth: int) -> int:
        return depth if depth == 0 else advised(depth - 1)

    advised: Any = _core.Advice(dive, [tap(emit, argument())])
    assert advised(600) == 0
    assert count == 601
    with pytest.raises(RecursionError):
        advised(10**6)


@pytest.mark.parametrize("stack", [8 << 20, 1 << 20])
def test_deep_recursion_needs_room_and_nothing_else(stack: int) -> None:
    def dive(depth: int) -> int:
        return depth if depth == 0 else advised(depth - 1)

    advised: Any = _core.Advice(dive, [])
    results: list[object] = []

    def run() -> None:
        results.append(advised(stack >> 12))
        try:
            advised(10**6)
        except RecursionError as error:
            results.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(stack)
    sys.setrecursionlimit(10**6)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    assert results[0] == 0
    assert isinstance(results[1], RecursionError)


def test_generators_and_coroutines_are_what_a_call_returns(log: Log) -> None:
    def generator() -> Any:
        yield 1

    advice = _core.Advice(generator, [noting(log, RESULT, moment=Moment.RETURNING)])
    made = advice()
    assert list(made) == [1]
    assert log == [(made,)]


def test_other_threads_are_watched_while_a_handler_runs() -> None:
    seen: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def emit(value: str) -> None:
        seen.append(value)
        if value == "slow":
            inside.set()
            assert go_on.wait(10)
            advice("nested")

    advice = _core.Advice(str, [tap(emit, argument())])
    thread = threading.Thread(target=advice, args=("slow",))
    thread.start()
    assert inside.wait(10)
    advice("quick")
    go_on.set()
    thread.join()
    assert seen == ["slow", "quick"]


def test_an_interrupt_while_a_signature_is_read_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked is then not known, but a Ctrl-C is not about that."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    advice = _core.Advice(len, [])
    monkeypatch.setattr(inspect, "signature", interrupted)

    def serve() -> None:
        _core.serve(advice, [noting([], argument())])
        assert advice

    with pytest.raises(KeyboardInterrupt):
        serve()
