"""Stage 5: many verdicts, few findings: group those that say the same about the same place.

Memory is bounded whatever the trace does: a group keeps a few examples and counts the rest, the
number of groups is limited, and examples keep no long strings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mopsus.model import Severity, Value, Verdict
from mopsus.model.text import position

EXAMPLES = 3
MAX_GROUPS = 500
# Beyond what any report shows, so that cutting is never seen except as the report's own cut.
KEPT_TEXT = 400
OTHER_PLACE = "…"
RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


class GroupKey(NamedTuple):
    """What the verdicts of a group share.

    `place` is the location in the program or, for a trace without locations, its source;
    `shape` is empty in the first case and else the events of the witness, each once. What a test expects is less
    severe than the same elsewhere, so severity is part of it. A tuple, because one is built and hashed for every
    verdict.
    """

    spec: str
    property: str
    category: str
    place: str = ""
    shape: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR


@dataclass(slots=True)
class Group:
    """A finding: its first few verdicts in full, and how many there were."""

    key: GroupKey
    severity: Severity
    count: int = 0
    examples: list[Verdict] = field(default_factory=list)

    @property
    def more(self) -> int:
        """How many verdicts are counted but not kept."""
        return self.count - len(self.examples)


class Groups:
    """Verdicts by finding. Iteration gives errors before warnings before notes, each in order of appearance.

    Once `limit` groups exist, a new finding joins the rest of its spec, property and category,
    in a group whose place is `…`. `key` may group in another way than by the place of the last event.
    """

    def __init__(
        self,
        examples: int = EXAMPLES,
        limit: int = MAX_GROUPS,
        key: Callable[[Verdict], GroupKey] | None = None,
    ) -> None:
        self._examples = examples
        self._limit = limit
        self._key = key if key is not None else group_key
        self._groups: dict[GroupKey, Group] = {}
        self.severities: Counter[Severity] = Counter()

    def add(self, verdict: Verdict, times: int = 1) -> Group:
        """Count a verdict that came so many times; gives its group, whose `count` is `times` if the finding is new."""
        self.severities[verdict.severity] += times
        key = self._key(verdict)
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= self._limit:
                key = key._replace(place=OTHER_PLACE, shape=())
            group = self._groups.setdefault(key, Group(key, verdict.severity))
        group.count += times
        if len(group.examples) < self._examples:
            group.examples.append(_slim(verdict))
        return group

    def __iter__(self) -> Iterator[Group]:
        return iter(sorted(self._groups.values(), key=lambda group: RANK[group.severity]))

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def violations(self) -> int:
        """How many verdicts counted as violations."""
        return self.severities[Severity.ERROR]

    @property
    def unique_violations(self) -> int:
        """How many groups are violations."""
        return sum(group.severity is Severity.ERROR for group in self._groups.values())


def group_key(verdict: Verdict) -> GroupKey:
    """The finding that a verdict belongs to."""
    place, in_trace = position(verdict.location, verdict.row)
    events = shape([item.event for item in verdict.witness]) if in_trace else ()
    return GroupKey(verdict.spec, verdict.property, verdict.category, place[:KEPT_TEXT], events, verdict.severity)


def shape(events: Iterable[str]) -> tuple[str, ...]:
    """Each event once, in the order of last occurrence: `open read close read` is `open close read`.

    How often a loop ran before says little about what went wrong, and a witness may lack its
    beginning, so neither makes another finding.
    """
    return tuple(dict.fromkeys(reversed(tuple(events))))[::-1]


def _slim(verdict: Verdict) -> Verdict:
    """The same verdict without long strings."""
    return replace(
        verdict,
        binding=_slim_binding(verdict.binding),
        location=_slim_text(verdict.location),
        witness=tuple(
            replace(item, binding=_slim_binding(item.binding), location=_slim_text(item.location))
            for item in verdict.witness
        ),
    )


def _slim_binding(binding: Mapping[str, Value]) -> Mapping[str, Value]:
    return {name: _slim_value(value) for name, value in binding.items()}


def _slim_value(value: Value) -> Value:
    if isinstance(value, str | bytes):
        return value[:KEPT_TEXT]
    if isinstance(value, tuple):
        return tuple(_slim_value(item) for item in value[:KEPT_TEXT])
    return value


def _slim_text(text: str | None) -> str | None:
    return None if text is None else text[:KEPT_TEXT]
