"""An advice serves its taps: when, with what values, and what becomes of what they do."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
import typing
from typing import Any

import pytest
from events.advised import HAS_NEXT, RAISED, RESULT, TARGET, Log, argument, failing, log, noting, sample, spec, tap

from mopsus import _core
from mopsus.events.weave.joinpoints import From, Moment, Source

pytestmark = pytest.mark.interpreter
__all__ = ["log"]  # fixtures


# ---- when, and with what ----


def test_moments(log: Log) -> None:
    def act(value: int) -> int:
        log.append(("call", value))
        return -value

    advice = _core.Advice(
        act,
        [
            noting(log, argument(), RESULT, moment=Moment.RETURNING),
            noting(log, argument()),
            noting(log, argument(), moment=Moment.AFTER),
            noting(log, argument(), RAISED, moment=Moment.RAISING),
        ],
    )
    assert advice(4) == -4
    assert log == [(4,), ("call", 4), (4, -4), (4,)]


def test_exceptions_pass_untouched(log: Log) -> None:
    after = [noting(log, RAISED, moment=Moment.RAISING), noting(log, argument(), moment=Moment.AFTER)]
    advice = _core.Advice(failing, [*after, noting(log, RESULT, moment=Moment.RETURNING)])
    with pytest.raises(KeyError) as caught:
        advice(5)
    assert log == [(caught.value,), (5,)]
    assert log[0][0] is caught.value
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_exceptions_pass_untouched", "failing"]
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda f: f(1), (1, 2, 3, 9)),
        (lambda f: f(1, 5), (1, 5, 3, 9)),
        (lambda f: f(1, b=6), (1, 6, 3, 9)),
        (lambda f: f(1, c=7), (1, 2, 7, 9)),
        (lambda f: f(1, 5, 6, c=7, d=8), (1, 5, 7, 8)),
        (lambda f: f(*[1], **{"b": 4, "c": 5}), (1, 4, 5, 9)),
    ],
)
def test_arguments_by_position_name_and_default(log: Log, call: Any, expected: tuple[int, ...]) -> None:
    sources = argument(0), argument(1), argument(name="c"), argument(-1, "d")
    advice = _core.Advice(sample, [noting(log, *sources[:3])])
    assert call(advice) == call(sample)
    assert log == [expected[:3]]
    log.clear()
    _core.serve(advice, [noting(log, *sources)])
    call(advice)
    assert log == ([expected] if expected[3] != 9 else [])  # without a value there is no event


def test_arguments_of_methods_do_not_count_the_target(log: Log) -> None:
    class Thing:
        def method(self, a: int, b: int = 7) -> None: ...

    thing = Thing()
    advice = _core.Advice(Thing.method, [noting(log, TARGET, argument(0), argument(1))], "method")
    advice(thing, 1)
    advice(thing, a=2, b=3)
    assert log == [(thing, 1, 7), (thing, 2, 3)]


def test_arguments_of_builtin_functions(log: Log) -> None:
    advice = _core.Advice(sorted, [noting(log, argument(0), argument(name="reverse"))])
    assert advice([2, 1]) == [1, 2]
    assert advice([1, 2], reverse=True) == [2, 1]
    assert log == [([2, 1], False), ([1, 2], True)]


def test_a_function_has_no_target(log: Log) -> None:
    advice = _core.Advice(sample, [noting(log, TARGET)])
    advice(1)
    assert log == []


def test_the_current_thread_and_task(log: Log) -> None:
    advice = _core.Advice(sample, [noting(log, Source(From.THREAD)), noting(log, Source(From.TASK))])
    thread = threading.Thread(target=advice, args=(1,))
    thread.start()
    thread.join()
    assert log == [(thread,)]

    async def main() -> Any:
        advice(1)
        return asyncio.current_task()

    task = asyncio.run(main())
    assert log[1:] == [(threading.current_thread(),), (task,)]


def test_values_must_have_their_types(log: Log) -> None:
    advice = _core.Advice(
        sample, [noting(log, argument(0), types=(int,)), noting(log, argument(0), types=((str, list),))]
    )
    for value in (1, "a", [2], 3.0, True):
        advice(value)
    assert log == [(1,), ("a",), ([2],), (True,)]


def test_the_target_must_have_its_type(log: Log) -> None:
    class Base:
        def method(self) -> None: ...

    class Derived(Base): ...

    def log_of(**more: Any) -> list[Any]:
        log.clear()
        advice = _core.Advice(Base.method, [noting(log, TARGET, **more)], "method")
        for each in (Base(), Derived()):
            advice(each)
        return [type(target) for (target,) in log]

    assert log_of() == log_of(target=Base) == log_of(target=(Base, int)) == [Base, Derived]
    assert log_of(target=Derived) == log_of(target=Derived, exact=True) == [Derived]
    assert log_of(target=Base, exact=True) == log_of(target=(int, Base), exact=True) == [Base]
    assert log_of(target=int) == []


def test_types_that_decide_for_themselves(log: Log) -> None:
    class Meta(type):
        def __instancecheck__(cls, instance: object) -> bool:
            if instance == 3:
                raise RuntimeError("asked")
            return instance == 1

    class Odd(metaclass=Meta): ...

    advice = _core.Advice(sample, [noting(log, argument(0), types=(Odd,))])
    for value in (1, 2, 3, Odd()):
        advice(value)
    assert len(log) == 2


def test_only_the_entry(log: Log) -> None:
    class Base:
        def method(self) -> None: ...

        @classmethod
        def make(cls) -> None: ...

    class Derived(Base):
        def method(self) -> None:
            super().method()

    class Other(Base): ...

    Base.method = _core.Advice(Base.method, [noting(log, TARGET, entry=True)], "method")  # type: ignore[method-assign]
    for each in (Base(), Derived(), Other()):
        each.method()
    assert [type(target) for (target,) in log] == [Base, Other]
    log.clear()
    inner = vars(Base)["make"].__func__
    Base.make = classmethod(_core.Advice(inner, [noting(log, TARGET, entry=True)], "method"))  # type: ignore[assignment]
    Derived.make()
    assert log == [(Derived,)]


def test_no_more_arguments_than_asked_for(log: Log) -> None:
    advice = _core.Advice(sample, [noting(log, argument(0), at_most=1)])
    advice(1)
    advice(1, 2)
    advice(1, c=2)
    assert log == [(1,)]


def test_what_decides_sees_the_arguments(log: Log) -> None:
    seen: list[Any] = []

    def admits(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
        seen.append((arguments, named))
        return named.get("c") != 0

    class Thing:
        def method(self, *args: int, c: int = 1) -> None: ...

    thing = Thing()
    advice = _core.Advice(Thing.method, [noting(log, TARGET, admits=admits)], "method")
    advice(thing, 1, c=5)
    advice(thing, c=0)
    assert seen == [((thing, 1), {"c": 5}), ((thing,), {"c": 0})]
    assert log == [(thing,)]


def test_wrong_taps_are_refused() -> None:
    monitor = spec(HAS_NEXT).monitor()
    for wrong in (
        tap(monitor.event("next")),
        tap(monitor.event("next"), TARGET, TARGET),
        tap(print, TARGET, types=(int, str)),
        tap(print, Source(typing.cast(From, 17))),
        tap(print, moment=typing.cast(Moment, 9)),
    ):
        with pytest.raises(ValueError, match=r"tap|source"):
            _core.Advice(sample, [wrong])
    with pytest.raises(AttributeError):
        _core.Advice(sample, [object()])
    with pytest.raises(TypeError, match="cannot be called"):
        _core.Advice(3, [])
    with pytest.raises(ValueError, match="not of a thing"):
        _core.Advice(sample, [], "thing")
    with pytest.raises(TypeError, match="no advice"):
        _core.serve(sample, [])


# ---- monitors ----


def test_events_reach_the_monitor_with_their_place() -> None:
    class Walk:
        def hasnext(self) -> bool:
            return True

        def next(self) -> int:
            return 1

    monitor = spec(HAS_NEXT).monitor()
    for name in ("hasnext", "next"):
        advice = _core.Advice(vars(Walk)[name], [tap(monitor.event(name), TARGET)], "method")
        setattr(Walk, name, advice)
    walk = Walk()
    for _ in range(100):
        walk.hasnext()
        walk.next()
    assert not monitor.verdicts
    walk.next()
    line = sys._getframe().f_lineno - 1
    (verdict,) = monitor.verdicts
    assert verdict.location == f"{__file__}:{line}"
    assert monitor.stats().events == 201
    monitor.close()
    assert walk.next() == 1


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.RETURNING])
@pytest.mark.parametrize("history", [0, 32])
def test_the_short_way_and_the_long_way_agree(moment: Moment, history: int) -> None:
    class Walk:
        def __init__(self, number: int) -> None:
            self.number = number

        def hasnext(self) -> None: ...

        def next(self) -> None: ...

    def run(**more: Any) -> tuple[Any, ...]:
        monitor = spec(HAS_NEXT).monitor(history=history)
        call = {
            name: _core.Advice(vars(Walk)[name], [tap(monitor.event(name), TARGET, moment=moment, **more)], "method")
            for name in ("hasnext", "next")
        }
        walks = [Walk(number) for number in range(20)]
        for turn in range(30):
            for walk in walks:
                call["hasnext" if (turn * walk.number) % 3 else "next"](walk)
        stats = monitor.stats()
        return stats.events, stats.created, dict(stats.verdicts), dict(stats.seen)

    results = [run(), run(target=Walk), run(entry=False, admits=lambda arguments, named: True), run(types=(Walk,))]
    assert results == [results[0]] * 4
    assert results[0][2]["fail"] > 0


def test_the_death_of_objects_is_seen() -> None:
    class Walk:
        def next(self) -> None: ...

    monitor = spec("Use(i) { event next(i) ere : next next next }").monitor(history=0)
    Walk.next = _core.Advice(Walk.next, [tap(monitor.event("next"), TARGET)], "method")  # type: ignore[method-assign]
    for _ in range(50):
        walk = Walk()
        walk.next()
        walk.next()
        del walk
    assert monitor.stats().alive == 0
    assert monitor.stats().created == 50


def test_handlers_are_not_monitored_themselves() -> None:
    calls: list[int] = []

    class Thing:
        def act(self) -> None:
            calls.append(1)

    counting = spec("Count(t) { event act(t) { t.act() } ere : act act }")
    monitor = counting.monitor(on_verdict=lambda verdict: Thing().act())
    Thing.act = _core.Advice(Thing.act, [tap(monitor.event("act"), TARGET)], "method")  # type: ignore[method-assign]
    Thing().act()
    thing = Thing()
    thing.act()
    thing.act()
    stats = monitor.stats()
    assert stats.events == 3
    assert stats.faults == 0
    # Three calls, one of an action for each, one of the callback.
    assert len(calls) == 7


def test_errors_in_handlers_are_reported_and_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    monitor = spec('Bad(t) { event act(t) { raise ValueError("action") } ere : act act @match { 1 / 0 } }').monitor()
    advice = _core.Advice(sample, [tap(monitor.event("act"), argument())])
    with caplog.at_level(logging.ERROR):
        assert [advice(1)[0], advice(1)[0]] == [1, 1]
    assert monitor.stats().faults == 3
    assert "fault in a monitor of Bad" in caplog.text


def test_errors_in_what_decides_are_reported_and_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    monitor = spec("One(t) { event act(t) ere : act act }").monitor()

    def admits(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
        raise OSError("no")

    advice = _core.Advice(sample, [tap(monitor.event("act"), argument(), admits=admits)])
    assert advice(1)[0] == 1
    assert monitor.stats().faults == 1
    assert monitor.stats().events == 0


def test_errors_of_plain_callables_are_unraisable(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    def emit(value: int) -> None:
        raise OSError("no")

    assert _core.Advice(sample, [tap(emit, argument())])(1)[0] == 1
    assert [type(each.exc_value) for each in seen] == [OSError]


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.RETURNING, Moment.RAISING, Moment.AROUND])
def test_a_wish_to_stop_is_granted(moment: Moment) -> None:
    monitor = spec("Stop(t) { event act(t) { raise SystemExit(7) } ere : act act }").monitor()
    advice = _core.Advice(
        failing if moment is Moment.RAISING else sample, [tap(monitor.event("act"), argument(), moment=moment)]
    )
    with pytest.raises(SystemExit) as caught:
        advice(1)
    assert caught.value.code == 7


# ---- around ----


def test_around_may_leave_out_the_call(log: Log) -> None:
    calls: list[int] = []

    def act(value: int) -> int:
        calls.append(value)
        return value

    action = "if t < 0:\n __SKIP(t * 10)\nelif t == 0:\n __SKIP\nelif t == 1:\n __SKIP()\n"
    monitor = spec(f"Guard(t) {{ event act(t) {{\n{action}}} }}").monitor()
    advice = _core.Advice(
        act,
        [
            noting(log, argument()),
            tap(monitor.event("act"), argument(), moment=Moment.AROUND),
            noting(log, RESULT, moment=Moment.AFTER),
        ],
    )
    assert [advice(value) for value in (5, -2, 0, 1, 6)] == [5, -20, None, None, 6]
    assert calls == [5, 6]
    assert log == [(5,), (5,), (6,), (6,)]  # nobody hears of what was left out


def test_handlers_may_leave_out_the_call() -> None:
    monitor = spec('Twice(t) {\n event act(t)\n ere : act act\n @match { __SKIP("no") }\n}').monitor()
    advice = _core.Advice(len, [tap(monitor.event("act"), argument(), moment=Moment.AROUND)])
    value: list[int] = []
    assert [advice(value), advice(value), advice(value)] == [0, "no", 0]


def test_only_around_can_leave_out(log: Log) -> None:
    monitor = spec("Guard(t) {\n event act(t) {\n __SKIP(1)\n }\n}").monitor()
    advice = _core.Advice(sample, [tap(monitor.event("act"), argument())])
    assert advice(5)[0] == 5
    monitor.emit("act", t=1)
    assert _core.skip(1) is False
    assert advice(5)[0] == 5
