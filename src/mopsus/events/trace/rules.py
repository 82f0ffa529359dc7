"""Stage 4: how the events of a spec are recognised in a trace, and what that needs of a row.

The meaning of a pointcut is `mopsus.spec.pointcuts.holds`. A pointcut with primitives that speak of
something other than traces leaves an event to be recognised by its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mopsus.model import Event, Pointcut, Spec
from mopsus.spec import pointcuts
from mopsus.spec import predicate as predicates
from mopsus.spec.predicate import Predicate

TRACE_POINTCUTS = frozenset(["and", "or", "not", "named", "row", "bind"])


@dataclass(frozen=True, slots=True)
class EventRule:
    """Which rows are this event, and where its parameters are."""

    event: str
    pointcut: Pointcut
    columns: Mapping[str, str]
    """The column of each of the event's parameters."""
    names: frozenset[str] | None
    """The values of column `event` that its rows can have; None: any."""
    fields: frozenset[str]
    """The columns that its predicates look at."""
    required: frozenset[str]
    """Those of them of which it is not asked whether they are missing, by `is None`."""
    texts: frozenset[str]
    """Those of them that are compared with text."""

    @property
    def plain(self) -> bool:
        """Are its rows those with its name, and its parameters the columns of the same names?"""
        own = pointcuts.named(self.event)
        return self.pointcut == own and all(name == column for name, column in self.columns.items())

    @property
    def looks_at_name(self) -> bool:
        """Does recognising it need column `event`?"""
        return any(part.kind == "named" for part in walk(self.pointcut))

    @property
    def mentioned(self) -> tuple[str, ...]:
        """All columns that it speaks of, those that may be missing included."""
        return (*sorted(self.fields), *self.columns.values(), *(["event"] if self.looks_at_name else ()))


def rules_of(spec: Spec) -> tuple[EventRule, ...]:
    """The rules of a spec's events, in the order of declaration."""
    return tuple(_rule_of(event) for event in spec.events)


def walk(pointcut: Pointcut) -> Iterator[Pointcut]:
    """The pointcut and everything in it."""
    yield pointcut
    for operand in pointcut.operands:
        yield from walk(operand)


def _rule_of(event: Event) -> EventRule:
    for_traces = event.pointcut is None or all(part.kind in TRACE_POINTCUTS for part in walk(event.pointcut))
    pointcut = pointcuts.recognition(event) if for_traces else pointcuts.named(event.name)
    columns = pointcuts.columns(event) if for_traces else {name: name for name in event.names}
    tests: list[Predicate] = [part.argument for part in walk(pointcut) if part.kind == "row"]
    fields = frozenset(name for test in tests for name in predicates.fields(test))
    texts = frozenset(name for test in tests for name in _texts(test))
    required = fields - {name for test in tests for name in predicates.null_tested(test)}
    return EventRule(event.name, pointcut, columns, _names(pointcut), fields, required, texts)


def _names(pointcut: Pointcut) -> frozenset[str] | None:
    match pointcut.kind:
        case "named":
            return frozenset(pointcut.argument)
        case "and":
            known = [names for part in pointcut.operands if (names := _names(part)) is not None]
            return frozenset.intersection(*known) if known else None
        case "or":
            choices = [_names(part) for part in pointcut.operands]
            found = [names for names in choices if names is not None]
            return frozenset.union(*found) if len(found) == len(choices) else None
    return None


def _texts(predicate: Predicate) -> Iterator[str]:
    match predicate:
        case predicates.Compare(_, predicates.Field(name), predicates.Literal(str())):
            yield name
        case predicates.Compare(_, predicates.Literal(str()), predicates.Field(name)):
            yield name
        case predicates.In(predicates.Field(name), values) if all(isinstance(each.value, str) for each in values):
            yield name
        case predicates.Call(_, predicates.Field(name)):
            yield name
        case predicates.Not(operand):
            yield from _texts(operand)
        case predicates.And(operands) | predicates.Or(operands):
            for operand in operands:
                yield from _texts(operand)
