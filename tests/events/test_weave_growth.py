"""Classes that come to be while a program is watched: what each costs, and that all of them may go again.

Work is counted in calls of Python functions, which is the same on every machine.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import weakref

import pytest
from events.woven import program, recorded

import mopsus

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures

FAMILY = """
class Base:
    def f(self):
        return 1

def more(count):
    made = []
    for _ in range(count):
        class Kind(Base):
            def f(self):
                return super().f() + 1
        made.append(Kind)
    return made

def other(count):
    made = []
    for _ in range(count):
        class Other:
            def g(self):
                return 1
        made.append(Other)
    return made
"""
SPECS = """
Made(x: Base) {
    event new after() returning(x) : new(Base+)
    event call before(x) : call(Base+.f) && target(x)
    ere : new call call
}
Ended(x: object) {
    event end before(x) : endObject(x)
    ere : end
}
"""
NAMED = """
Named(x: Kind) { event call before(x) : call(Kind.f) && target(x) ere : call call }
"""


OURS = os.path.join(os.path.dirname(mopsus.__file__), "")


def work(function, *arguments):
    """The calls of Python functions of ours that something costs."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(OURS)

    sys.setprofile(note)
    try:
        result = function(*arguments)
    finally:
        sys.setprofile(None)
    return result, count


@pytest.mark.parametrize("specs", [SPECS, NAMED])
def test_the_hundredth_class_costs_what_the_tenth_did(program, specs):
    module = importlib.import_module(program(FAMILY))
    with mopsus.weave(mopsus.parse(specs)):
        module.more(1)
        kept, first = work(module.more, 10)
        kept += module.more(100)
        again, later = work(module.more, 10)
        assert first > 0
        assert later <= first
        assert [kind().f() for kind in (kept[0], kept[-1], again[-1])] == [2, 2, 2]


def test_a_class_that_nothing_mentions_costs_next_to_nothing(program):
    module = importlib.import_module(program(FAMILY))
    with mopsus.weave(mopsus.parse(NAMED)):
        _, mentioned = work(module.more, 10)
        _, others = work(module.other, 10)
    assert others * 5 < mentioned


def test_a_type_that_comes_later_is_waited_for(program):
    module = importlib.import_module(program(FAMILY.replace("Kind", "LateKind")))
    with mopsus.weave(mopsus.parse(NAMED.replace("Kind", "LateKind"))) as woven:
        assert "not observed" in woven.explain()
        for kind in module.more(2):
            one = kind()
            one.f()
            one.f()
    assert len(woven.verdicts) == 2


def test_watched_classes_and_functions_die(program):
    module = importlib.import_module(program(FAMILY))
    with mopsus.weave(mopsus.parse(SPECS)):
        kinds = [weakref.ref(kind) for kind in module.more(5)]
        kept = module.more(1)[0]
        method = weakref.ref(kept.f)
        assert kept().f() == 2
        gc.collect()
        assert [kind() for kind in kinds] == [None] * 5
        del kept.f
        gc.collect()
        assert method() is None
        assert kept().f() == 1
    assert "f" not in vars(kept)
