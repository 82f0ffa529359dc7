"""Stage 4: from rows of a trace with its own columns to the events of a spec.

A spec whose events are all known by their own names takes a trace as it is. For any other, the core finds which rows
are which events. A row that is several events gives them in the order of declaration.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from mopsus import _core
from mopsus._core import Columns, FoundEvents
from mopsus.events.trace.needs import EVENT, RELEASE
from mopsus.events.trace.rules import rules_of
from mopsus.model import Pointcut, Spec
from mopsus.spec.matching import searcher
from mopsus.spec.predicate import And, Call, Compare, Field, In, IsNull, Literal, Not, Or, Predicate, evaluate

Test: TypeAlias = tuple[Any, ...]
"""What the core is told of a pointcut."""

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Recogniser:
    """Finds the events of one spec in the rows of a trace.

    With `nameless`, a row without an event name is no mistake, because other specs know their events otherwise.
    """

    def __init__(self, spec: Spec, *, nameless: bool = False) -> None:
        self._nameless = nameless
        self._rules = rules = rules_of(spec)
        self.plain = all(rule.plain for rule in rules)
        self.names = (*(rule.event for rule in rules), RELEASE)
        parameters = [parameter.name for parameter in spec.parameters]
        values = [*parameters, *dict.fromkeys(name for event in spec.events for name in event.fields)]
        # A value released may stand in any column that some event takes it from.
        releasable = [
            (name, list(dict.fromkeys(rule.columns[name] for rule in rules if name in rule.columns)))
            for name in parameters
        ]
        tests = [(rule.event, of_pointcut(rule.pointcut), list(rule.columns.items())) for rule in rules]
        self._core = _core.Recogniser(tests, values, releasable)

    def column(self, event: str, name: str) -> str:
        """Where the value of a parameter or field of this event is in a row."""
        return next(rule.columns[name] for rule in self._rules if rule.event == event)

    def takes(self, columns: Columns) -> bool:
        """Return whether the spec's events are in these columns as a monitor takes them."""
        lacking = self._nameless and (EVENT not in columns.column_names or columns.null_count(EVENT) > 0)
        return self.plain and not lacking

    def find(self, columns: Columns) -> FoundEvents:
        """Which rows are which events."""
        return self._core.find(columns)


def of_pointcut(pointcut: Pointcut) -> Test:
    """The test of a pointcut over columns; what it means is `mopsus.spec.pointcuts.holds`."""
    match pointcut.kind:
        case "and":
            return "all", [of_pointcut(operand) for operand in pointcut.operands]
        case "or":
            return "any", [of_pointcut(operand) for operand in pointcut.operands]
        case "not":
            return "none", [of_pointcut(pointcut.operands[0])]
        case "named":
            return "named", list(pointcut.argument)
        case "row":
            return of_predicate(pointcut.argument)
    return "constant", True  # `bind` is no condition


def of_predicate(predicate: Predicate) -> Test:
    """The test of a predicate over columns; what it means is `mopsus.spec.predicate.evaluate`."""
    match predicate:
        case Field(name):
            return "true", name
        case Not(operand):
            return "none", [of_predicate(operand)]
        case And(operands):
            return "all", [of_predicate(operand) for operand in operands]
        case Or(operands):
            return "any", [of_predicate(operand) for operand in operands]
        case IsNull(Field(name)):
            return "null", name
        case Compare(op, Field(name), Literal(value)):
            return "compare", name, op, [value]
        case Compare(op, Literal(value), Field(name)):
            return "compare", name, _MIRRORED[op], [value]
        case Compare(op, Field(name), Field(other)):
            return "compare", name, op, [], other
        case In(Field(name), values, negated):
            return "in", name, [each.value for each in values], negated
        case Call("matches", Field(name), pattern):
            return "matches", name, searcher(pattern)
        case Call(function, Field(name), argument):
            return function, name, argument
    return "constant", evaluate(predicate, {})  # a literal, or a comparison of two
