"""Stage 2: which components a specification made from an `.hml` text is about, by the function that they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mopsus.logics.hml.matching import fits
from mopsus.logics.hml.parse import parse_whole
from mopsus.model import Spec

Selector: TypeAlias = "Callable[[str, str, Sequence[object], Mapping[str, object] | None], bool]"
"""Takes the module, the function, its arguments by place and those by name."""


def selector(spec: Spec) -> Selector:
    """Is a component that runs this function the subject of any property?

    A property without `with`, as `.mop` files have them, is about every component. `LogicError` if a formula is wrong.
    """
    alphabet = tuple(event.name for event in spec.events)
    wholes = [parse_whole(prop.formula, alphabet) for prop in spec.properties if prop.logic in ("shml", "maxhml")]
    selections = [whole.selection for whole in wholes if whole.selection is not None]
    if len(selections) < len(spec.properties):
        return lambda module, function, arguments, keywords: True

    def selects(module: str, function: str, arguments: Sequence[object], keywords: Mapping[str, object] | None) -> bool:
        start = ("start", (module, function, argument_list(arguments, keywords)))
        return any(fits(selection, start, {}) is not None for selection in selections)

    return selects


def argument_list(arguments: Sequence[object], keywords: Mapping[str, object] | None) -> list[object]:
    """The arguments of a function as the events of components carry them: those by name in one mapping at the end."""
    return [*arguments, dict(keywords)] if keywords else [*arguments]
