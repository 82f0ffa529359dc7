"""What a session knows, on its way from the process that ends to the one that a checkpoint brings back.

Both are copies of one process, so code is the same in both, and so is the session with its monitors and scenarios:
these are named, not copied. Functions that scenarios define are taken apart and put together again. A variable that
cannot go the way, because it holds an open file, say, keeps the value that it had at the checkpoint.
"""

from __future__ import annotations

import importlib
import io
import marshal
import pickle
import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from mopsus.interactive.checkpoints import Checkpoint
from mopsus.interactive.session import Session


def pack(session: Session, saved: object, asking: bool, extra: object) -> bytes:
    """All that outlives going back to the checkpoint for which this was saved."""
    lasting = session.checkpoints.lasting()
    number = next(number for number, (program, *_) in lasting["checkpoints"].items() if program == saved)
    for variables, _ in lasting["scenarios"].values():
        for name in [name for name, value in variables.items() if not _goes(session, value)]:
            session.warn(f"the variable `{name}` of a scenario goes back to what it was at the checkpoint")
            del variables[name]
    return _dumps(session, (number, lasting, asking, extra))


def unpack(session: Session, message: bytes) -> tuple[bool, Any]:
    """Let the session of this process know it all; gives back whether the developer was being asked, and the extra."""
    number, lasting, asking, extra = _Unpickler(session, message).load()
    session.checkpoints.regain(lasting, number, passing=not asking)
    return asking, extra


def _goes(session: Session, value: object) -> bool:
    try:
        _dumps(session, value)
    except Exception:  # whatever pickle says, or the object
        return False
    return True


def _dumps(session: Session, value: object) -> bytes:
    file = io.BytesIO()
    _Pickler(session, file).dump(value)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, session: Session, file: io.BytesIO) -> None:
        super().__init__(file)
        self._names = {id(thing): name for name, thing in _things(session).items()}

    def persistent_id(self, obj: object) -> object:
        if isinstance(obj, Checkpoint):
            return "checkpoint", obj.number
        return self._names.get(id(obj))

    def reducer_override(self, obj: object) -> Any:  # noqa: ANN401 - as in pickle
        if isinstance(obj, ModuleType):
            return importlib.import_module, (obj.__name__,)
        if isinstance(obj, CodeType):
            return marshal.loads, (marshal.dumps(obj),)
        if isinstance(obj, CellType):
            return CellType, (obj.cell_contents,)
        if isinstance(obj, FunctionType) and not _is_found(obj):
            module = obj.__globals__.get("__name__")
            space = obj.__globals__
            known = id(space) in self._names
            where: object = space if known else module
            parts = obj.__code__, where, obj.__name__, obj.__defaults__, obj.__closure__, obj.__kwdefaults__
            return _function, parts
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, session: Session, message: bytes) -> None:
        super().__init__(io.BytesIO(message))
        self._session = session
        self._things = _things(session)

    def persistent_load(self, name: Any) -> Any:  # noqa: ANN401 - as in pickle
        if isinstance(name, tuple):
            return self._session.checkpoints.handle(name[1])
        return self._things[name]


def _things(session: Session) -> dict[str, object]:
    """What both processes have, by name."""
    things: dict[str, object] = {
        "session": session,
        "debugger": session.debugger,
        "checkpoints": session.checkpoints,
        "points": session.points,
    }
    for watch in session.watches:
        things |= {f"watch {watch.number}": watch, f"interface {watch.number}": watch.interface}
        if watch.scenario is not None:
            things |= {f"scenario {watch.number}": watch.scenario, f"api {watch.number}": watch.scenario.api}
            things[f"names {watch.number}"] = watch.scenario.names
    return things


def _is_found(function: FunctionType) -> bool:
    found: object = sys.modules.get(function.__module__ or "")
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _function(
    code: CodeType,
    where: dict[str, Any] | str,
    name: str,
    defaults: tuple[Any, ...] | None,
    closure: tuple[CellType, ...] | None,
    named: dict[str, Any] | None,
) -> Callable[..., Any]:
    space = where if isinstance(where, dict) else vars(importlib.import_module(where))
    function = FunctionType(code, space, name, defaults, closure)
    function.__kwdefaults__ = named
    return function
