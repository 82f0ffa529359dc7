"""Random programs made of everything that is rewritten show the same, rewritten and not."""

from __future__ import annotations

import random
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewrite_support import compare

pytestmark = pytest.mark.interpreter

PRELUDE = """
budget = 60
def tick():
    global budget
    budget -= 1
    if budget < 0: raise RuntimeError("enough")
class O:
    x = 1
    def __init__(self, name=0): self.name = name
    def __repr__(self): return f"O({self.name})"
    def __getattr__(self, name): raise AttributeError(name)
    def __enter__(self): print("enter", self.name); return self.name
    def __exit__(self, kind, error, trace): print("exit", repr(error)); return self.name == 1
    def __iter__(self): print("iter"); return iter([self.name, 2])
    def __getitem__(self, key): print("getitem", key); return key
    def __setitem__(self, key, value): print("setitem", key, value)
    def __del__(self): print("del")
class E(Exception): pass
def more(x): return x + 1
def gen(x):
    try:
        got = yield x
        print("got", got)
        yield from [x, got]
    finally:
        print("closed")
a, b, c, o, i, n = [1, 2, 3], {1: 2}, (4, 5), O(), 0, None
"""

NAMES = list("abcoin")
SMALL = list("0123")
ATOMS = NAMES + SMALL

SHAPES = """
{atom}
({0}).x
({0}).name
{0}[{1}]
{0}[{1}:]
[*{0}]
[{atom} for {name} in {0}]
len({0})
more({0})
[k for k in {0} if k]
{{k: 1 for k in {0}}}
next(iter({0}))
next(gen({0}), {1})
list(gen({0}))
O({0})
iter({0})
max(0, *{0})
({0} if {1} else {2})
[0, {atom}, 2]
sum(k for k in {0})
[k for j in [{0}] for k in j]
""".strip().splitlines()

SIMPLE = """
print({0})
{name} = {0}
{name}, i = {0}
i, *{name} = {0}
({0}).x = {1}
o.x += {0}
{0}[{1}] = {2}
a[{0}] += {1}
del {0}[{1}]
del ({0}).x
raise E({0})
raise E
raise E({0}) from {1}
raise
o.x, a[0] = {0}
print(0, *{0})
assert {0}
o = O({atom})
o = None
""".strip().splitlines()


class Writer:
    """Writes programs by chance. Values stay small: no expression makes a container out of containers."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def expression(self, depth: int = 2) -> str:
        """A value."""
        if depth == 0:
            return self._one(ATOMS)
        parts = [self.expression(depth - 1) for _ in range(3)]
        return self._one(SHAPES).format(*parts, atom=self._one(ATOMS), name=self._one(NAMES))

    def block(self, depth: int, *, function: bool = False, loop: bool = False) -> str:
        """One to three statements; `function`, `loop`: what they stand in."""
        return "\n".join(self._statement(depth, function, loop) for _ in range(self._random.randint(1, 3)))

    def _one(self, choices: list[str]) -> str:
        return self._random.choice(choices)

    def _statement(self, depth: int, function: bool, loop: bool) -> str:
        kinds = ["simple"] * 3 + ["yield", "return"] * function + ["leave"] * loop
        kinds += ["for", "try", "with", "def", "if"] * (depth > 0)
        value, name = self.expression(), self._one(NAMES)

        def block(*, inside_loop: bool = loop, inside_function: bool = function) -> str:
            return indent(self.block(depth - 1, function=inside_function, loop=inside_loop), "    ")

        match self._one(kinds):
            case "simple":
                parts = value, self.expression(), self.expression()
                return self._one(SIMPLE).format(*parts, atom=self._one(ATOMS), name=name)
            case "yield":
                return self._one(["{1} = yield {0}", "yield from {0}", "print((yield))"]).format(value, name)
            case "return":
                return f"return {value}"
            case "leave":
                return self._one(["break", "continue"])
            case "for":
                return f"for {name} in {value}:\n    tick()\n{block(inside_loop=True)}\nelse:\n{block()}"
            case "try":
                caught = self._one(["E", "TypeError", "Exception", "(KeyError, IndexError, AttributeError)"])
                handled = f"except {caught} as error:\n    print(repr(error))\n{block()}"
                return f"try:\n{block()}\n{handled}\nfinally:\n    print('f')"
            case "with":
                return f"with O({self._one(SMALL)}) as {name}:\n{block()}"
            case "def":
                body = block(inside_loop=False, inside_function=True)
                own = "a = [1, 2, 3]; b = {}; c = (4, 5); o = O(3); i = 0; n = None"
                return (
                    f"def f():\n    {own}\n{body}\nfor k in [f()]:\n    tick()\n    print(type(k))\n    print(0, [*k])"
                )
            case _:
                return f"if {value}:\n{block()}"


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_random_programs_show_the_same(seed: int) -> None:
    writer = Writer(seed)
    guarded = f"try:\n{indent(writer.block(2), '    ')}\nexcept Exception as error:\n    print(repr(error))\n"
    compare(PRELUDE + guarded + writer.block(1))
