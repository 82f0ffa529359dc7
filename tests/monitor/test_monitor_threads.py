"""Events from many threads at once: every one counts, and no instance is stepped by two at a time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from mopsus.model import Event, Handler, Modifiers, Parameter, Property, Spec
from mopsus.monitor import Monitor

pytestmark = pytest.mark.interpreter

THREADS = 4
ROUNDS = 2000


class Thing:
    """Something to be used."""


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def thrice(modifiers: Modifiers) -> Spec:
    return Spec(
        "Thrice",
        (Parameter("x"),),
        modifiers,
        events=(Event("use", ("x",)),),
        properties=(Property("p", "ere", "use use use", (Handler("match"),)),),
    )


def in_threads(work: Callable[[int], object]) -> None:
    with ThreadPoolExecutor(THREADS) as executor:
        list(executor.map(work, range(THREADS)))


def test_threads_with_objects_of_their_own():
    with Monitor(thrice(Modifiers())) as monitor:

        def work(_: int) -> None:
            use = monitor.event("use")
            for _ in range(ROUNDS):
                thing = Thing()
                use(thing)
                monitor.emit("use", x=thing)
                use(thing)

        in_threads(work)
        stats = monitor.stats()
        assert stats.events == 3 * THREADS * ROUNDS
        assert stats.verdicts == {"match": THREADS * ROUNDS}
        assert stats.alive == 0


def test_threads_that_share_their_objects():
    things = [Thing() for _ in range(ROUNDS)]
    with Monitor(thrice(Modifiers())) as monitor:
        in_threads(lambda _: [monitor.emit("use", x=thing) for thing in things])
        # Four uses of each thing: the third one matches, whoever does it.
        assert monitor.stats().verdicts == {"match": ROUNDS}


def test_perthread_tells_threads_apart():
    things = [Thing() for _ in range(200)]
    together = threading.Barrier(THREADS)  # no thread may end before the last has begun
    with Monitor(thrice(Modifiers(perthread=True))) as monitor:

        def work(number: int) -> None:
            together.wait()
            for thing in things:
                for _ in range(3 if number == 0 else 2):
                    monitor.emit("use", x=thing)

        in_threads(work)
        assert monitor.stats().verdicts == {"match": 200}


def test_perthread_does_not_take_a_new_thread_for_one_that_has_ended():
    thing = Thing()
    with Monitor(thrice(Modifiers(perthread=True))) as monitor:
        for _ in range(20):  # the system gives a new thread the number of an old one
            thread = threading.Thread(target=lambda: [monitor.emit("use", x=thing) for _ in range(2)])
            thread.start()
            thread.join()
        assert monitor.verdicts == []
