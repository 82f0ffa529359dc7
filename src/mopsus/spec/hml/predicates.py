"""Stage 1: Python functions that guards of `.hml` texts may call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from mopsus.model import Diagnostic
from mopsus.spec.errors import SpecError

F = TypeVar("F", bound=Callable[..., Any])

PREDICATES: dict[str, Callable[..., Any]] = {}
"""By name."""

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")


def predicate(function: F) -> F:
    """Let guards of `.hml` texts that are compiled from now on call the function by its name: `when vip(Client)`.

    It gets the values of variables and says whether the condition holds. It should be pure; an error in it counts as
    false. `SpecError` if its name is none of the language's.
    """
    name = getattr(function, "__name__", "")
    if not _NAME.fullmatch(name):
        message = f"'{name}' cannot be called in a guard"
        hint = "name the function in lower case: letters, digits and underscores"
        raise SpecError([Diagnostic("SPEC-071", message, hint=hint)])
    PREDICATES[name] = function
    return function
