"""Stage 2: the text of ptcaret: which events are calls and returns, then a past-time formula over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from mopsus.logics.logic import FormulaError
from mopsus.logics.temporal import syntax
from mopsus.logics.temporal.syntax import PAST, Formula, Op, parse_formula, print_formula
from mopsus.logics.text import suggestion
from mopsus.logics.tree import unknown_event, walk

ROLES = ("call", "begin", "end", "return")
OPENING = ("call", "begin")
CLOSES = {"end": "begin", "return": "call"}
"""By closing role, the one that it closes."""

MODES = ("", "a", "s@b", "s@c", "s@bc")
KINDS = {"b": ("begin",), "c": ("call",), "bc": ("call", "begin")}
"""The opening events that the letters behind `@` stand for."""

_DECLARATION = re.compile(r"\s*(\w+)\s+(\w+(?:\s*,\s*\w+)*)\s*;")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Caret:
    """A formula, and the role of every event that has one."""

    formula: Formula
    roles: tuple[tuple[str, str], ...]
    """Pairs of an event and its role, in the order of the events."""
    declared: bool
    """The roles are written down, not taken from the events' names."""

    @cached_property
    def role(self) -> dict[str, str]:
        """By event, for those that have one."""
        return dict(self.roles)

    def opened_by(self, mode: str) -> tuple[str, ...]:
        """The opening events that an operator of this mode, which has `@`, speaks of."""
        return KINDS[mode.rpartition("@")[2]]


def parse_caret(text: str, alphabet: tuple[str, ...]) -> Caret:
    """The formula that `text` denotes over the events of `alphabet`, or `FormulaError`.

    Without declarations, the events called `call`, `begin`, `end` and `return` have the role that they are named
    after.
    """
    roles: dict[str, str] = {}
    start = 0
    for end, role, event, offset in _declarations(text):
        _declare(roles, role, event, offset, alphabet)
        start = end
    declared = bool(roles)
    if not declared:
        roles = {role: role for role in ROLES if role in alphabet}
    # Offsets stay those of the whole text.
    formula = parse_formula(
        " " * start + text[start:], alphabet, logic="ptcaret", operators=PAST | {Op.AT}, modes=MODES
    )
    caret = Caret(formula, tuple((event, roles[event]) for event in alphabet if event in roles), declared)
    for part in walk(formula):
        _check(part, caret)
    return caret


def print_caret(caret: Caret) -> str:
    """The canonical text."""
    by_role = {role: [event for event, its in caret.roles if its == role] for role in ROLES}
    lines = [f"{role}s {', '.join(events)};" for role, events in by_role.items() if events and caret.declared]
    return "\n".join([*lines, print_formula(caret.formula)])


def events_of(caret: Caret) -> frozenset[str]:
    """The events written in the formula, and those that have a role."""
    return syntax.events_of(caret.formula) | caret.role.keys()


def _declarations(text: str) -> Iterator[tuple[int, str, str, int]]:
    """Each declared event as (end of its declaration, role, event, offset of the event)."""
    at = 0
    while (found := _DECLARATION.match(text, at)) is not None:
        word = found[1]
        role = word.removesuffix("s")
        if role not in ROLES or role == word:
            raise FormulaError(
                f"unknown role '{word}'",
                offset=found.start(1),
                length=len(word),
                hint=suggestion(word, [f"{role}s" for role in ROLES]),
            )
        at = found.end()
        for event in _WORD.finditer(text, *found.span(2)):
            yield at, role, event[0], event.start()


def _declare(roles: dict[str, str], role: str, event: str, offset: int, alphabet: tuple[str, ...]) -> None:
    if event not in alphabet:
        raise unknown_event(event, offset, alphabet)
    if event in roles:
        raise FormulaError(
            f"event '{event}' has two roles",
            offset=offset,
            length=len(event),
            hint="an event is one of call, begin, end and return",
            code="LOGIC-004",
        )
    roles[event] = role


def _check(part: Formula, caret: Caret) -> None:
    """Refuse an operator that speaks of calls if the events that it needs are not there."""
    there = set(caret.role.values())
    if part.mode == "a":
        if not any({closing, opening} <= there for closing, opening in CLOSES.items()):
            raise _missing(part, "no pair of events begins and ends a call", "calls open; returns close;")
    elif part.mode and not there.intersection(caret.opened_by(part.mode)):
        kinds = caret.opened_by(part.mode)
        raise _missing(part, f"no event is a {' or a '.join(kinds)}", f"{kinds[0]}s open;")


def _missing(part: Formula, what: str, example: str) -> FormulaError:
    return FormulaError(
        f"{what}, so that the operator has nothing to speak of",
        offset=part.offset,
        hint=f"say which events do, before the formula: {example}",
        code="LOGIC-015",
    )
