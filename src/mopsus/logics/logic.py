"""Stage 2: what a logic plugin is.

A plugin turns a formula over event names into a machine. It never sees parameters: the
engine makes any machine parametric, suffix-matching and collected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mopsus.model import Code, Machine, MopsusError, Severity, Span
from mopsus.spec.diagnostics import render_all


class LogicError(MopsusError):
    """A formula, a property or a logic plugin cannot be used."""

    code = "LOGIC-000"

    def __str__(self) -> str:
        return render_all(self.diagnostics) if self.diagnostics else super().__str__()


class FormulaError(LogicError):
    """A formula is wrong at `offset` (and `length` characters on) of its text."""

    code = "LOGIC-001"

    def __init__(self, message: str, *, offset: int, length: int = 1, hint: str = "", code: str | None = None) -> None:
        super().__init__(message, hint=hint, code=code)
        self.offset = offset
        self.length = length


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a logic beside the formula."""

    alphabet: tuple[str, ...]
    """Every declared event, in declaration order."""
    goal: frozenset[str]
    """The categories that someone handles; only these need be told apart."""
    restart: frozenset[str] = frozenset()
    """Goal categories whose handler may reset the machine to its initial state."""
    interrupted: bool = False
    """Something else, such as a handler of another property, may reset the machine after any event."""
    suffix: bool = False
    """Match some suffix of the trace instead of all of it."""
    every: bool = False
    """Report a final category at every event at which it holds, not only when it is reached."""
    alike: tuple[frozenset[str], ...] = ()
    """Groups of events that the asker does not tell apart within an event set of an analysis.
    Used only when the exact sets are too many: each set then has all events of a group or none."""
    beyond: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By event, the events that concern something which it does not, or do something: their slice may be another."""
    at_end: bool = False
    """Someone will ask what to presume of a trace that ends undecided: machines say so of each state, if they can."""
    allow_unmonitorable: bool = False
    """Accept a formula that no trace can decide, where it is otherwise refused."""
    fields: Mapping[str, tuple[str, ...]] | None = None
    """By event, the names of the data that it carries; None: whatever the formula takes it to be."""
    values: Mapping[str, tuple[str, ...]] | None = None
    """By event, the names of all that it has values for, parameters and data: what Python code in the formula sees."""
    place: Callable[[int, int], Span | None] | None = None
    """`place(offset, length)`: where a stretch of the formula stands in its file, for code in it."""
    imports: tuple[Code, ...] = ()
    """What Python code in the formula may use; run when that code is first run."""
    first_match: bool = False
    """Of several clauses of a conjunction that an event fits, only the first goes on, in logics with such clauses."""

    def beginnings(self, matches: frozenset[str]) -> frozenset[str]:
        """The events that begin an instance, if those are the ones that a match can begin with.

        Under `suffix` an event before the match still belongs to the slice: the values that it binds make the slice
        another one than that of the match alone. An event that binds nothing beyond what any beginning of a match does
        makes no such difference, and can wait unless it has an action: before the match there is nothing to remember.
        """
        if not self.suffix:
            return matches
        return matches.union(*(self.beyond.get(event, frozenset()) for event in matches))


@dataclass(frozen=True, slots=True)
class Turn:
    """A part of a formula that has another value after an event than before it."""

    position: int
    """Of the event in the word, from 0."""
    part: str
    """The text of the part."""
    value: bool | None
    """None: not known any more, or not yet."""


@dataclass(frozen=True, slots=True)
class Logic:
    """A logic plugin, registered under the entry-point group `mopsus.logics`.

    `parse(text, alphabet)` gives a formula object or raises `FormulaError`.
    `print(formula)` gives its canonical text. `categories(formula)` are the names that a
    handler may use, `events(formula)` the events that it speaks of. `compile(formula,
    request)` gives the machine. `reference(formula, alphabet, word)` gives the categories
    after a word straight from the definition; it is slow and exists to be compared with.
    """

    name: str
    summary: str
    parse: Callable[[str, tuple[str, ...]], Any]
    print: Callable[[Any], str]
    categories: Callable[[Any], frozenset[str]]
    events: Callable[[Any], frozenset[str]]
    compile: Callable[[Any, Request], Machine]
    reference: Callable[[Any, tuple[str, ...], Sequence[str]], frozenset[str]]
    default_goal: tuple[str, ...]
    """Reported when a property has no handlers. Empty in a logic with `acceptable`: all categories but those."""
    notes: frozenset[str] = frozenset()
    """Categories that are good news: a handler for one has severity `note` unless it says otherwise."""
    acceptable: Callable[[Any], frozenset[str]] | None = None
    """`acceptable(formula)`: further categories that are good news, or no news, where that depends on the formula."""
    truth: Mapping[str, bool | None] = field(default_factory=dict)
    reads_files: bool = False
    """A formula may be the name of a file in quotes, relative to the spec's own, that has the text to parse."""
    alphabet: Callable[[str], tuple[str, ...]] | None = None
    """`alphabet(text)`: the events that a formula on its own is over, where its text says so."""
    explain: Callable[[Any, tuple[str, ...], Sequence[str], Sequence[float | int | None]], Sequence[Turn]] | None = None
    """`explain(formula, alphabet, word, times)`: which parts of the formula changed their value at which event of the
    word, in order; `times` has the time of each event where there is one."""

    def severity(self, category: str, formula: object) -> Severity:
        """The severity of a handled category of a formula when the spec gives none."""
        return Severity.NOTE if category in self.good(formula) else Severity.ERROR

    def good(self, formula: object) -> frozenset[str]:
        """The categories of a formula that are not bad news."""
        return self.notes if self.acceptable is None else self.notes | self.acceptable(formula)

    def usual_goal(self, formula: object) -> frozenset[str]:
        """What a formula reports if nobody handles anything."""
        return frozenset(self.default_goal) or self.categories(formula) - self.good(formula)
