"""Sites of the core, used directly: what they do, whom they tell, and that they keep nothing alive."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rewrite_support import Event, tap

import mopsus
from mopsus._core import Site
from mopsus.events.weave.joinpoints import From, Moment, Source, Tap

pytestmark = pytest.mark.interpreter


def loop(first: tuple[Tap, ...] = (), second: tuple[Tap, ...] = (), kind: str = "loop") -> Site:
    site = Site(kind)
    site.tap(first, second, ())
    return site


def test_without_taps_a_loop_gets_what_it_was_given() -> None:
    items = [1, 2]
    assert loop()(items) is items
    assert loop(kind="spread")(items) is items


def test_an_iterator_is_itself_unless_its_steps_are_told() -> None:
    log: list[Event] = []
    iterator = iter([1])
    assert loop((tap(log, "iter", Moment.AFTER, From.TARGET),))(iterator) is iterator
    told = loop((), (tap(log, "next", Moment.BEFORE, From.TARGET),))(iterator)
    assert told is not iterator
    assert (repr(told), next(told), log[-1]) == (repr(iterator), 1, ("next", iterator))
    assert told.__length_hint__() == 0


def test_what_a_walk_is_asked_goes_to_the_iterator() -> None:
    def generator() -> Iterator[int]:
        yield 1

    inner = generator()
    walk = loop((), (tap([], "next", Moment.BEFORE, From.TARGET),))(inner)
    assert walk.gi_frame is inner.gi_frame
    assert walk.send(None) == 1
    walk.close()
    with pytest.raises(AttributeError, match="generator"):
        walk.nothing  # noqa: B018 - asked for its failure


def test_the_end_of_an_iteration_is_raised_and_told() -> None:
    log: list[Event] = []
    walk = loop((), (tap(log, "end", Moment.RAISING, From.EXCEPTION),))(iter(()))
    assert list(walk) == []
    assert type(log[0][1]) is StopIteration


def test_types_choose() -> None:
    log: list[Event] = []
    site = loop((tap(log, "iter", Moment.RETURNING, From.TARGET, From.RESULT, types=(list, None)),))
    list(site((1, 2)))
    list(site([1]))
    assert [event[1] for event in log] == [[1]]


def test_steps_feed_monitors() -> None:
    (spec,) = mopsus.parse("Once(i) { event step(i) ere : step step step @match { } }").values()
    with spec.monitor() as monitor:
        site = loop((), (Tap("Once", "step", Moment.BEFORE, monitor.event("step"), (Source(From.TARGET),), (None,)),))
        assert [x for x in site([1, 2])] == [1, 2]  # noqa: C416 - a loop of its own
        assert monitor.stats().events == 3
        assert [verdict.category for verdict in monitor.verdicts] == ["match"]
        gc.collect()
        assert monitor.stats().alive == 0


def test_a_closed_monitor_disturbs_nobody() -> None:
    (spec,) = mopsus.parse("Once(i) { event step(i) ere : step @match { } }").values()
    with spec.monitor() as monitor:
        event = monitor.event("step")
    site = loop((), (Tap("Once", "step", Moment.BEFORE, event, (Source(From.TARGET),), (None,)),))
    assert list(site([1, 2])) == [1, 2]


def test_errors_of_taps_stay_out_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("ours")

    unraisable: list[Any] = []
    before, sys.unraisablehook = sys.unraisablehook, unraisable.append
    try:
        site = loop((), (Tap("S", "e", Moment.BEFORE, fail, (Source(From.TARGET),)),))
        assert list(site([1])) == [1]
    finally:
        sys.unraisablehook = before


def test_an_exception_of_a_step_is_the_programs() -> None:
    # Types were looked up while it was set, for which the interpreter cleared it: the loop ended without a word.
    class Failing:
        def __iter__(self) -> Failing:
            return self

        def __next__(self) -> object:
            Failing.changed = object()  # type: ignore[attr-defined]  # so that nothing is known of the class any more
            raise ValueError("of the program")

    told = tap([], "next", Moment.BEFORE, From.TARGET, types=((Failing,),))
    for kind in ("loop", "spread"):
        with pytest.raises(ValueError, match="of the program"):
            next(loop((), (told,), kind)(Failing()))


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.RETURNING])
def test_an_order_to_stop_is_obeyed(moment: Moment) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    site = loop((), (Tap("S", "e", moment, stop, (Source(From.TARGET),)),))
    with pytest.raises(KeyboardInterrupt):
        list(site([1]))


def test_taps_may_be_replaced_while_they_are_served() -> None:
    log: list[Event] = []
    site = Site("loop")

    def replace(_: object) -> None:
        site.tap((), (), ())
        log.append(("replaced",))

    site.tap((), (Tap("S", "e", Moment.BEFORE, replace, (Source(From.TARGET),)),), ())
    assert list(site([1, 2, 3])) == [1, 2, 3]
    assert log == [("replaced",)]


def test_code_of_taps_is_not_watched() -> None:
    log: list[Event] = []
    site = Site("loop")

    def emit(target: object) -> None:
        log.append(("next", len(list(site([1, 2, 3])))))

    site.tap((), (Tap("S", "e", Moment.BEFORE, emit, (Source(From.TARGET),)),), ())
    assert list(site([1])) == [1]
    assert log == [("next", 3)] * 2


def test_walks_keep_nothing_alive() -> None:
    class Thing:
        def __iter__(self) -> Iterator[int]:
            yield 1

    thing = Thing()
    gone = weakref.ref(thing)
    site = loop((), (tap([], "end", Moment.RAISING, From.EXCEPTION),))
    walk = site(thing)
    del thing
    del walk
    assert gone() is None


def test_a_walk_in_a_cycle_is_collected() -> None:
    class Items(list[Any]):
        pass

    items = Items()
    gone = weakref.ref(items)
    items.append(loop((), (tap([], "next", Moment.BEFORE, From.RESULT),))(items))
    del items
    gc.collect()
    assert gone() is None


def test_threads_loop_side_by_side() -> None:
    (spec,) = mopsus.parse("Once(i) { event step(i) ere : step step step step @match { } }").values()
    with spec.monitor() as monitor:
        site = loop((), (Tap("Once", "step", Moment.BEFORE, monitor.event("step"), (Source(From.TARGET),), (None,)),))
        sums: list[int] = []

        def work() -> None:
            sums.append(sum(x for _ in range(300) for x in site([1, 2])))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sums == [900] * 4
        assert monitor.stats().events == 4 * 300 * 3
        assert not monitor.verdicts


@pytest.mark.parametrize(
    ("kind", "use", "expected"),
    [
        ("attribute", lambda site, thing: site(thing), 5),
        ("attribute", lambda site, thing: site[thing], 5),
        ("with", lambda site, thing: site(thing), None),
        ("await", lambda site, thing: (site[thing], site())[1], None),
        ("async loop", lambda site, thing: site(thing), None),
        ("async with", lambda site, thing: site(thing), None),
        ("raise", lambda site, thing: site(thing), None),
    ],
)
def test_sites_pass_on_what_they_have_nothing_to_do_with(
    kind: str, use: Callable[[Any, Any], Any], expected: object
) -> None:
    class Thing:
        name = 5

    site = Site(kind, "name")
    site.tap((tap([], "e", Moment.AFTER, From.TARGET),), (), ())
    thing = Thing()
    assert use(site, thing) == (thing if expected is None else expected)


def test_around_may_take_the_place_of_an_operation() -> None:
    text = "Skip(t) { event get around(t) : get(Thing.name) && target(t) ere : get @match { __SKIP(7) } }"
    (spec,) = mopsus.parse(text).values()
    with spec.monitor() as monitor:

        class Thing:
            name = 5

        site = Site("attribute", "name")
        site.tap((Tap("Skip", "get", Moment.AROUND, monitor.event("get"), (Source(From.TARGET),), (None,)),), (), ())
        assert site(Thing()) == 7


def test_unknown_kinds_and_taps_are_refused() -> None:
    with pytest.raises(ValueError, match="no such kind"):
        Site("nothing")
    with pytest.raises((AttributeError, TypeError, ValueError)):
        Site("loop").tap((object(),), (), ())
    with pytest.raises(TypeError):
        Site("loop")["x"]
