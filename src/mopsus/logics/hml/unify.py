"""Stage 2: can two patterns fit the same value, and does one fit whatever another fits?

Variables of the two are kept apart by a side; those that a pattern or guard reads from around stand for the same value
on both sides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from mopsus.logics.hml.formula import (
    Action,
    Call,
    Constant,
    ListTerm,
    MapTerm,
    Name,
    Pin,
    Term,
    TupleTerm,
    Wildcard,
    subterms,
)
from mopsus.logics.hml.values import exactly_equal
from mopsus.spec.hml.events import SHAPES

Substitution: TypeAlias = "dict[str, Term]"

SIDES = ("'", '"')
"""What marks the variables of the one and the other pattern."""


def apart(term: Term, bound: frozenset[str], side: str) -> Term:
    """The term with its own variables marked by a side; pins become the variables that they mean."""
    match term:
        case Name(name, offset):
            return Name(name + side, offset) if name in bound else term
        case Pin(name, offset):
            return Name(name, offset)
        case TupleTerm(parts):
            return replace(term, parts=tuple(apart(part, bound, side) for part in parts))
        case ListTerm(parts, rest):
            inner = tuple(apart(part, bound, side) for part in parts)
            return replace(term, parts=inner, rest=None if rest is None else apart(rest, bound, side))
        case MapTerm(items):
            return replace(term, items=tuple((key, apart(value, bound, side)) for key, value in items))
        case Call(_, operands):
            return replace(term, operands=tuple(apart(operand, bound, side) for operand in operands))
    return term


def event_pattern(action: Action, *, shaped: bool) -> Term:
    """One pattern for all that an action says of an event; if `shaped`, for the event as the tuple that it is."""
    if action.whole and action.patterns is not None:
        return action.patterns[0]
    if action.event is None:
        return Wildcard()
    if shaped and action.patterns is not None:
        return _shaped(SHAPES[action.event], action.patterns)
    # Without patterns there may be any number of values.
    return ListTerm((Constant(action.event), *(action.patterns or ())), Wildcard() if action.patterns is None else None)


def _shaped(shape: tuple[object, ...], patterns: tuple[Term, ...]) -> TupleTerm:
    parts: list[Term] = []
    for part in shape:
        if isinstance(part, tuple):
            parts.append(_shaped(part, patterns))
        else:
            parts.append(patterns[part] if isinstance(part, int) else Constant(part))
    return TupleTerm(tuple(parts))


# ---- both --------------------------------------------------------------------------------------


def unify(left: Term, right: Term, known: Substitution) -> bool:
    """Is there a value that both fit? `known` is filled with what the variables must be then."""
    left, right = resolve(left, known), resolve(right, known)
    match left, right:
        case (Wildcard(), _) | (_, Wildcard()):
            return True
        case (Name(one), Name(other)) if one == other:
            return True
        case (Name(name), term) | (term, Name(name)):
            if any(part == Name(name) for part in subterms(substituted(term, known))):
                return False  # no value is a part of itself
            known[name] = term
            return True
        case (Constant(one), Constant(other)):
            return exactly_equal(one, other)
        case (TupleTerm(parts, tag), TupleTerm(others, other_tag)):
            return (tag is None or other_tag in (None, tag)) and _unify_all(parts, others, known)
        case (ListTerm(), ListTerm()):
            return _unify_lists(left, right, known)
        case (MapTerm(items), MapTerm(others)):
            return all(
                unify(value, other, known)
                for key, value in items
                for other_key, other in others
                if exactly_equal(key.value, other_key.value)
            )
    return False


def _unify_all(parts: tuple[Term, ...], others: tuple[Term, ...], known: Substitution) -> bool:
    return len(parts) == len(others) and all(unify(*pair, known) for pair in zip(parts, others, strict=True))


def _unify_lists(left: ListTerm, right: ListTerm, known: Substitution) -> bool:
    shared = min(len(left.parts), len(right.parts))
    if not _unify_all(left.parts[:shared], right.parts[:shared], known):
        return False
    tails = [
        ListTerm(each.parts[shared:], each.rest) if each.parts[shared:] or each.rest is None else each.rest
        for each in (left, right)
    ]
    if all(isinstance(tail, ListTerm) for tail in tails):
        # One of them has no parts left: it ends here, so the other must have none either.
        return all(isinstance(tail, ListTerm) and not tail.parts for tail in tails)
    return unify(tails[0], tails[1], known)


def resolve(term: Term, known: Substitution) -> Term:
    """What a variable is known to be."""
    while isinstance(term, Name) and term.name in known:
        term = known[term.name]
    return term


def substituted(term: Term, known: Substitution) -> Term:
    """The term with all variables that are known replaced."""
    term = resolve(term, known)
    match term:
        case TupleTerm(parts):
            return replace(term, parts=tuple(substituted(part, known) for part in parts))
        case ListTerm(parts, rest):
            inner = tuple(substituted(part, known) for part in parts)
            return replace(term, parts=inner, rest=None if rest is None else substituted(rest, known))
        case MapTerm(items):
            return replace(term, items=tuple((key, substituted(value, known)) for key, value in items))
        case Call(_, operands):
            return replace(term, operands=tuple(substituted(operand, known) for operand in operands))
    return term


# ---- one in place of the other -----------------------------------------------------------------


def covers(general: Term, special: Term, bound: Substitution) -> bool:
    """Does `general`, of the first side, fit every value that `special` fits?

    `bound` is filled with what its variables are then.
    """
    match general, special:
        case (Wildcard(), _):
            return True
        case (Name(name), _) if not name.endswith(SIDES[0]):
            return general == special  # a value from around
        case (Name(name), _):
            if name not in bound:
                bound[name] = special
                return True
            return bound[name] == special and not any(isinstance(part, Wildcard) for part in subterms(special))
        case (Constant(one), Constant(other)):
            return exactly_equal(one, other)
        case (TupleTerm(parts, tag), TupleTerm(others, other_tag)):
            return tag in (None, other_tag) and _cover_all(parts, others, bound)
        case (ListTerm(parts, rest), ListTerm(others, other_rest)):
            if len(parts) > len(others) or not _cover_all(parts, others[: len(parts)], bound):
                return False
            tail = others[len(parts) :]
            if rest is None:
                return not tail and other_rest is None
            return covers(rest, ListTerm(tail, other_rest) if tail or other_rest is None else other_rest, bound)
        case (MapTerm(items), MapTerm(others)):
            return all(
                any(exactly_equal(key.value, other.value) and covers(value, found, bound) for other, found in others)
                for key, value in items
            )
    return False


def _cover_all(parts: tuple[Term, ...], others: tuple[Term, ...], bound: Substitution) -> bool:
    return len(parts) == len(others) and all(covers(*pair, bound) for pair in zip(parts, others, strict=True))
