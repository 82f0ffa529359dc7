"""Syntax trees of sources."""

import ast
import gc

import pytest

from mopsus.syntax import syntax_tree


class Parses:
    """Garbage, to be found by the collector, that parses something on its way out."""

    parsed = 0

    def __init__(self):
        self.itself = self

    def __del__(self):
        ast.parse("f(a)(b)")
        Parses.parsed += 1


@pytest.fixture
def hasty_collector():
    before = gc.get_threshold()
    gc.collect()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("hasty_collector")
def test_something_else_may_be_parsed_meanwhile():
    Parses()
    gc.set_threshold(300)  # less than there are nodes, so that it is while they are made
    tree = syntax_tree(b"a = [b, [c, (d, e)]]\n" * 100)
    assert len(tree.body) == 100
    assert Parses.parsed == 1


def test_wrong_sources_are_told():
    with pytest.raises(SyntaxError, match="invalid syntax"):
        syntax_tree(b"a b")
