"""Stage 4: does a value fit a pattern of a pointcut? Values are compared as formulas with data compare them."""

from __future__ import annotations

from collections.abc import Mapping

from mopsus.logics.hml.values import exactly_equal, plain
from mopsus.model.symbolic import Any_, Bind, ListOf, Literal, MapOf, Pattern, Same, TupleOf


def fits(pattern: Pattern, value: object, bound: list[object]) -> bool:
    """Whether it fits; what names stand for is put into `bound`, by slot."""
    match pattern:
        case Any_():
            return True
        case Bind(slot):
            bound[slot] = value
            return True
        case Same(slot):
            return exactly_equal(bound[slot], value)
        case Literal(wanted):
            return exactly_equal(wanted, value)
        case TupleOf(parts, tag):
            values = plain(value)
            if not isinstance(values, tuple) or (tag is not None and type(value).__name__ != tag):
                return False
            return len(parts) == len(values) and _all_fit(parts, values, bound)
        case ListOf(parts, rest):
            if not isinstance(value, list) or len(value) < len(parts) or (rest is None and len(value) > len(parts)):
                return False
            return _all_fit(parts, value, bound) and (rest is None or fits(rest, value[len(parts) :], bound))
        case MapOf(items):
            if not isinstance(value, Mapping):
                return False
            return all(_item_fits(key, part, value, bound) for key, part in items)


def _all_fit(parts: tuple[Pattern, ...], values: tuple[object, ...] | list[object], bound: list[object]) -> bool:
    return all(fits(part, value, bound) for part, value in zip(parts, values, strict=False))


def _item_fits(key: object, pattern: Pattern, mapping: Mapping[object, object], bound: list[object]) -> bool:
    return any(exactly_equal(key, other) and fits(pattern, mapping[other], bound) for other in mapping)
