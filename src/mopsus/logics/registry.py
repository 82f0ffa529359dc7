"""Stage 2: finding logic plugins by name.

The logics that come with Mopsus are looked up without reading any package metadata, which is
slow and, when running from a source tree, absent; all others by entry point. A plugin is
imported when it is first asked for, and checked before anyone uses it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mopsus.logics.logic import Logic, LogicError
from mopsus.logics.text import suggestion

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mopsus.logics"

BUILT_IN: Mapping[str, str] = {
    "fsm": "mopsus.logics.fsm:LOGIC",
    "ere": "mopsus.logics.ere:LOGIC",
    "ptltl": "mopsus.logics.ptltl:LOGIC",
    "ltl": "mopsus.logics.ltl:LOGIC",
    "cfg": "mopsus.logics.cfg:CFG",
    "lr": "mopsus.logics.cfg:LR",
    "lr_lazy": "mopsus.logics.cfg:LR_LAZY",
    "lalr": "mopsus.logics.cfg:LALR",
    "lalr_lazy": "mopsus.logics.cfg:LALR_LAZY",
    "hoa": "mopsus.logics.hoa:LOGIC",
    "srs": "mopsus.logics.srs:LOGIC",
    "srs_scan": "mopsus.logics.srs:SCANNING",
    "mtl": "mopsus.logics.mtl:LOGIC",
    "ptcaret": "mopsus.logics.ptcaret:LOGIC",
    "shml": "mopsus.logics.hml:SHML",
    "maxhml": "mopsus.logics.hml:MAXHML",
}
"""The same as the entry points of our own distribution. A built-in name cannot be taken by another plugin."""

ARITY: Mapping[str, int] = {"parse": 2, "print": 1, "categories": 1, "events": 1, "compile": 2, "reference": 3}


def logic_names() -> tuple[str, ...]:
    """The names under which logics are known, sorted; none is imported for this."""
    return tuple(sorted({*BUILT_IN, *_entry_points()}))


@cache
def load_logic(name: str) -> Logic:
    """The logic of that name, imported and checked.

    `LogicError` if there is none, or if its plugin cannot be imported or does not keep the interface.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return check_logic(name, getattr(import_module(module), attribute), BUILT_IN[name])
    entry = _entry_points().get(name)
    if entry is None:
        raise LogicError(f"unknown logic '{name}'", code="LOGIC-010", hint=suggestion(name, logic_names()))
    try:
        found = entry.load()
    except Exception as error:  # whatever a foreign module raises when it is imported
        raise _bad_plugin(name, entry.value, f"cannot be imported: {type(error).__name__}: {error}") from error
    return check_logic(name, found, entry.value)


def check_logic(name: str, found: Any, origin: str) -> Logic:  # noqa: ANN401 - a plugin may be anything until checked
    """`found` as a logic, if it keeps the plugin interface under `name`; else `LogicError` naming `origin`."""
    if not isinstance(found, Logic):
        raise _bad_plugin(name, origin, f"is a {type(found).__name__}, not a Logic")
    if found.name != name:
        raise _bad_plugin(name, origin, f"calls itself '{found.name}'")
    if not isinstance(found.summary, str) or not found.summary.strip():
        raise _bad_plugin(name, origin, "has no summary")
    for field, arity in ARITY.items():
        _check_callable(name, origin, field, getattr(found, field), arity)
    if found.explain is not None:
        _check_callable(name, origin, "explain", found.explain, 4)
    if found.alphabet is not None:
        _check_callable(name, origin, "alphabet", found.alphabet, 1)
    _check_names(name, origin, "default_goal", found.default_goal, tuple)
    if not found.default_goal:
        raise _bad_plugin(name, origin, "has an empty 'default_goal'")
    _check_names(name, origin, "notes", found.notes, frozenset)
    if not isinstance(found.truth, Mapping) or any(
        not isinstance(category, str) or value not in (True, False, None) for category, value in found.truth.items()
    ):
        raise _bad_plugin(name, origin, "has a 'truth' that does not map categories to True, False or None")
    return found


def _check_callable(name: str, origin: str, field: str, value: object, arity: int) -> None:
    if not callable(value):
        raise _bad_plugin(name, origin, f"has a '{field}' that cannot be called")
    try:
        signature = inspect.signature(value)
    except ValueError:  # some native callables do not tell
        return
    try:
        signature.bind(*[None] * arity)
    except TypeError:
        raise _bad_plugin(
            name, origin, f"has a '{field}' that does not take {arity} argument{'s' * (arity > 1)}"
        ) from None


def _check_names(
    name: str, origin: str, field: str, value: object, kind: type[tuple[Any, ...] | frozenset[Any]]
) -> None:
    if not isinstance(value, kind) or any(not isinstance(each, str) or not each for each in value):
        raise _bad_plugin(name, origin, f"has a '{field}' that is not a {kind.__name__} of names")


def _bad_plugin(name: str, origin: str, fault: str) -> LogicError:
    return LogicError(
        f"the logic plugin '{name}' ({GROUP}: {origin}) {fault}",
        code="LOGIC-011",
        hint="repair or uninstall the package that provides it",
    )


@cache
def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN}
