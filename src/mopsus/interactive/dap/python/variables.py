"""Values of a Python program as an editor shows them: a line of text each, and what can be opened.

Looking must not change the program. So only containers that are built in are opened by their elements, everything else
by the attributes that it has stored, and code of the program runs for its `__repr__` alone.
"""

from __future__ import annotations

import builtins
import reprlib
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from inspect import CO_VARARGS, CO_VARKEYWORDS
from itertools import islice
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, TypeVar

from mopsus.interactive.dap.workbench import Inside, Variable
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.python.values import assign, write_back
from mopsus.model.text import INT_BITS, printable

_CLOSED = (
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    type(None),
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    CodeType,
)
T = TypeVar("T")

_MAPPINGS = (dict, MappingProxyType)
_SEQUENCES = (list, tuple, deque, range)
_SETS = (set, frozenset)
_TEXT_LIMIT = 2000
_LITERALS = (int, str, bytes, bool, type(None))


class _Text(reprlib.Repr):
    """`repr`, cut: the elements of a big or deep container are seen when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = self.maxdeque = 10
        self.maxstring = self.maxother = self.maxlong = _TEXT_LIMIT

    def repr_int(self, x: int, level: int) -> str:
        return hex(x) if x.bit_length() > INT_BITS else builtins.repr(x)


_TEXT = _Text()


def text_of(value: object) -> str:
    """A value as Python would write it, on one line; whatever its `__repr__` does."""
    try:
        return printable(_TEXT.repr(value), _TEXT_LIMIT)
    except Exception as error:  # a metaclass or a property may raise anything
        return f"<{type(value).__name__}, which cannot be shown: {type(error).__name__}>"


def variable(
    name: str, value: object, frame: FrameType, *, expression: str | None = None, constant: bool = False
) -> Variable:
    """A value with its name. Values that are given to what is inside are expressions of the frame."""
    inside = open_value(value, frame, expression)
    return Variable(name, text_of(value), type(value).__name__, inside, expression, constant=constant)


def open_value(value: object, frame: FrameType, expression: str | None) -> Inside | None:
    """What is inside of a value, if there is anything."""
    if isinstance(value, _CLOSED):
        return None
    try:
        inside = Object(value, frame, expression)
    except Exception:  # a class may have any `__len__`
        return None
    return inside if inside.named or inside.indexed else None


class Named(Inside):
    """Members by name, each with its value, from which those differ that cannot be set."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame

    def members(self) -> Sequence[Variable]:
        return [self._show(name, value) for name, value in self._values()]

    def set(self, name: str, text: str) -> Variable:
        value = value_of(text, self._frame)
        _guarded(lambda: self._set(name, value))
        return self._show(name, value)

    @abstractmethod
    def _values(self) -> Iterator[tuple[str, object]]: ...

    @abstractmethod
    def _set(self, name: str, value: object) -> None: ...

    def _show(self, name: str, value: object) -> Variable:
        return variable(name, value, self._frame, expression=self._expression(name))

    def _expression(self, name: str) -> str | None:
        return name


class Variables(Named):
    """Those of a frame."""

    def __init__(self, frame: FrameType, names: Collection[str]) -> None:
        super().__init__(frame)
        self._names = names
        self.named = len(names)

    def _values(self) -> Iterator[tuple[str, object]]:
        known = self._frame.f_locals
        return ((name, known[name]) for name in self._names if name in known)

    def _set(self, name: str, value: object) -> None:
        assign(name, value, self._frame)


class Globals(Named):
    """Those of a module, without what the interpreter has put there."""

    def __init__(self, frame: FrameType) -> None:
        super().__init__(frame)
        self.named = sum(1 for _ in self._values())

    def _values(self) -> Iterator[tuple[str, object]]:
        return ((name, value) for name, value in sorted(self._frame.f_globals.items()) if not _is_magic(name))

    def _set(self, name: str, value: object) -> None:
        self._frame.f_globals[name] = value


class Object(Named):
    """An object: the attributes and items that it has by name, and the elements that it has by number."""

    def __init__(self, value: object, frame: FrameType, expression: str | None) -> None:
        super().__init__(frame)
        self._value = value
        self._whole = expression
        self.named = (len(value) if isinstance(value, _MAPPINGS) else 0) + sum(1 for _ in self._attributes())
        self.indexed = len(value) if isinstance(value, (*_SEQUENCES, *_SETS)) else 0

    @cached_property
    def _items(self) -> dict[str, tuple[object, object]]:
        return _items(self._value) if isinstance(self._value, _MAPPINGS) else {}

    def elements(self, start: int, count: int) -> Sequence[Variable]:
        if isinstance(self._value, _SETS):
            some = islice(self._value, start, start + count)
            return [variable(str(start + at), each, self._frame, constant=True) for at, each in enumerate(some)]
        if not isinstance(self._value, _SEQUENCES):
            return ()
        return [self._show(str(at), self._value[at]) for at in range(start, min(start + count, self.indexed))]

    def _values(self) -> Iterator[tuple[str, object]]:
        yield from ((name, value) for name, (_, value) in self._items.items())
        yield from self._attributes()

    def _attributes(self) -> Iterator[tuple[str, object]]:
        if isinstance(self._value, range):
            return
        for name, value in _stored(self._value):
            if not _is_magic(name):
                yield name, value

    def _set(self, name: str, value: object) -> None:
        whole: Any = self._value
        if name in self._items:
            whole[self._items[name][0]] = value
        elif isinstance(self._value, _SETS):
            raise DebuggerError("the elements of a set cannot be set", hint="evaluate its `add` or `remove`")
        elif name.isdecimal() and isinstance(self._value, _SEQUENCES):
            whole[int(name)] = value
        else:
            setattr(whole, name, value)

    def _expression(self, name: str) -> str | None:
        if self._whole is None:
            return None
        if name in self._items:
            key = self._items[name][0]
            return f"{self._whole}[{key!r}]" if isinstance(key, _LITERALS) else None
        return f"{self._whole}[{name}]" if name.isdecimal() else f"{self._whole}.{name}"


class Result(Inside):
    """What a function has just returned."""

    named = 1

    def __init__(self, function: str, value: object, frame: FrameType) -> None:
        self._member = variable(function, value, frame, constant=True)

    def members(self) -> Sequence[Variable]:
        return [self._member]


def namespace(frame: FrameType) -> dict[str, Any]:
    """All names of a frame in one table: functions within an expression would not find its variables otherwise."""
    if frame.f_locals is frame.f_globals:
        return frame.f_globals
    return {**frame.f_globals, **frame.f_locals}


def value_of(text: str, frame: FrameType) -> object:
    """The value of an expression that the developer has written."""
    found: object = _guarded(lambda: eval(text.strip(), namespace(frame)))
    return found


def assigned(target: str, value: object, frame: FrameType) -> object:
    """Let a variable, attribute or item have a value."""
    _guarded(lambda: assign(target, value, frame))
    return value


def execute(text: str, frame: FrameType) -> None:
    """Statements that the developer has written."""
    _guarded(lambda: exec(compile(text, "<editor>", "exec"), frame.f_globals, frame.f_locals))
    write_back(frame)


class Evaluation:
    """Code of the developer that runs now, if any: it may never end."""

    thread: int | None = None
    begin: Callable[[], object] = staticmethod(lambda: None)
    """Called first, lest it begins though it is not wanted any more."""


def _guarded(run: Callable[[], T]) -> T:
    """Whatever the code of the developer raises is for the developer, who may also interrupt it."""
    try:
        Evaluation.thread = threading.get_ident()
        try:
            Evaluation.begin()
            return run()
        finally:
            Evaluation.thread = None
    except DebuggerError:
        raise
    except KeyboardInterrupt as error:
        raise DebuggerError("it was interrupted") from error
    except Exception as error:
        raise DebuggerError(f"{type(error).__name__}: {error}") from error


def arguments_of(code: CodeType) -> list[str]:
    """The names of the parameters of a function, all of them."""
    count = code.co_argcount + code.co_kwonlyargcount
    return list(code.co_varnames[: count + bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)])


def _items(value: Mapping[object, object]) -> dict[str, tuple[object, object]]:
    """By how a key is shown; of two that look the same, the second has its number with it."""
    found: dict[str, tuple[object, object]] = {}
    pairs = dict.items(value) if isinstance(value, dict) else value.items()
    for number, (key, each) in enumerate(list(pairs)):
        name = text_of(key)
        found[name if name not in found else f"{name} #{number}"] = key, each
    return found


def _stored(value: object) -> Iterator[tuple[str, object]]:
    """The attributes that an object has, without those that it computes."""
    if isinstance(value, type | ModuleType):
        yield from sorted(vars(value).items())
        return
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    if isinstance(own, dict):
        yield from dict.items(own)
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            full = f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
            try:
                yield full, object.__getattribute__(value, full)
            except AttributeError:
                continue  # it has not been set


def _is_magic(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
