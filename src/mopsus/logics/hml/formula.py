"""Stage 2: formulas of modalities over events with data, whichever syntax they were written in.

Forms of `.hml` files and properties in `.mop` files both give this. Offsets are those of
the text that was read and take no part in equality.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

# ---- terms: what patterns and guards are made of -----------------------------------------------


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`_`: fits every value, binds nothing."""

    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable: in a pattern it is bound, in a guard it is read."""

    name: str
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Pin:
    """`^name` in a pattern: fits what is equal to a variable that is bound already."""

    name: str
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that stands for itself."""

    value: object
    offset: int = field(default=0, compare=False)

    def __eq__(self, other: object) -> bool:
        """Equal values of one type: 1, 1.0 and True are three constants, as are an atom and a string."""
        return (
            isinstance(other, Constant)
            and type(self.value) is type(other.value)
            and repr(self.value) == repr(other.value)
        )

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class TupleTerm:
    """`{a, B}`, in Python syntax `(a, b)`; with `tag`, `Class(a, b)`."""

    parts: tuple[Term, ...]
    tag: str | None = None
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ListTerm:
    """`[a, B]` or `[a, B | Rest]`, in Python syntax `[a, b, *rest]`."""

    parts: tuple[Term, ...]
    rest: Term | None = None
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class MapTerm:
    """`#{key := Value}`, in Python syntax `{key: value}`: has these keys, and maybe others."""

    items: tuple[tuple[Constant, Term], ...]
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function of the guard language on its operands; never in a pattern."""

    operator: str
    operands: tuple[Term, ...]
    offset: int = field(default=0, compare=False)


Term: TypeAlias = "Wildcard | Name | Pin | Constant | TupleTerm | ListTerm | MapTerm | Call"


# ---- actions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TermGuard:
    """Alternatives, separated by `;`, of parts, separated by `,`, all of which must be true."""

    alternatives: tuple[tuple[Term, ...], ...]
    offset: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class PythonGuard:
    """A Python expression; `names` are those that it reads, bound or not."""

    text: str
    names: tuple[str, ...] = field(default=(), compare=False)
    offset: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


Guard: TypeAlias = "TermGuard | PythonGuard"


@dataclass(frozen=True, slots=True)
class Action:
    """The events that a modality speaks of.

    `event` None is any event. `patterns` are one for each field of the event; None: whatever they are. If `whole`, the
    single pattern is for the event as a tuple.
    """

    event: str | None
    patterns: tuple[Term, ...] | None = None
    guard: Guard | None = None
    whole: bool = False
    offset: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


# ---- formulas ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Truth:
    """`tt` or `ff`."""

    value: bool
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """The variable of a greatest fixed point."""

    name: str
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Maximum:
    """`max X.(body)`, a greatest fixed point. `offset` is where its variable stands."""

    name: str
    body: Formula
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Junction:
    """`and`, or else `or`, of two or more formulas, none of which is a junction of the same kind."""

    conjunction: bool
    parts: tuple[Formula, ...]
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Modality:
    """`[action] then`, or else `<action> then`. Its place is that of the action with its brackets."""

    necessity: bool
    action: Action
    then: Formula
    offset: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


Formula: TypeAlias = "Truth | Variable | Maximum | Junction | Modality"


@dataclass(frozen=True, slots=True)
class Whole:
    """All of a property: a formula and, if it is a form of an `.hml` text, the components that it is about.

    `word` is `monitor` or `check` there, and empty for a formula of a `.mop` file.
    """

    formula: Formula
    selection: Action | None = None
    word: str = ""


def junction(conjunction: bool, parts: list[Formula], offset: int) -> Formula:
    """The junction of some formulas, flat; a single one is itself."""
    flat: list[Formula] = []
    for part in parts:
        same = isinstance(part, Junction) and part.conjunction is conjunction
        flat += part.parts if same and isinstance(part, Junction) else [part]
    return flat[0] if len(flat) == 1 else Junction(conjunction, tuple(flat), offset)


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and all that it consists of, in the order of the text."""
    stack: list[Formula] = [formula]
    while stack:
        each = stack.pop()
        yield each
        match each:
            case Maximum(_, body):
                stack.append(body)
            case Junction(_, parts):
                stack += reversed(parts)
            case Modality(_, _, then):
                stack.append(then)


def subterms(term: Term) -> Iterator[Term]:
    """The term and all that it consists of, in the order of the text."""
    yield term
    match term:
        case TupleTerm(parts) | Call(_, parts):
            for part in parts:
                yield from subterms(part)
        case ListTerm(parts, rest):
            for part in parts:
                yield from subterms(part)
            if rest is not None:
                yield from subterms(rest)
        case MapTerm(items):
            for _, value in items:
                yield from subterms(value)


def actions(whole: Whole) -> Iterator[Action]:
    """The selection and the actions of all modalities, in the order of the text."""
    if whole.selection is not None:
        yield whole.selection
    for each in subformulas(whole.formula):
        if isinstance(each, Modality):
            yield each.action
