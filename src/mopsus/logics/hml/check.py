"""Stage 2: what is odd about a formula that is not wrong.

Clauses that overlap or are never reached, conditions that nothing satisfies, events after which nothing is watched any
more, variables that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mopsus.logics.hml.formula import (
    Action,
    Formula,
    Junction,
    Maximum,
    Modality,
    Term,
    Variable,
    Whole,
    Wildcard,
    actions,
    subformulas,
)
from mopsus.logics.hml.formula import Name as DataName
from mopsus.logics.hml.guards import conditions
from mopsus.logics.hml.printer import print_modality
from mopsus.logics.hml.refute import negated, refuted
from mopsus.logics.hml.scope import bound_names, unused_binders
from mopsus.logics.hml.unify import SIDES, Substitution, apart, covers, event_pattern, substituted, unify
from mopsus.logics.logic import Request
from mopsus.model import Remark
from mopsus.spec.hml.events import FIELDS

MAX_CLAUSES = 50
"""Of a longer list of clauses only so many are compared with each other."""

_OFTEN = ("fork", "send", "recv")
"""What a component may do at any time: it begins once, and after its end nothing follows."""


def remarks(whole: Whole, *, linear: bool, request: Request) -> Iterator[Remark]:
    """Findings about a formula."""
    yield from _impossible(whole)
    if not linear:
        # Clauses that overlap are plain conjunctions here, but not where the first that fits is taken.
        ordered = request.first_match or whole.selection is not None
        for part in subformulas(whole.formula):
            if ordered and isinstance(part, Junction):
                yield from _overlaps(part, whole, request)
            if isinstance(part, Maximum):
                yield from _gaps(part, whole, request)
    for binder in unused_binders(whole):
        yield Remark(
            "LOGIC-084",
            f"variable '{binder.name}' is never read",
            "write '_' for a value that does not matter, or begin the name with '_'",
            binder.offset,
            len(binder.name),
        )


# ---- what nothing fits -------------------------------------------------------------------------


def _impossible(whole: Whole) -> Iterator[Remark]:
    for action in actions(whole):
        if action.guard is not None and refuted([conditions(action.guard)]):
            place = action.guard
            yield Remark("LOGIC-082", "this guard is never true", "check its comparisons", place.offset, place.length)
        elif action.whole and not any(
            unify(_own(action, SIDES[0]).pattern, _own(_any_of(event), SIDES[1], shaped=True).pattern, {})
            for event in FIELDS
        ):
            hint = "an event is a tuple such as {trace, P, 'receive', M}"
            yield Remark("LOGIC-082", "no event fits this pattern", hint, action.offset, action.length)


def _any_of(event: str) -> Action:
    return Action(event, (Wildcard(),) * len(FIELDS[event]))


# ---- clauses that overlap ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Clause:
    """An action whose own variables have names of their own."""

    pattern: Term
    guard: tuple[tuple[Term, ...], ...]


def _own(action: Action, side: str, *, shaped: bool = False) -> _Clause:
    bound = frozenset(bound_names(action))
    guard = tuple(tuple(apart(part, bound, side) for part in parts) for parts in conditions(action.guard))
    return _Clause(apart(event_pattern(action, shaped=shaped), bound, side), guard)


def _pair(one: Action, other: Action) -> tuple[_Clause, _Clause]:
    shaped = one.whole or other.whole
    return _own(one, SIDES[0], shaped=shaped), _own(other, SIDES[1], shaped=shaped)


def _overlaps(junction: Junction, whole: Whole, request: Request) -> Iterator[Remark]:
    clauses = [part for part in junction.parts if isinstance(part, Modality)][:MAX_CLAUSES]
    for number, clause in enumerate(clauses):
        for before in clauses[:number]:
            found = _overlap(before, clause, whole, request)
            if found is not None:
                yield found
                break


def _overlap(before: Modality, clause: Modality, whole: Whole, request: Request) -> Remark | None:
    if before.action.event is not None and clause.action.event not in (None, before.action.event):
        return None
    first = f"'{print_modality(before, erlang=whole.selection is not None)}' before it"
    if _always(before.action, clause.action):
        message = f"whatever fits this clause fits {first}"
        code = "LOGIC-080"
    elif _possible(before.action, clause.action):
        message = f"an event may fit this clause and {first}"
        code = "LOGIC-081"
    else:
        return None
    hint = (
        "only the first is taken: put the more special one first, or make their guards exclude each other"
        if request.first_match
        else "both go on here; where the first that fits is taken (--first-match, detectEr), this one would not"
    )
    return Remark(code, message, hint, clause.offset, clause.length, before.offset)


def _always(before: Action, clause: Action) -> bool:
    """Does every event that fits `clause` fit `before`?"""
    general, special = _pair(before, clause)
    bound: Substitution = {}
    if before.event is not None and clause.event is None:
        return False
    if not covers(general.pattern, special.pattern, bound):
        return False
    if before.guard is None:
        return True
    if clause.guard is None or type(before.guard) is not type(clause.guard):
        return False
    renamed = tuple(tuple(substituted(part, bound) for part in parts) for parts in general.guard)
    return renamed == special.guard and any(renamed)


def _possible(before: Action, clause: Action) -> bool:
    """May an event fit both?"""
    one, other = _pair(before, clause)
    known: Substitution = {}
    if not unify(one.pattern, other.pattern, known):
        return False
    return not refuted([one.guard, other.guard], lambda part: substituted(part, known))


# ---- events after which nothing is watched any more --------------------------------------------


def _gaps(loop: Maximum, whole: Whole, request: Request) -> Iterator[Remark]:
    """Events that none of the clauses of a loop is about: they end it without a result."""
    clauses = list(_clauses(loop.body))
    if not clauses or any(clause.action.whole for clause in clauses):
        return
    events = _OFTEN if whole.selection is not None else request.alphabet
    missing = [event for event in events if all(clause.action.event not in (None, event) for clause in clauses)]
    partly = [
        event
        for event in events
        if event not in missing
        and not _covered([each.action for each in clauses if each.action.event in (None, event)])
    ]
    if not missing and not partly:
        return
    what = [f"any {event}" for event in missing] + [f"some {event}" for event in partly]
    yield Remark(
        "LOGIC-083",
        f"in '{loop.name}' no clause is about {_listed(what)}: that ends the monitoring without a result",
        f"add a clause that goes on with {loop.name} for what does not matter",
        loop.offset,
        len(loop.name),
    )


def _about(event: str, clauses: Sequence[Modality]) -> list[Action]:
    return [clause.action for clause in clauses if clause.action.event in (None, event)]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _clauses(formula: Formula) -> Iterator[Modality]:
    match formula:
        case Modality():
            yield formula
        case Junction(_, parts):
            for part in parts:
                yield from _clauses(part)
        case Maximum(_, body):
            yield from _clauses(body)
        case Variable():
            pass


def _covered(clauses: Sequence[Action]) -> bool:
    """Is every event of a kind surely the subject of one of these clauses?

    It is if one of them takes all, or if two have guards of one comparison each, one of which is true when the other
    is not.
    """
    open_ = [clause for clause in clauses if _fits_all(clause)]
    if any(clause.guard is None for clause in open_):
        return True
    comparisons = {part for clause in open_ for part in _only_comparison(clause)}
    return any(negated(part) in comparisons for part in comparisons)


def _fits_all(action: Action) -> bool:
    """Do its patterns fit whatever the values are?"""
    patterns = action.patterns or ()
    names = [pattern.name for pattern in patterns if isinstance(pattern, DataName)]
    return all(isinstance(pattern, Wildcard | DataName) for pattern in patterns) and len(names) == len(set(names))


def _only_comparison(action: Action) -> Iterator[Term]:
    """The guard, if it is a single comparison, with fields instead of the variables that stand for them."""
    guard = conditions(action.guard)
    if len(guard) == 1 and len(guard[0]) == 1:
        fields = enumerate(action.patterns or ())
        known = {field.name: DataName(f"{number}") for number, field in fields if isinstance(field, DataName)}
        yield substituted(guard[0][0], {**known})
