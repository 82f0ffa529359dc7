"""Run a program as it is and rewritten, and compare everything that it shows."""

from __future__ import annotations

import contextlib
import gc
import io
import linecache
import re
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from mopsus.events.weave.compiling import compile_beside
from mopsus.events.weave.joinpoints import From, Moment, Operation, Rewrite, Source, Tap
from mopsus.events.weave.rewrite import Plan
from mopsus.events.weave.sites import SITES

Event = tuple[Any, ...]


def tap(
    log: list[Event], name: str, moment: Moment, *sources: From | Source, types: tuple[Any, ...] = (), **more: Any
) -> Tap:
    """A tap that writes its event into a list."""
    given = tuple(each if isinstance(each, Source) else Source(each) for each in sources)
    return Tap("S", name, moment, lambda *values: log.append((name, *values)), given, types, **more)


def everything(log: list[Event], operations: Iterable[Operation] = Operation) -> tuple[Rewrite, ...]:
    """Taps on the target of each operation, before and after; events name its type and keep nothing alive."""

    def emit(name: str) -> Callable[[object], None]:
        return lambda target: log.append((name, type(target).__name__))

    return tuple(
        Rewrite(operation, Tap("S", operation.value, moment, emit(operation.value), (Source(From.TARGET),)))
        for operation in operations
        for moment in (Moment.BEFORE, Moment.AFTER)
    )


def woven(source: str, rewrites: tuple[Rewrite, ...], module: str, filename: str) -> Any:
    """The code of a program, rewritten."""
    original = compile(source, filename, "exec", dont_inherit=True)
    made = compile_beside(original, source.encode(), filename, Plan.of(rewrites)).rewritten
    assert made is not None
    return SITES.bind(module, made, own=True) or original


def shown(code: Any, source: str, module: str, filename: str) -> str:
    """All that a program shows: its output, and the exception that ends it with its traceback."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    output = io.StringIO()
    namespace = {"__name__": module, "__builtins__": __builtins__}
    gc.disable()  # what is left over says so here, in cycles or not
    gc.freeze()
    try:
        with contextlib.redirect_stdout(output):
            try:
                exec(code, namespace)
            except BaseException as error:
                error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
                output.write("".join(traceback.format_exception(error)))
            namespace.clear()
            gc.collect()
    finally:
        gc.unfreeze()
        gc.enable()
    return re.sub("0x[0-9a-f]+", "0x", output.getvalue())


def compare(source: str, make: Callable[[list[Event]], tuple[Rewrite, ...]] = everything) -> list[Event]:
    """Check that a program shows the same as it is, rewritten with taps, and rewritten without; the events it sends."""
    module, filename = "program", "<program>"
    log: list[Event] = []
    rewrites = make(log)
    plain = shown(compile(source, filename, "exec", dont_inherit=True), source, module, filename)
    SITES.start(rewrites, identity)
    try:
        code = woven(source, rewrites, module, filename)
        tapped = shown(code, source, module, filename)
    finally:
        SITES.stop(rewrites, identity)
    sent = list(log)
    untapped = shown(code, source, module, filename)
    assert tapped == plain
    assert untapped == plain
    assert log == sent
    return sent


def identity(member: Any) -> Any:
    """A decorator that does nothing."""
    return member


def names(events: Iterable[Event]) -> list[str]:
    """The names of events."""
    return [event[0] for event in events]
