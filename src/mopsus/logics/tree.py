"""Stage 2: what formulas that are trees of operators share, whatever the logic."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol, Self, TypeVar

from mopsus.logics.logic import FormulaError
from mopsus.logics.text import suggestion

MAX_DEPTH = 100
"""How deep operators may nest, so that recursion over a formula never exhausts the stack."""


class Tree(Protocol):
    """An operator over its parts."""

    @property
    def op(self) -> object: ...
    @property
    def parts(self) -> tuple[Self, ...]: ...
    @property
    def depth(self) -> int: ...


AnyTree = TypeVar("AnyTree", bound=Tree)


def walk(tree: AnyTree) -> Iterator[AnyTree]:
    """The tree and all its parts, from left to right, each before its own parts."""
    stack = [tree]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(part.parts))


def taken_in(op: object, parts: tuple[AnyTree, ...]) -> tuple[AnyTree, ...]:
    """The operands of an associative operator, those that have the same operator replaced by their own operands."""
    return tuple(inner for part in parts for inner in (part.parts if part.op is op else (part,)))


def depth_above(parts: tuple[AnyTree, ...], offset: int, hint: str) -> int:
    """The depth of a tree with these parts; `FormulaError` if that is too deep."""
    depth = 1 + max(part.depth for part in parts)
    if depth > MAX_DEPTH:
        raise FormulaError(
            f"operators are nested more than {MAX_DEPTH} deep", offset=offset, code="LOGIC-008", hint=hint
        )
    return depth


def unknown_event(name: str, offset: int, alphabet: Collection[str]) -> FormulaError:
    """The error for an event that the spec does not declare."""
    return FormulaError(
        f"unknown event '{name}'",
        offset=offset,
        length=len(name),
        hint=suggestion(name, alphabet),
        code="LOGIC-002",
    )


def ambiguous_word(word: str, offset: int) -> FormulaError:
    """The error for a word of the logic that is also an event."""
    return FormulaError(
        f"'{word}' is a word of this logic and also the name of an event",
        offset=offset,
        length=len(word),
        hint="rename the event",
        code="LOGIC-006",
    )
