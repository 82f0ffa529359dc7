"""Stage 4: what the traces of a run have, and therefore which events of its specs can occur in them at all.

A table has the columns that it has: an event that needs another one cannot occur in it. Any JSON object may have any
key, so that a key which no object had is only one that did not come.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from mopsus.events.trace.needs import EVENT, Needs
from mopsus.events.trace.rules import EventRule, rules_of
from mopsus.model import UNDECODABLE, Spec, TraceError, Unseen
from mopsus.model.text import short_path
from mopsus.spec.diagnostics import suggest

SHOWN = 12
"""How many names a message lists."""
LONG = 60
"""A longer name is cut."""


class Survey:
    """What the traces of a run have. Filled by the thread that reads, asked when it is done."""

    def __init__(self, needs: Needs) -> None:
        self._present: set[str] = set()
        """The needed columns that some table has, or some object had."""
        self._tables: dict[str, tuple[str, ...]] = {}
        self._objects = False
        """Is one of the traces JSON lines?"""
        self._keys: dict[str, None] = {}
        """Keys of the first object."""
        self._spellings = {name: _spellings(name) for name in needs.columns if name != EVENT}
        self._open = dict(self._spellings)
        self._likeness = ""
        self._traces: dict[str, None] = {}
        self._strange: dict[str, tuple[str, set[str]]] = {}
        """Of traces that look like something else: what they look like, and which of the needed columns they have."""

    def see_table(self, name: str, columns: Sequence[str], likeness: str = "") -> None:
        """A trace has these columns, and no others."""
        self._traces[name] = None
        if len(self._tables) < SHOWN:
            self._tables[name] = tuple(columns)
        self._present.update(columns)
        self._likeness = self._likeness or likeness
        if likeness:
            self._strange[name] = (likeness, {*columns})

    def see_objects(self, name: str, block: bytes, likeness: str = "") -> None:
        """A trace has these objects among others."""
        self._traces[name] = None
        if not self._objects:
            self._objects = True
            self._keys = dict.fromkeys(_keys(block))
        self._likeness = self._likeness or likeness
        self._present.add(EVENT)
        found = _found(self._spellings if likeness else self._open, block)
        if likeness:
            self._strange.setdefault(name, (likeness, set()))[1].update(found)
        self._present.update(found)
        for column in self._present & self._open.keys():
            del self._open[column]

    def unseen(
        self,
        spec: Spec,
        seen: Mapping[str, int],
        example: Callable[[], str],
        left_out: Mapping[str, TraceError] = MappingProxyType({}),
    ) -> list[Unseen]:
        """What of a spec could not be seen, or never was.

        `seen` counts its events, `example` says what came instead of them. `left_out` are the traces no row of which
        could be used, with the reason.
        """
        mentioned = _union(rule.mentioned for rule in rules_of(spec))
        if not self._knows(mentioned):
            if any(seen.values()):  # rows that lack something, and all rows lack all of it
                return [self._not_there(spec, self._traces, self._likeness or self._absence(mentioned))]
            return [self._cannot(spec, None, mentioned, possible=self._objects and not self._likeness)]
        found = self._unseen_events(spec, seen, example) + self._passed_over(spec, mentioned)
        if left_out and any(seen.values()):
            why = f"none of its rows could be used: {next(iter(left_out.values())).reason}"
            found.append(self._not_there(spec, left_out, why))
        return found

    def _knows(self, mentioned: Collection[str]) -> bool:
        """Is any of these columns there? Nothing is known of a trace without a single byte."""
        return not mentioned or not (self._tables or self._objects) or not self._present.isdisjoint(mentioned)

    def _passed_over(self, spec: Spec, mentioned: Collection[str]) -> list[Unseen]:
        """The traces that look like something else, and have nothing that the spec speaks of, where others have."""
        names = [name for name, (_, columns) in self._strange.items() if columns.isdisjoint(mentioned)]
        return [self._not_there(spec, names, self._strange[names[0]][0])] if names else []

    def _not_there(self, spec: Spec, names: Collection[str], hint: str) -> Unseen:
        listed = ", ".join(map(short_path, [*names][:SHOWN])) + (", …" if len(names) > SHOWN else "")
        return Unseen(spec.name, elsewhere=listed, hint=hint, span=spec.span)

    def _unseen_events(self, spec: Spec, seen: Mapping[str, int], example: Callable[[], str]) -> list[Unseen]:
        lacking = {rule.event: columns for rule in rules_of(spec) if (columns := self._lacks(rule))}
        silent = [event for event in spec.events if not seen.get(event.name)]
        impossible = {} if self._objects else lacking
        found = [self._cannot(spec, name, columns) for name, columns in impossible.items()]
        if len(silent) == len(spec.events):
            columns = _union(lacking.values())
            if found and len(found) == len(spec.events):
                return [self._cannot(spec, None, columns)]
            reason = self._absence(columns) if columns and self._objects else example()
            hint = self._likeness or (self._near(columns) if columns else "")
            return [Unseen(spec.name, reason=reason, hint=hint, span=spec.span), *found]
        return found + [
            Unseen(spec.name, event.name, reason=self._absence(lacking.get(event.name, ())), span=spec.span)
            for event in silent
            if event.name not in impossible
        ]

    def impossible(self, specs: Iterable[Spec]) -> list[Unseen]:
        """What cannot occur in what has been seen so far."""
        return [each for spec in specs for each in self.unseen(spec, {}, str) if not each.possible]

    def _lacks(self, rule: EventRule) -> list[str]:
        """The columns that the rule names and that are nowhere."""
        wanted = [*sorted(rule.required), *rule.columns.values(), *([EVENT] if rule.looks_at_name else ())]
        if not self._tables and not self._objects:
            return []  # nothing is known of a trace without a single byte
        return [name for name in dict.fromkeys(wanted) if name not in self._present]

    def _cannot(self, spec: Spec, event: str | None, columns: Collection[str], possible: bool = False) -> Unseen:
        hint = self._likeness or self._near(columns)
        return Unseen(spec.name, event, possible=possible, reason=self._absence(columns), hint=hint, span=spec.span)

    def _absence(self, columns: Collection[str]) -> str:
        if not columns:
            return ""
        names = "" if len(columns) == 1 else "s"
        if self._objects:
            return f"no row has {_listed(columns)}; the first one has {_listed(self._keys) or 'nothing'}"
        name, header = next(iter(self._tables.items()), ("", ()))
        others = f" and {len(self._tables) - 1} more" if len(self._tables) > 1 else ""
        lacks = f"has no column{names} {_listed(columns)}, but {_listed(header)}"
        return f"{name}{others} {lacks}"

    def _near(self, columns: Collection[str]) -> str:
        known = {*self._keys, *(name for header in self._tables.values() for name in header)}
        for column in columns:
            if near := suggest(column, known):
                return f"did you mean `{near}`? `bind(parameter = column)` says where a parameter is"
        return "`row(…)` says how a row is recognised, `bind(parameter = column)` where a parameter is"


def _union(sets: Iterable[Collection[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in sets for name in each))


def _listed(names: Collection[str]) -> str:
    shown = [name if len(name) <= LONG else f"{name[: LONG - 1]}…" for name in list(names)[:SHOWN]]
    return ", ".join(f"`{name}`" for name in shown) + (", …" if len(names) > SHOWN else "")


def _found(spellings: Mapping[str, Sequence[Sequence[bytes]]], block: bytes) -> list[str]:
    """The columns that are keys in the block, or seem to be."""
    return [name for name, ways in spellings.items() if any(all(part in block for part in parts) for parts in ways)]


def _spellings(column: str) -> list[list[bytes]]:
    """How the keys of a column may be written: as one key, or as those of objects in each other."""
    parts = column.split(".")
    return [[json.dumps(column).encode()], [json.dumps(column, ensure_ascii=False).encode()]] + (
        [[json.dumps(part).encode() for part in parts]] if len(parts) > 1 else []
    )


def _keys(block: bytes) -> list[str]:
    try:
        found = json.loads(block.lstrip().partition(b"\n")[0])
    except UNDECODABLE:
        return []
    return list(found) if isinstance(found, dict) else []
