"""What readings give in a frame of a Python program."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from inspect import CO_VARARGS
from types import CodeType, FrameType
from typing import Any

from mopsus.interactive.debugger import DebuggerError
from mopsus.model import Reading, ReadingKind, Unavailable

TYPES: Mapping[str, Callable[[Any], object]] = {"int": int, "float": float, "bool": bool, "str": str, "bytes": bytes}
RECEIVERS = ("self", "cls")
_NOTHING = object()


class Values:
    """The readings at one hit. Each is evaluated once; those in `taken` were, when the function was entered."""

    def __init__(
        self, frame: FrameType, result: object = _NOTHING, taken: Mapping[Reading, object] | None = None
    ) -> None:
        self._frame = frame
        self._result = result
        self._known: dict[Reading, object] = {} if taken is None else dict(taken)

    def __call__(self, reading: Reading) -> object:
        value = self._known.get(reading, _NOTHING)
        if value is _NOTHING:
            value = self._known[reading] = _converted(_value(reading, self._frame, self._result), reading.type)
        return value


def is_early(reading: Reading) -> bool:
    """Is it to be taken when a function is entered, for the place after the call?"""
    return reading.kind is not ReadingKind.RESULT and (reading.inner is None or is_early(reading.inner))


def evaluate(expression: str, frame: FrameType) -> object:
    """The value of a Python expression in a frame; whatever it raises is raised."""
    return eval(expression, frame.f_globals, frame.f_locals)


def assign(target: str, value: object, frame: FrameType) -> None:
    """Let a variable, attribute or item of a frame have this value."""
    try:
        code = compile(f"{target} = __mopsus_value__", "<debugger>", "exec")
    except SyntaxError as error:
        raise DebuggerError(f"nothing can be assigned to `{target}`", hint="name a variable or attribute") from error
    names = _Names(frame, value)
    exec(code, frame.f_globals, names)
    for name, new in names.assigned.items():
        _assign_name(frame, name, new)


def _assign_name(frame: FrameType, name: str, value: object) -> None:
    code = frame.f_code
    if name not in code.co_varnames + code.co_cellvars + code.co_freevars and name not in frame.f_locals:
        frame.f_globals[name] = value
        return
    frame.f_locals[name] = value
    write_back(frame)


def write_back(frame: FrameType) -> None:
    """Let the variables of a frame be what `f_locals` says: before Python 3.13 that is a copy."""
    import ctypes
    import sys

    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


class _Names(dict[str, object]):
    """The names of a frame while something is assigned there."""

    def __init__(self, frame: FrameType, value: object) -> None:
        super().__init__(__mopsus_value__=value)
        self._locals = frame.f_locals
        self.assigned: dict[str, object] = {}

    def __missing__(self, name: str) -> object:
        return self._locals[name]

    def __setitem__(self, name: str, value: object) -> None:
        self.assigned[name] = value


def parameters(code: CodeType) -> tuple[str, ...]:
    """The names of what a function takes by position or name; of a method, the object that it is called on is one."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _value(reading: Reading, frame: FrameType, result: object) -> object:
    match reading.kind:
        case ReadingKind.NAME:
            return _named(reading.text, frame)
        case ReadingKind.ARGUMENT:
            return _argument(reading.index, frame)
        case ReadingKind.RESULT:
            return Unavailable("nothing has been returned here") if result is _NOTHING else result
        case ReadingKind.CALLER:
            return _in_caller(reading, frame)
        case ReadingKind.ADDRESS:
            value = _inner(reading, frame, result)
            return value if isinstance(value, Unavailable) else id(value)
        case ReadingKind.POINTEE:
            return Unavailable("values of Python programs are no pointers")
        case ReadingKind.EXPRESSION | ReadingKind.PYTHON:
            return _expression(reading.text, frame)


def _inner(reading: Reading, frame: FrameType, result: object) -> object:
    inner = reading.inner
    return Unavailable("it is of nothing") if inner is None else _converted(_value(inner, frame, result), inner.type)


def _named(name: str, frame: FrameType) -> object:
    """A local, a member of the current object, a global or a builtin, in this order."""
    variables = frame.f_locals
    found = variables.get(name, _NOTHING)
    receiver = next((variables[each] for each in RECEIVERS if each in variables), _NOTHING)
    if found is _NOTHING and receiver is not _NOTHING:
        found = getattr(receiver, name, _NOTHING)
    if found is _NOTHING:
        found = frame.f_globals.get(name, getattr(builtins, name, _NOTHING))
    return Unavailable(f"there is no `{name}` here") if found is _NOTHING else found


def _argument(index: int, frame: FrameType) -> object:
    code = frame.f_code
    names = parameters(code)
    if index <= len(names):
        return frame.f_locals.get(names[index - 1], Unavailable(f"argument {index} has been deleted"))
    if code.co_flags & CO_VARARGS:
        rest = frame.f_locals.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount], ())
        place = index - 1 - len(names) + code.co_kwonlyargcount
        if 0 <= place < len(rest):
            return rest[place]
    return Unavailable(f"{code.co_qualname} has no argument {index}")


def _in_caller(reading: Reading, frame: FrameType) -> object:
    if frame.f_back is None:
        return Unavailable("nobody called this")
    return _inner(reading, frame.f_back, _NOTHING)


def _expression(text: str, frame: FrameType) -> object:
    try:
        return evaluate(text, frame)
    except Exception as error:
        return Unavailable(f"{type(error).__name__}: {error}")


def _converted(value: object, type_: str | None) -> object:
    if type_ is None or isinstance(value, Unavailable):
        return value
    convert = TYPES.get(type_)
    if convert is None:
        return Unavailable(f"there is no type `{type_}`; there are {', '.join(TYPES)}")
    try:
        return convert(value)
    except Exception as error:
        return Unavailable(f"it is no {type_}: {error}")
