"""Stage 4: beginnings and ends: of threads, of objects, of the program."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mopsus import _core
from mopsus._core import Classes
from mopsus.events.weave import bare, patterns
from mopsus.events.weave.inherited import inherited_del
from mopsus.events.weave.joinpoints import Advised, From, Moment
from mopsus.events.weave.patterns import Scope
from mopsus.events.weave.plan import Cut, Resolver
from mopsus.spec import program

_THREAD_BODY = "_bootstrap_inner"
"""The method of a thread that runs in it from its beginning to its end, whatever its class overrides."""


def places(cut: Cut, scope: Scope, resolver: Resolver) -> Iterator[Advised]:
    """Where advice serves beginnings and ends."""
    match cut.kind:
        case "startThread" | "endThread" if threading in scope.modules:
            moment = Moment.BEFORE if cut.kind == "startThread" else Moment.AFTER
            tap = cut.tap(resolver, moment=moment, target=cut.subject_types(resolver))
            if tap is not None:
                yield Advised(threading.Thread, _THREAD_BODY, (tap,))
        case "endObject":
            family = resolver.classes(mortals(cut), "open", bare.is_open)
            for cls in patterns.find_classes(mortals(cut), scope):
                tap = cut.tap(resolver, moment=Moment.BEFORE, target=Classes(cls), entry=True)
                # The first of a family serves all of it, but for those who have a finaliser of their own.
                first = not any(base in family for base in bare.bases(cls)[1:])
                if bare.is_open(cls) and tap is not None and (first or patterns.owns(cls, "__del__")):
                    yield Advised(cls, "__del__", (tap,), default=inherited_del(cls))


def mortals(cut: Cut) -> program.Pattern:
    """The classes whose objects' ends are asked for, with their subclasses; none if any object's are."""
    point = cut.case.points[0]
    name = program.subject(point)
    declared = cut.types.get(name, ()) if name is not None else ()
    pattern = point.argument if not declared and name not in cut.event.names else declared
    return tuple(replace(dotted, plus=len(dotted.parts) - 1) for dotted in pattern)


def end_program(cuts: Iterable[Cut], resolver: Resolver) -> None:
    """Send the events of the end: first that of the main thread, then that of the program."""
    listed = list(cuts)
    for kind in ("endThread", "endProgram"):
        for cut in listed:
            if cut.kind == kind:
                _send(cut, resolver, threading.main_thread())


def _send(cut: Cut, resolver: Resolver, thread: threading.Thread) -> None:
    tap = cut.tap(resolver)
    if tap is None or (tap.admits is not None and not tap.admits((thread,), {})):
        return
    values = [thread if source.kind in (From.TARGET, From.THREAD) else None for source in tap.sources]
    if all(
        not isinstance(types, Classes) or types.holds(value) for value, types in zip(values, tap.types, strict=True)
    ):
        tap.emit(*values)


_core.hide(_send.__code__, placeless=True)
