"""Loops and unpacking that no spec is about run as they are, until one is about them."""

from __future__ import annotations

import importlib

import pytest
from events.woven import program  # noqa: F401 - a fixture

import mopsus
from mopsus.spec import parse

pytestmark = pytest.mark.interpreter

LOOPS = """
def loops():
    total = 0
    for n in range(3):
        total += n
    for n in [1, 2]:
        total += n
    for a, b in zip([1], [2]):
        total += a * b
    for a, b in [(1, 2)]:
        total += a * b
    for a, (b, c) in {1: (2, 3)}.items():
        total += a * b * c
    a, b = pair = (1, 2)
    first, *rest = pair
    return total + a + b + sum(rest) + sum([*pair])
"""
TOTAL = 3 + 3 + 2 + 2 + 6 + 3 + 2 + 3


def spec(header, event):
    return next(iter(parse(f"{header} {{\n event e {event}\n ere : e+\n}}").values()))


def told(woven):
    """How many events there were so far."""
    (monitor,) = woven.monitors.values()
    return monitor.stats().events


def test_only_steps_of_the_type_that_is_asked_for_are_told(program):  # noqa: F811
    with mopsus.weave(spec("S(i: list_iterator)", "before(i) : next(i)")) as woven:
        assert importlib.import_module(program(LOOPS)).loops() == TOTAL
        assert told(woven) == 3 + 2  # the steps of the two loops over lists


def test_unpacking_a_tuple_is_told_if_somebody_asks(program):  # noqa: F811
    with mopsus.weave(spec("S(c: tuple)", "before(c) : iter(c)")) as woven:
        assert importlib.import_module(program(LOOPS)).loops() == TOTAL
        assert told(woven) == 7


def test_who_asks_later_is_told_from_then_on(program):  # noqa: F811
    with mopsus.weave(spec("L(i: list_iterator)", "before(i) : next(i)"), spec("C(c: list)", "before(c) : iter(c)")):
        module = importlib.import_module(program(LOOPS))
        assert module.loops() == TOTAL
        with mopsus.weave(spec("T(c: tuple)", "before(c) : iter(c)")) as tuples:
            assert module.loops() == TOTAL
            assert told(tuples) == 7
        with mopsus.weave(spec("T(i: tuple_iterator)", "before(i) : next(i)")) as steps:
            assert module.loops() == TOTAL
            assert told(steps) > 14
        assert module.loops() == TOTAL


def test_a_class_that_comes_later_is_asked_for_as_well(program):  # noqa: F811
    name = program(
        """
        def go(values):
            return [value for value in values]
        """
    )
    with mopsus.weave(spec("S(i: Walker+)", "before(i) : next(i)")) as woven:
        module = importlib.import_module(name)

        class Steps:
            def __init__(self):
                self.left = 2

            def __iter__(self):
                return self

            def __next__(self):
                self.left -= 1
                if self.left < 0:
                    raise StopIteration
                return self.left

        assert module.go(Steps()) == [1, 0]
        assert told(woven) == 0

        class Walker(Steps):
            pass

        assert module.go(Walker()) == [1, 0]
        assert told(woven) == 3


def test_iterations_go_on_as_without_specs(program):  # noqa: F811
    name = program(
        """
        def broken():
            yield 1, 2
            raise KeyError("x")

        def go():
            found = []
            try:
                for a, b in broken():
                    found.append((a, b))
            except KeyError as error:
                found.append(error.args)
            try:
                a, b = (1, 2, 3)
            except ValueError as error:
                found.append(str(error))
            try:
                for a, b in [(1,)]:
                    pass
            except ValueError as error:
                found.append(str(error))
            return found
        """
    )
    with mopsus.weave(spec("S(i: set_iterator)", "before(i) : next(i)")) as woven:
        assert importlib.import_module(name).go() == [
            (1, 2),
            ("x",),
            "too many values to unpack (expected 2)",
            "not enough values to unpack (expected 2, got 1)",
        ]
        assert told(woven) == 0
