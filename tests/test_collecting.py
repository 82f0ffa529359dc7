"""Commands look for garbage seldom; what they run does as often as ever."""

import gc

from mopsus import collecting


def test_what_was_before_comes_back():
    before = gc.get_threshold()
    collecting.seldom()
    collecting.seldom()
    assert gc.get_threshold()[0] == collecting.OBJECTS
    collecting.as_before()
    assert gc.get_threshold() == before
    collecting.as_before()
    assert gc.get_threshold() == before
