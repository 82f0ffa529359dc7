"""Stage 4: which columns of a trace the specs need, of which types, and for which events.

Everything else in a trace is neither converted nor checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mopsus.events.trace.columns import ColumnType, join_types
from mopsus.events.trace.rules import EventRule, rules_of
from mopsus.model import MopsusError, Scalar, Spec

EVENT, TIME, THREAD, LOCATION = "event", "time", "thread", "location"
"""The columns that mean the same in every trace."""

OPTIONAL = frozenset([EVENT, TIME, THREAD, LOCATION])
"""A trace may lack these, except that specs that know all their events by name need the first."""

RELEASE = "#release"
"""The event that ends the values in its row's parameter columns."""


class ColumnTypeError(MopsusError):
    """Two specs of one run declare different types for the same column of the trace."""

    code = "TRACE-005"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run reads of its traces."""

    columns: tuple[str, ...]
    declared: Mapping[str, ColumnType]
    """Types that the specs fix."""
    together: tuple[frozenset[str], ...]
    """Columns that hold values of the same parameter and therefore have the same type."""
    always: frozenset[str]
    """Columns that must be readable in every row, because a pointcut looks at them."""
    by_event: Mapping[str, frozenset[str]]
    """Columns that must be readable in the rows of an event known by name."""
    named_only: bool
    """Are all events known by name, so that a row without a name is a mistake?"""

    def needed_by(self, event: Scalar) -> frozenset[str]:
        """The columns that must be readable in a row whose `event` is this."""
        if event == RELEASE:
            return frozenset(self.columns)
        named = self.by_event.get(event, frozenset()) if isinstance(event, str) else frozenset()
        return self.always | named


def needs_of(specs: Sequence[Spec]) -> Needs:
    """What these specs need together; `ColumnTypeError` if they contradict each other."""
    rules = [(spec, rule) for spec in specs for rule in rules_of(spec)]
    named_only = all(rule.names is not None for _, rule in rules)
    columns = dict.fromkeys((EVENT, TIME, THREAD, LOCATION))
    always = {EVENT} if any(rule.looks_at_name for _, rule in rules) else set()
    by_event: dict[str, set[str]] = {}
    for _, rule in rules:
        columns |= dict.fromkeys(sorted(rule.fields))
        columns |= dict.fromkeys(rule.columns.values())
        always |= rule.fields
        for name in rule.names or ():
            by_event.setdefault(name, set()).update(rule.columns.values())
        if rule.names is None:
            always |= set(rule.columns.values())
    return Needs(
        tuple(columns),
        _text_fields(rules) | _declared_types(rules) | {EVENT: ColumnType.STR, LOCATION: ColumnType.STR},
        _columns_of_one_parameter(rules),
        frozenset(always),
        {name: frozenset(needed) for name, needed in by_event.items()},
        named_only,
    )


def _declared_types(rules: Iterable[tuple[Spec, EventRule]]) -> dict[str, ColumnType]:
    found: dict[str, tuple[ColumnType, str]] = {}
    known = {type.value: type for type in ColumnType}
    for spec, rule in rules:
        types = {parameter.name: known.get(parameter.type or "") for parameter in spec.parameters}
        for parameter, column in rule.columns.items():
            type = types.get(parameter)
            if type is None:
                continue
            other, by = found.setdefault(column, (type, spec.name))
            if other is not type:
                raise ColumnTypeError(
                    f"column `{column}` is {other.value} in spec {by} and {type.value} in spec {spec.name}",
                    hint="declare the same type in both, or check the specs one at a time",
                )
    return {column: type for column, (type, _) in found.items()}


def _text_fields(rules: Iterable[tuple[Spec, EventRule]]) -> dict[str, ColumnType]:
    """Fields that some predicate compares with text: `code == "404"` asks for text even where all codes are numbers."""
    return {name: ColumnType.STR for _, rule in rules for name in rule.texts}


def _columns_of_one_parameter(rules: Iterable[tuple[Spec, EventRule]]) -> tuple[frozenset[str], ...]:
    groups: list[set[str]] = []
    by_parameter: dict[tuple[str, str], set[str]] = {}
    for spec, rule in rules:
        for parameter, column in rule.columns.items():
            by_parameter.setdefault((spec.name, parameter), set()).add(column)
    for group in by_parameter.values():
        touching = [other for other in groups if other & group]
        groups = [other for other in groups if not other & group]
        groups.append(group.union(*touching))
    return tuple(frozenset(group) for group in groups if len(group) > 1)


@dataclass(slots=True)
class ColumnTypes:
    """The type of each needed column, declared or decided once for the whole run.

    An undeclared column is decided by the first block in which it, or a column of the same parameter, has
    a value; until then it is read as strings, all of them null.
    """

    needs: Needs
    _decided: dict[str, ColumnType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._decided |= self.needs.declared
        for group in self.needs.together:
            if declared := [self._decided[column] for column in group if column in self._decided]:
                self._decided |= dict.fromkeys(group, declared[0])

    def __getitem__(self, column: str) -> ColumnType:
        return self._decided.get(column, ColumnType.STR)

    def all_decided(self) -> dict[str, str]:
        """The types that are settled, by column."""
        return {column: type.value for column, type in self._decided.items()}

    def settle(self, types: Mapping[str, str]) -> None:
        """Take over what `all_decided` gave."""
        self._decided = {column: ColumnType(type) for column, type in types.items()}

    def decided(self, column: str) -> ColumnType | None:
        """The type of a column; None while it is open."""
        return self._decided.get(column)

    def undecided(self, columns: Iterable[str]) -> list[str]:
        """Those of the columns whose type is still open."""
        return [column for column in columns if column not in self._decided]

    def decide(self, seen: Mapping[str, ColumnType | None]) -> None:
        """Settle the columns of which a block has shown something."""
        grouped = {column: group for group in self.needs.together for column in group}
        for column in seen:
            group = grouped.get(column, frozenset([column]))
            type = join_types(found for member in group if (found := seen.get(member)) is not None)
            if type is not None:
                for member in group:
                    self._decided.setdefault(member, type)
