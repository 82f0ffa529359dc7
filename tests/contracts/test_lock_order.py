"""Which orders of locks are dangerous: asked in two threads that live side by side, one step after the other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mopsus.contracts.lock_order import LockOrder

pytestmark = pytest.mark.interpreter


class Locks:
    """A step of a thread is what it takes (`a`, `b`, `c`) or releases (`-a`)."""

    def __init__(self):
        self.order = LockOrder()
        self.locks = {name: threading.RLock() for name in "abc"}
        self.threads = [ThreadPoolExecutor(max_workers=1), ThreadPoolExecutor(max_workers=1)]

    def do(self, thread, steps):
        return self.threads[thread].submit(lambda: [self._step(each) for each in steps.split()]).result()

    def _step(self, step):
        lock = self.locks[step[-1]]
        return self.order.releases(lock) if step.startswith("-") else self.order.asks(lock)


@pytest.fixture
def locks():
    locks = Locks()
    yield locks
    for thread in locks.threads:
        thread.shutdown()


@pytest.mark.parametrize(
    ("first", "second", "inverted"),
    [
        ("a b -b -a", "b a", True),
        ("a b -a -b", "b a", True),  # released in another order
        ("a b -b -a", "a b", False),
        ("a b -b -a", "b -b a", False),
        ("a -a b -b", "b a", False),
        ("c a b -b -a -c", "c b a", False),  # both held c
        ("c a b -b -a -c", "b a", True),
        ("a b c -c -b -a", "c a", True),
        ("a b a -a -b -a", "b a", True),  # a was held already when it was taken again
        ("b a b -b -a -b", "b a", False),
    ],
)
def test_two_orders_in_two_threads_are_told(locks, first, second, inverted):
    locks.do(0, first)
    assert (True in locks.do(1, second)) == inverted


def test_one_thread_may_change_its_mind(locks):
    assert True not in locks.do(0, "a b -b -a b a")


def test_a_thread_that_has_ended_waits_for_nobody(locks):
    locks.do(0, "a b -b -a")
    locks.threads[0].shutdown()
    assert True not in locks.do(1, "b a")


def test_what_was_taken_unseen_may_be_released(locks):
    assert True not in locks.do(0, "-a a b -a -a -b")
    assert True in locks.do(1, "b a")
