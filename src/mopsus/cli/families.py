"""Families of options: a dataclass stands in a command's signature for the options that are its fields.

Typer knows functions only, so a command that takes families is shown to it with a parameter for each field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def hints_of(command: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a command, but for what it returns."""
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    return hints


def flat_signature(command: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a command, with the fields of each family in its place."""
    parameters = []
    given = inspect.signature(command).parameters
    for name, hint in hints_of(command).items():
        if is_dataclass(hint):
            own = get_type_hints(hint, include_extras=True)
            parameters += [_parameter(each.name, own[each.name], each.default) for each in fields(hint)]
        else:
            parameters.append(_parameter(name, hint, given[name].default))
    return inspect.Signature(parameters)


def gather(command: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command, its families made of the values that typer gives for their fields."""
    arguments = {}
    for name, hint in hints_of(command).items():
        if is_dataclass(hint):
            arguments[name] = hint(**{each.name: values[each.name] for each in fields(hint)})  # type: ignore[operator]
        else:
            arguments[name] = values[name]
    return arguments


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:  # noqa: ANN401 - whatever a default may be
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
