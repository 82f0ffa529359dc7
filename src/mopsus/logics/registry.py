"""Stage 2: logic plugins by name, each imported when it is first asked for, and checked before anyone uses it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mopsus.logics.logic import Logic, LogicError
from mopsus.logics.text import suggestion
from mopsus.spec.logics import BUILT_IN, GROUP, logic_names, plugins

ARITY: Mapping[str, int] = {"parse": 2, "print": 1, "categories": 1, "events": 1, "compile": 2, "reference": 3}


@cache
def load_logic(name: str) -> Logic:
    """The logic of that name, imported and checked.

    `LogicError` if there is none, or if its plugin cannot be imported or does not keep the interface.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return check_logic(name, getattr(import_module(module), attribute), BUILT_IN[name])
    entry = plugins().get(name)
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
    if found.acceptable is not None:
        _check_callable(name, origin, "acceptable", found.acceptable, 1)
    elif not found.default_goal:
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
