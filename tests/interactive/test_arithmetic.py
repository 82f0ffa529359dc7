"""Code of properties as instructions does what Python does, and gives up exactly where words are too small for it."""

from __future__ import annotations

import ast
import ctypes
import struct
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.counting import VARIABLES, block, expression, guard
from interactive.gdb.programs import build

from mopsus.interactive.arithmetic import (
    DEEPEST,
    MOST_VARIABLES,
    Assembler,
    Compiler,
    Operation,
    from_words,
    run,
    to_words,
)
from mopsus.interactive.cells import NoStepperError

VALUES = ("x", "y")
NAMES = VARIABLES + VALUES
LARGEST, SMALLEST = (1 << 63) - 1, -(1 << 63)
RETURNED = 1 << 20
AGENT = Path(__file__).parents[2] / "cpp" / "agent"

NATIVE = f"""
    #include "{AGENT}/arithmetic.hpp"
    using namespace mopsus::agent;
    static_assert(kMostVariables == {MOST_VARIABLES} && kDeepest == {DEEPEST});
    static_assert(static_cast<int>(Operation::Truth) == {Operation.TRUTH});
    extern "C" std::uint32_t run(const Instruction *code, const std::uint64_t *values, std::uint64_t unfit,
                                 std::uint64_t *variables) {{
        return compute(code, {{values, unfit, variables}}, ~0u);
    }}
"""


@pytest.fixture(scope="module")
def native():
    """What the agent has, with a trap for whatever C++ leaves undefined."""
    flags = ("-std=c++20", "-O2", "-shared", "-fPIC", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
    library = ctypes.CDLL(str(build(NATIVE, *flags, language="c++")))

    def run_native(code, values, variables):
        words = struct.pack(f"<{len(values)}Q", *((value or 0) & (1 << 64) - 1 for value in values))
        unfit = sum(1 << place for place, value in enumerate(values) if value is None)
        known = (ctypes.c_uint64 * (len(variables) + 1))(*to_words(variables))
        result = library.run(b"".join(map(bytes, code)), words, ctypes.c_uint64(unfit), known)
        return None if result == -1 else (result, from_words(known))

    return run_native


class Checked(int):
    """An integer that knows how large a word can be."""


def _checked(name: str):
    def operation(*numbers: int) -> Checked:
        result = Checked(getattr(int, name)(*numbers))
        if not -(1 << 63) <= result < 1 << 63:
            raise OverflowError
        return result

    return operation


for _name in ("__add__", "__sub__", "__mul__", "__neg__"):
    setattr(Checked, _name, _checked(_name))


class _Checking(ast.NodeTransformer):
    """Makes all numbers that code computes such ones; of a value, whoever reads it learns whether it is one."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _call("Checked", node) if isinstance(node.value, int) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return _call("Checked", self.generic_visit(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return _call("Checked", self.generic_visit(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _call("value", ast.Constant(node.id)) if node.id in VALUES else node


def _call(function: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def by_python(text, values, variables, otherwise):
    """What Python makes of it: the answer and the variables; None if a word is too small, or something has no value."""
    function = ast.parse(f"def code():\n    global {', '.join(VARIABLES)}").body[0]
    function.body += [*_Checking().visit(ast.parse(text)).body, ast.Return(ast.Constant(otherwise))]
    names = {name: Checked(value) for name, value in zip(VARIABLES, variables, strict=True) if value is not None}
    given = {name: Checked(value) for name, value in zip(VALUES, values, strict=True) if value is not None}
    names |= {"Checked": Checked, "value": given.__getitem__}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "code", "exec"), names)
    try:
        answer = names["code"]()
    except (OverflowError, NameError, KeyError):
        return None
    return answer, [names.get(name) for name in VARIABLES]


def compiled(text, *, assigns):
    """Its code: it ends with RETURNED and what it returns as a truth value, 2 for None, 3 if it does not return."""
    assembler = Assembler(VARIABLES)

    def answer(value):
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            assembler.emit(Operation.END, RETURNED + 2)
            return
        false = assembler.label()
        assembler.expression(value, VALUES)
        assembler.emit(Operation.JUMP_IF_FALSE, false)
        assembler.emit(Operation.END, RETURNED + 1)
        assembler.put(false)
        assembler.emit(Operation.END, RETURNED)

    Compiler(assembler, VALUES, assigns, answer).compile(ast.parse(text).body)
    assembler.emit(Operation.END, RETURNED + 3)
    return assembler.done()


def agree(native, text, values, variables, *, assigns):
    try:
        code = compiled(text, assigns=assigns)
    except NoStepperError:
        return
    found = run(code, 0, values, variables)
    expected = by_python(text, values, variables, "end")
    if expected is None:
        assert found is None
    else:
        answer, after = expected
        told = 2 if answer is None else 3 if answer == "end" else int(bool(answer))
        assert found == (RETURNED + told, after)
    assert native(code, values, variables) == found


def some_words(random, count, *, all_known=False):
    words = (0, 1, 2, 3, -1, 1 << 32, LARGEST, SMALLEST, random.randint(SMALLEST, LARGEST))
    return [None if random.random() < 0.1 and not all_known else random.choice(words) for _ in range(count)]


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 32))
def test_code_does_what_python_does(native, seed):
    random = Random(seed)
    values, variables = some_words(random, 2), some_words(random, 3)
    agree(native, guard(random, NAMES), values, variables, assigns=False)
    agree(native, block(random, NAMES, VARIABLES), values, variables, assigns=True)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 32))
def test_values_are_those_of_python(native, seed):
    random = Random(seed)
    text = f"last = {expression(random, VARIABLES, 4)}"
    agree(native, text, (0, 0), some_words(random, 3, all_known=True), assigns=True)


@pytest.mark.parametrize(
    ("text", "variables", "after"),
    [
        ("count += 1", (0, 0, 0), (1, 0, 0)),
        ("count += 1", (LARGEST, 0, 0), None),
        ("count += 1", (None, 0, 0), None),
        ("count -= 1", (SMALLEST, 0, 0), None),
        ("count = -most", (0, SMALLEST, 0), None),
        ("count = -most", (0, LARGEST, 0), (-LARGEST, LARGEST, 0)),
        ("count *= most", (1 << 32, 1 << 31, 0), None),
        ("count *= most", (-(1 << 32), 1 << 31, 0), (SMALLEST, 1 << 31, 0)),
        ("count = 5", (None, None, None), (5, None, None)),
        ("count = most and last", (9, 0, None), (0, 0, None)),
        ("count = most or last", (9, 0, 4), (4, 0, 4)),
        ("count = 1 < most < 3 < last", (9, 2, 4), (1, 2, 4)),
        ("count = 1 < most < last", (9, 0, None), (0, 0, None)),
        ("count = not most", (9, 0, 0), (1, 0, 0)),
        ("count = True + True", (0, 0, 0), (2, 0, 0)),
        ("if most: count = 1\nelse: count = 2", (0, 0, 0), (2, 0, 0)),
        ("pass", (1, 2, 3), (1, 2, 3)),
    ],
)
def test_what_comes_out(native, text, variables, after):
    code = compiled(text, assigns=True)
    expected = None if after is None else (RETURNED + 3, list(after))
    assert run(code, 0, (0, 0), variables) == expected
    assert native(code, (0, 0), variables) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("count //= 2", "`count // 2` in its code is no arithmetic of integers"),
        ("count = len(most)", "`len(most)` in its code is no arithmetic of integers"),
        ("count = 1.5", "`1.5` in its code is no arithmetic of integers"),
        ("count = None", "`None` in its code is no arithmetic of integers"),
        ("count = 1 << 3", "`1 << 3` in its code is no arithmetic of integers"),
        ("count = 9223372036854775808", "`9223372036854775808` in its code is no arithmetic of integers"),
        ("count = x is None", "its code has a comparison that is not about integers"),
        ("count = other", "`other` in its code is neither a variable nor a value of the event"),
        ("x = 1", "its code assigns `x`, which is a value of the event"),
        ("count = last = 1", "`count = last = 1` in its code is no arithmetic of integers"),
        ("while count:\n    count -= 1", "`while count:` in its code is no arithmetic of integers"),
        ("count = " + "(1 + " * 20 + "1" + ")" * 20, "an expression of its code is too deep"),
        ("count += 1\n" * 1200, "its code is too long"),
    ],
)
def test_what_cannot_be_said_is_told_why(text, reason):
    with pytest.raises(NoStepperError) as caught:
        compiled(text, assigns=True)
    assert str(caught.value) == reason


def test_a_guard_that_assigns_is_none():
    with pytest.raises(NoStepperError, match="a guard assigns `count`"):
        compiled("count = 1", assigns=False)
