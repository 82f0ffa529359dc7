"""Ctrl-C comes between two batches, never inside one, unless it comes twice."""

import signal

import pytest

from mopsus.events.trace.interrupts import Interrupts


def work(done, *, inside, outside):
    """So many interrupts while deferred, and so many after; `done` says how far it came."""
    with Interrupts() as interrupts:
        with interrupts.deferred():
            for _ in range(inside):
                signal.raise_signal(signal.SIGINT)
            done.append("inside")
        for _ in range(outside):
            signal.raise_signal(signal.SIGINT)
        done.append("outside")


@pytest.mark.parametrize(("inside", "outside", "reached"), [(1, 0, ["inside"]), (2, 0, []), (0, 1, ["inside"])])
def test_interrupts(inside, outside, reached):
    done = []
    with pytest.raises(KeyboardInterrupt):
        work(done, inside=inside, outside=outside)
    assert done == reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_no_interrupt():
    done = []
    work(done, inside=0, outside=0)
    assert done == ["inside", "outside"]
