"""Stage 2: which binder each name of a formula means, and what is wrong with names.

Data variables and variables of fixed points are apart: neither can hide the other. A modality binds for its own guard
and all that follows it, siblings do not see each other, and the nearest binder of a name is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mopsus.logics.hml.formula import (
    Action,
    Formula,
    Junction,
    Maximum,
    Modality,
    Name,
    Pin,
    PythonGuard,
    Term,
    Truth,
    Variable,
    Whole,
    subterms,
)
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import suggestion


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at a place of a formula: the slots of data variables, the numbers of fixed points."""

    slots: Mapping[str, int]
    fixed: Mapping[str, int]

    def with_slots(self, bound: Mapping[str, int]) -> Scope:
        """The scope behind a modality."""
        return replace(self, slots={**self.slots, **bound})

    def with_fixed(self, name: str, number: int) -> Scope:
        """The scope in the body of a fixed point."""
        return replace(self, fixed={**self.fixed, name: number})

    def slot(self, name: str, offset: int) -> int:
        """The slot of a data variable that is read."""
        if name in self.slots:
            return self.slots[name]
        if name in self.fixed:
            raise _clash(f"'{name}' is the variable of a fixed point and has no value", name, offset)
        raise FormulaError(
            f"variable '{name}' is unbound",
            offset=offset,
            length=len(name),
            hint=suggestion(name, self.slots) or "bind it in the pattern of this modality or one around it",
            code="LOGIC-071",
        )

    def target(self, variable: Variable) -> int:
        """The number of the fixed point that a variable of one means."""
        name = variable.name
        if name in self.fixed:
            return self.fixed[name]
        if name in self.slots:
            raise _clash(f"'{name}' is a value of an event and no formula", name, variable.offset)
        raise FormulaError(
            f"there is no fixed point '{name}' around this",
            offset=variable.offset,
            length=len(name),
            hint=suggestion(name, self.fixed) or f"write max {name}.(…) around it",
            code="LOGIC-072",
        )

    def check_binder(self, name: str, offset: int) -> None:
        """Refuse a data variable that has the name of a fixed point around it."""
        if name in self.fixed:
            raise _clash(f"'{name}' is the variable of the fixed point around this", name, offset)

    def check_fixed(self, maximum: Maximum) -> None:
        """Refuse a fixed point that has the name of a data variable around it."""
        if maximum.name in self.slots:
            raise _clash(f"'{maximum.name}' is bound by an event around this", maximum.name, maximum.offset)


NOTHING = Scope({}, {})


def _clash(message: str, name: str, offset: int) -> FormulaError:
    return FormulaError(message, offset=offset, length=len(name), hint="rename one of them", code="LOGIC-073")


def check_guarded(formula: Formula, waiting: frozenset[str] = frozenset()) -> None:
    """Refuse a fixed point that is reached again without an event: it would be unfolded for ever."""
    match formula:
        case Variable(name, offset) if name in waiting:
            raise FormulaError(
                f"'{name}' is reached again without an event",
                offset=offset,
                length=len(name),
                hint="put a modality before it, such as [_ ? _]",
                code="LOGIC-070",
            )
        case Maximum(name, body):
            check_guarded(body, waiting | {name})
        case Junction(_, parts):
            for part in parts:
                check_guarded(part, waiting)
        case Modality(_, _, then):
            check_guarded(then)
        case Truth() | Variable():
            pass


@dataclass(frozen=True, slots=True)
class Binder:
    """A place that binds a data variable."""

    name: str
    offset: int


def unused_binders(whole: Whole) -> Iterator[Binder]:
    """The binders of variables that nothing reads, in the order of the text, but for names that begin with `_`."""
    if whole.selection is None:
        yield from _unused(whole.formula)
    else:
        yield from _unused_in(whole.selection, whole.formula)


def _unused(formula: Formula) -> Iterator[Binder]:
    match formula:
        case Maximum(_, body):
            yield from _unused(body)
        case Junction(_, parts):
            for part in parts:
                yield from _unused(part)
        case Modality(_, action, then):
            yield from _unused_in(action, then)


def _unused_in(action: Action, then: Formula) -> Iterator[Binder]:
    bound = bound_names(action)
    read = _read_in_guard(action) | _read(then)
    for name, places in bound.items():
        # Two of a name in one pattern are compared with each other, which is a use.
        if len(places) == 1 and name not in read and not name.startswith("_"):
            yield Binder(name, places[0])
    yield from _unused(then)


def bound_names(action: Action) -> dict[str, list[int]]:
    """The variables that an action binds, with the places where they stand in its patterns."""
    found: dict[str, list[int]] = {}
    for term in _terms(action):
        if isinstance(term, Name):
            found.setdefault(term.name, []).append(term.offset)
    return found


def _terms(action: Action) -> Iterator[Term]:
    for pattern in action.patterns or ():
        yield from subterms(pattern)


def _read(formula: Formula) -> set[str]:
    """The data variables that a formula reads and does not bind itself."""
    match formula:
        case Maximum(_, body):
            return _read(body)
        case Junction(_, parts):
            return set().union(*map(_read, parts))
        case Modality(_, action, then):
            pinned = {term.name for term in _terms(action) if isinstance(term, Pin)}
            return pinned | ((_read_in_guard(action) | _read(then)) - bound_names(action).keys())
    return set()


def _read_in_guard(action: Action) -> set[str]:
    guard = action.guard
    if guard is None:
        return set()
    if isinstance(guard, PythonGuard):
        return set(guard.names)
    return {
        term.name for parts in guard.alternatives for part in parts for term in subterms(part) if isinstance(term, Name)
    }
