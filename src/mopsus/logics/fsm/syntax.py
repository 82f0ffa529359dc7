"""Stage 2: the text of a finite state machine: parsed, checked and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mopsus.logics.logic import FormulaError
from mopsus.logics.text import WORD, Cursor, Kind, Token, Wanted, suggestion

FAIL = "fail"
"""The state that every event without a transition leads to, and its category."""


@dataclass(frozen=True, slots=True)
class State:
    """A state with its transitions in the order written; `default` is where every other event leads."""

    name: str
    transitions: Mapping[str, str]
    default: str | None = None

    def target(self, event: str) -> str:
        """The name of the next state."""
        return self.transitions.get(event, self.default or FAIL)


@dataclass(frozen=True, slots=True)
class Fsm:
    """A machine whose every name is known; the first state is the initial one."""

    states: tuple[State, ...]
    aliases: Mapping[str, tuple[str, ...]]
    alphabet: tuple[str, ...]

    def categories(self, state: str) -> frozenset[str]:
        """The categories of a state (or of `fail`): its own name and every alias that includes it."""
        return frozenset({state}.union(alias for alias, members in self.aliases.items() if state in members))


def parse_machine(text: str, alphabet: tuple[str, ...]) -> Fsm:
    """The machine that `text` describes over the events of `alphabet`, or `FormulaError`."""
    if not text.strip():
        raise FormulaError("the machine has no states", offset=0, hint="write 'state [ event -> state ]'")
    cursor = Cursor(text, _KNOWN)
    items, aliases = list(_items(cursor)), list(_aliases(cursor))
    cursor.finish()
    return _check(items, aliases, alphabet)


def print_machine(machine: Fsm) -> str:
    """The canonical text: a line per state and alias."""
    lines = []
    for state in machine.states:
        parts = [f"{event} -> {target}" for event, target in state.transitions.items()]
        if state.default is not None:
            parts.append(f"default {state.default}")
        lines.append(f"{state.name} [ {', '.join(parts)} ]" if parts else f"{state.name} [ ]")
    lines += [f"alias {alias} = {', '.join(members)}" for alias, members in machine.aliases.items()]
    return "\n".join(lines)


def categories_of(machine: Fsm) -> frozenset[str]:
    """State names, alias names and `fail`."""
    return frozenset({FAIL, *machine.aliases, *(state.name for state in machine.states)})


def events_of(machine: Fsm) -> frozenset[str]:
    """The events with a transition; all events if some state has a default, which speaks of every one."""
    if any(state.default is not None for state in machine.states):
        return frozenset(machine.alphabet)
    return frozenset(event for state in machine.states for event in state.transitions)


@dataclass(frozen=True, slots=True)
class _Edge:
    event: Token | None  # None: the default
    target: Token


@dataclass(frozen=True, slots=True)
class _Item:
    name: Token
    edges: tuple[_Edge, ...]


@dataclass(frozen=True, slots=True)
class _Alias:
    name: Token
    members: tuple[Token, ...]


def _check(items: Sequence[_Item], aliases: Sequence[_Alias], alphabet: tuple[str, ...]) -> Fsm:
    names: set[str] = set()
    for name in (item.name for item in items):
        if name == FAIL:
            raise _fault(
                "LOGIC-006",
                "'fail' cannot be declared: every machine has it",
                name,
                "leave the state out, or rename it",
            )
        if name in names:
            raise _fault("LOGIC-004", f"state '{name}' is defined twice", name, "put its transitions into one state")
        names.add(name)
    targets = names | {FAIL}
    states = tuple(State(str(item.name), *_transitions(item, targets, alphabet)) for item in items)
    groups: dict[str, tuple[str, ...]] = {}
    for alias in aliases:
        name = alias.name
        if name in targets:
            raise _fault("LOGIC-004", f"alias '{name}' has the name of a state", name, "choose another name")
        if name in groups:
            raise _fault("LOGIC-004", f"alias '{name}' is defined twice", name, "put its states into one alias")
        for member in alias.members:
            if member not in targets:
                raise _fault("LOGIC-003", f"unknown state '{member}'", member, suggestion(member, targets))
        groups[str(name)] = tuple(dict.fromkeys(map(str, alias.members)))
    return Fsm(states, groups, alphabet)


def _transitions(item: _Item, targets: set[str], alphabet: tuple[str, ...]) -> tuple[dict[str, str], str | None]:
    found: dict[str, str] = {}
    default: str | None = None
    for edge in item.edges:
        if edge.event is None:
            if default is not None:
                raise _fault(
                    "LOGIC-005", f"state '{item.name}' has two defaults", edge.target, f"the first leads to '{default}'"
                )
            default = str(edge.target)
        elif edge.event not in alphabet:
            raise _fault("LOGIC-002", f"unknown event '{edge.event}'", edge.event, suggestion(edge.event, alphabet))
        elif edge.event in found:
            raise _fault(
                "LOGIC-005",
                f"state '{item.name}' has two transitions for '{edge.event}'",
                edge.event,
                f"the first leads to '{found[edge.event]}'",
            )
        else:
            found[str(edge.event)] = str(edge.target)
        if edge.target not in targets:
            raise _fault("LOGIC-003", f"unknown state '{edge.target}'", edge.target, suggestion(edge.target, targets))
    return found, default


def _fault(code: str, message: str, token: Token, hint: str) -> FormulaError:
    return FormulaError(message, offset=token.start, length=len(token), hint=hint, code=code)


_NAME = Kind("a name", re.compile(WORD))
_KNOWN: tuple[Wanted, ...] = (_NAME, "->", "[", "]", ",", "=")


def _items(cursor: Cursor) -> Iterator[_Item]:
    name: Token | None = cursor.need(_NAME)
    while name is not None:
        cursor.need("[")
        edges = tuple(_edges(cursor))
        cursor.need("]")
        yield _Item(name, edges)
        name = None if cursor.peek("alias") else cursor.take(_NAME)


def _edges(cursor: Cursor) -> Iterator[_Edge]:
    while True:
        if cursor.take("default"):
            yield _Edge(None, cursor.need(_NAME))
        elif (event := cursor.take(_NAME)) is not None:
            cursor.need("->")
            yield _Edge(event, cursor.need(_NAME))
        else:
            return
        cursor.take(",")


def _aliases(cursor: Cursor) -> Iterator[_Alias]:
    while cursor.take("alias"):
        name = cursor.need(_NAME)
        cursor.need("=")
        members = [cursor.need(_NAME)]
        while cursor.take(","):
            members.append(cursor.need(_NAME))
        yield _Alias(name, tuple(members))
