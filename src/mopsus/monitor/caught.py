"""Stage 3: whether a library catches, in its own code, the exception that something it did has ended with.

Python's own library often tries what it knows may be refused: it writes to a socket that another thread may have
closed, and catches the OSError. That is no mistake of anybody's. It counts only where a handler names the exception, or
a class of it other than `Exception` and `BaseException`, and raises nothing: whoever catches everything passes on what
went wrong in somebody else's code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FrameType

from mopsus import untouched
from mopsus.syntax import syntax_tree

_EVERYTHING = (Exception, BaseException)


def is_caught(frame: FrameType | None, error: BaseException, is_library: Callable[[str], bool]) -> bool:
    """Will one of the frames of a library that the exception comes to first, from this one outwards, catch it?"""
    while frame is not None and is_library(frame.f_code.co_filename):
        for handlers in _around(frame.f_code.co_filename, frame.f_lineno):
            for types, raises in handlers:
                if _catches(frame, types, error):
                    return not raises
        frame = frame.f_back
    return False


def _catches(frame: FrameType, types: ast.expr | None, error: BaseException) -> bool:
    if types is None:
        return True
    each = types.elts if isinstance(types, ast.Tuple) else [types]
    found = [_value(frame, one) for one in each]
    return any(isinstance(one, type) and isinstance(error, one) for one in found)


def _value(frame: FrameType, expression: ast.expr) -> object:
    """What a name, or a name with attributes, stands for there. Nothing else is looked at."""
    if isinstance(expression, ast.Attribute):
        return getattr(_value(frame, expression.value), expression.attr, None)
    if not isinstance(expression, ast.Name):
        return None
    for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if expression.id in names:
            found: object = names[expression.id]
            return found
    return None


_Handlers = list[tuple[ast.expr | None, bool]]
"""Of a `try` statement: what each handler catches, and whether it is not the end of the exception."""


@lru_cache(maxsize=64)
def _tries(file: str) -> tuple[tuple[range, _Handlers], ...]:
    """The lines inside of the `try` statements of a file, with their handlers; those of inner ones come first."""
    try:
        with untouched.open_file(file, "rb") as source:
            tree = syntax_tree(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = [each for node in ast.walk(tree) for each in _tried(node)]
    return tuple(sorted(found, key=lambda each: len(each[0])))


def _tried(node: ast.AST) -> Iterator[tuple[range, _Handlers]]:
    match node:
        case ast.Try():
            handlers: _Handlers = [(each.type, _passes_on(each)) for each in node.handlers]
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=called, args=types))]):
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            handlers = [(each, _is_everything(each)) for each in types] if name == "suppress" else []
        case _:
            return
    if handlers:
        yield range(node.body[0].lineno, (node.body[-1].end_lineno or node.body[-1].lineno) + 1), handlers


def _passes_on(handler: ast.ExceptHandler) -> bool:
    return _is_everything(handler.type) or any(isinstance(each, ast.Raise) for each in ast.walk(handler))


def _is_everything(types: ast.expr | None) -> bool:
    each = types.elts if isinstance(types, ast.Tuple) else [types]
    return any(one is None or getattr(one, "id", "") in {cls.__name__ for cls in _EVERYTHING} for one in each)


def _around(file: str, line: int) -> Iterator[_Handlers]:
    """The handlers around a line, from the innermost `try` statement outwards."""
    return (handlers for lines, handlers in _tries(file) if line in lines)
