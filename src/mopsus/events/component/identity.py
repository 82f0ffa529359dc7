"""Stage 4: who does something: identifiers that are never used again, and which component is running right here.

Numbers of threads, and addresses of tasks, are used again by the system; the serial numbers here are not. They are
unique in all processes of a run without anybody being asked, because the number of a process is made from its parent's
and from a serial number that the parent gave it.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
from collections.abc import Mapping
from functools import partial
from itertools import count
from types import BuiltinMethodType, CodeType, MethodType, ModuleType
from typing import Any, Final, cast

from mopsus import _core
from mopsus.events.component.occurrence import Function
from mopsus.model.term import Pid

OUTSIDE: Final = Pid("<0.0.0>")
"""The parent of a component that nobody in sight has forked."""


class Component:
    """A thread, task, process, call or actor that runs, or a channel that takes messages for whoever takes them."""

    __slots__ = ("__weakref__", "name", "pid")

    def __init__(self, pid: Pid, name: str) -> None:
        self.pid = pid
        self.name = name
        """What people call it."""

    def __repr__(self) -> str:
        return f"Component({str(self.pid)!r}, {self.name!r})"


ELSEWHERE: Final[set[Pid]] = set()
"""Components that were forked here, but run in other processes."""


# ---- identifiers


class _Process:
    """This process: its number, unique in the run, and the serial numbers that it has given."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.serials = count(1)


_process = _Process(0)
_forked_as = 0


def new_pid() -> Pid:
    """An identifier that no other component of the run has, or will have."""
    return Pid(f"<{_process.node}.{next(_process.serials)}.0>")


def new_component(name: str) -> Component:
    """A component that was not there before."""
    return Component(new_pid(), name)


def become(pid: Pid, name: str) -> Component:
    """Let this process be the component that its parent has announced."""
    global _process
    parent, serial, _ = map(int, pid.strip("<>").split("."))
    _process = _Process(_paired(parent, serial))
    component = Component(pid, name)
    ELSEWHERE.clear()
    enter(component)
    return component


def begin_apart() -> None:
    """Let this process have a number by chance, because nobody has announced it."""
    global _process
    _process = _Process(1 + secrets.randbits(60))
    enter(None)


def _paired(first: int, second: int) -> int:
    """A number for two: different pairs have different ones (Cantor's pairing function)."""
    return (first + second) * (first + second + 1) // 2 + second


def _before_fork() -> None:
    global _forked_as
    _forked_as = next(_process.serials)


def _after_fork() -> None:
    global _process
    _process = _Process(_paired(_process.node, _forked_as))
    enter(None)


os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


# ---- the current component

NOBODY: Final = Component(OUTSIDE, "nobody")
"""Runs where nothing that is done is an event: in threads of the standard library that serve queues and pools."""


def current() -> Component | None:
    """The component that runs here; None where nothing that is done is an event."""
    component = _core.here()
    if component is None:
        component = adopted()
    return None if component is NOBODY else component


def enter(component: Component | None) -> Component | None:
    """Let a component run here, in this thread, from now on (None: nobody knows which); gives the one before."""
    return cast("Component | None", _core.enter(component))


def adopted() -> Component:
    """A component for a thread that began before anybody looked."""
    number = threading.get_ident()
    name = next((thread.name for thread in threading.enumerate() if thread.ident == number), "thread")
    made = new_component(name)
    enter(made)
    return made


# ---- functions


def signature(target: object, arguments: tuple[Any, ...] = (), keywords: Mapping[str, Any] | None = None) -> Function:
    """What a component runs when it calls `target` with these arguments."""
    named = dict(keywords or {})
    while True:
        if isinstance(target, partial):
            arguments = (*target.args, *arguments)
            named = {**target.keywords, **named}
            target = target.func
        elif _runs_in_context(target) and arguments:
            target, arguments = arguments[0], arguments[1:]
        else:
            break
    while isinstance(target, MethodType):
        target = target.__func__
    if not hasattr(target, "__qualname__"):
        target = type(target)
    return Function(module_name(getattr(target, "__module__", None)), target.__qualname__, arguments, named or None)


def _runs_in_context(target: object) -> bool:
    """Is it `Context.run`, which `asyncio.to_thread` hides functions in?"""
    return (
        isinstance(target, BuiltinMethodType)
        and type(target.__self__).__name__ == "Context"
        and (target.__name__ == "run")
    )


def coroutine_signature(coroutine: object) -> Function:
    """What a task runs, from a coroutine that has not begun; the parameters of its function are its arguments."""
    frame = getattr(coroutine, "cr_frame", None)
    name = getattr(coroutine, "__qualname__", type(coroutine).__qualname__)
    if frame is None:
        return Function(module_name(type(coroutine).__module__), name)
    values, code = frame.f_locals, frame.f_code
    names = code.co_varnames[: code.co_argcount]
    positional = [values[each] for each in names if each in values]
    at = code.co_argcount
    named = {each: values[each] for each in code.co_varnames[at : at + code.co_kwonlyargcount] if each in values}
    at += code.co_kwonlyargcount
    if code.co_flags & 0x04:  # *args
        positional += values.get(code.co_varnames[at], ())
        at += 1
    if code.co_flags & 0x08:  # **kwargs
        named.update(values.get(code.co_varnames[at], {}))
    if positional and _is_method_of(code, positional[0]):
        del positional[0]
    return Function(module_name(frame.f_globals.get("__name__")), name, tuple(positional), named or None)


def _is_method_of(code: CodeType, first: object) -> bool:
    cls = first if isinstance(first, type) else type(first)
    found = getattr(cls, code.co_name, None)
    return getattr(getattr(found, "__func__", found), "__code__", None) == code


def module_name(name: str | None) -> str:
    """The name of a module as properties know it: that of the main program is the name of its file."""
    if name not in ("__main__", "__mp_main__"):
        return name or "builtins"
    return _main_name(sys.modules.get(name))


def _main_name(main: ModuleType | None) -> str:
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name not in ("__main__", "__mp_main__"):
        return str(spec.name).removesuffix(".__main__")
    path = getattr(main, "__file__", None)
    return os.path.splitext(os.path.basename(path))[0] if path else "__main__"
