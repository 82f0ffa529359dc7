"""Stage 2: a parsed HOA file turned into an automaton, with all checks that the grammar cannot make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mopsus.logics.hoa.automaton import Condition, Edge, Hoa, Often, Op, Reading, State
from mopsus.logics.logic import FormulaError
from mopsus.logics.machines.automaton import MAX_STATES
from mopsus.logics.text import Token, suggestion

CATEGORIES, GOAL, NAME = "mopsus-categories:", "mopsus-goal:", "name:"
"""Headers of our own that say what an exported machine is; and the one that every tool writes."""

FINITE = "finite"
"""The acceptance name for automata over finite words."""

MAX_IMPLICIT = 16
"""A state without labels has a transition for each of the 2^n valuations; with more propositions it is refused."""


@dataclass(frozen=True, slots=True)
class Visit:
    """`Inf` or `Fin` of a set as written."""

    word: Token
    number: Token
    outside: bool


Postfix: TypeAlias = "list[Token | Visit | Op]"
"""A label or a condition in postfix order."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header line; the items of an alias and of the acceptance condition end in an expression."""

    kind: str
    items: tuple[Token, ...]
    postfix: Postfix | None = None


@dataclass(frozen=True, slots=True)
class RawEdge:
    """A transition as written."""

    label: Postfix | None
    targets: tuple[Token, ...]
    marks: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class RawState:
    """A state as written, with its transitions."""

    label: Postfix | None
    number: Token
    name: Token | None
    marks: tuple[Token, ...]
    edges: tuple[RawEdge, ...]


@dataclass(frozen=True, slots=True)
class File:
    """All that a file says."""

    version: Token
    headers: tuple[Header, ...]
    states: tuple[RawState, ...]


class Reader:
    """Turns a parsed file into an automaton, checking all that the grammar cannot."""

    def __init__(self, file: File, alphabet: tuple[str, ...]) -> None:
        self._file = file
        self._alphabet = alphabet
        self._headers: dict[str, Header] = {}
        self._initial: list[Token] = []
        self._aliases: dict[str, int] = {}

    def read(self) -> Hoa:
        if self._file.version != "v1":
            raise _fault(f"this is version '{self._file.version}' of the format", self._file.version, "write 'HOA: v1'")
        for header in self._file.headers:
            self._take(header)
        if "acceptance" not in self._headers:
            raise FormulaError(
                "the automaton has no acceptance condition", offset=0, length=4, hint="add 'Acceptance:'"
            )
        propositions = self._propositions()
        self._universe = (1 << (len(propositions) + 1)) - 1
        for header in self._file.headers:
            if header.kind == "alias":
                self._aliases[str(header.items[0])] = self._letters(header.postfix or [])
        sets = _number(self._headers["acceptance"].items[0])
        self._sets = sets
        condition = self._condition(self._headers["acceptance"].postfix or [])
        categories = self._names(CATEGORIES)
        reading = Reading.OMEGA
        if categories:
            reading = Reading.CATEGORIES
            if len(categories) != sets:
                raise _fault(
                    f"there are {len(categories)} categories for {sets} acceptance sets",
                    self._headers[CATEGORIES].items[0],
                    "name one for each set",
                )
        elif "acc_name" in self._headers and self._headers["acc_name"].items[0] == FINITE:
            reading = Reading.FINITE
        names = self._names(NAME)
        states = self._states()
        return Hoa(
            propositions,
            tuple(dict.fromkeys(self._state(token, len(states)) for token in self._initial)),
            sets,
            condition,
            states,
            reading,
            categories,
            self._names(GOAL),
            names[0] if names else "",
        )

    def _take(self, header: Header) -> None:
        if header.kind == "initial":
            self._initial.append(_only(header.items))
        elif header.kind in self._headers and header.kind in _ONCE:
            raise FormulaError(
                "the header stands here for the second time",
                offset=header.items[0].start if header.items else 0,
                hint="leave one of them out",
                code="LOGIC-004",
            )
        else:
            self._headers[header.kind] = header

    def _names(self, header: str) -> tuple[str, ...]:
        found = self._headers.get(header)
        return tuple(_unquote(token) for token in found.items if token.startswith('"')) if found else ()

    def _propositions(self) -> tuple[str, ...]:
        header = self._headers.get("propositions")
        if header is None:
            return ()
        count, *names = header.items
        if _number(count) != len(names):
            raise _fault(f"{count} propositions are announced, {len(names)} are named", count, "correct the number")
        for at, token in enumerate(names):
            name = _unquote(token)
            if name not in self._alphabet:
                raise _fault(f"unknown event '{name}'", token, suggestion(name, self._alphabet), "LOGIC-002")
            if token in names[:at]:
                raise _fault(f"proposition '{name}' is named twice", token, "name it once", "LOGIC-004")
        return tuple(map(_unquote, names))

    def _letters(self, postfix: Postfix) -> int:
        """The mask of the letters that satisfy a label."""

        def leaf(token: Token) -> int:
            if token in ("t", "f"):
                return self._universe if token == "t" else 0
            if token.startswith("@"):
                if token not in self._aliases:
                    raise _fault(f"unknown alias '{token}'", token, suggestion(token, self._aliases), "LOGIC-003")
                return self._aliases[token]
            mask = 1 << (_number(token) + 1) if len(token) < 10 else self._universe + 1
            if mask > self._universe:
                raise _fault(f"there is no proposition {token}", token, "they are counted from 0", "LOGIC-003")
            return mask

        stack: list[int] = []
        for item in postfix:
            match item:
                case Op.NOT:
                    stack.append(self._universe & ~stack.pop())
                case Op.AND | Op.OR:
                    right, left = stack.pop(), stack.pop()
                    stack.append(left & right if item is Op.AND else left | right)
                case Visit():  # belongs to acceptance conditions, and the grammar knows it
                    raise AssertionError
                case _:
                    stack.append(leaf(item))
        return stack[0]

    def _condition(self, postfix: Postfix) -> Condition:
        found: list[Often | bool | Op] = []
        for item in postfix:
            match item:
                case Op():
                    found.append(item)
                case Visit():
                    found.append(Often(item.word == "Inf", self._mark(item.number), item.outside))
                case _:
                    found.append(item == "t")
        return tuple(found)

    def _states(self) -> tuple[State, ...]:
        count = self._count()
        states = [State()] * count
        defined: set[int] = set()
        for given in self._file.states:
            number = self._state(given.number, count)
            if number in defined:
                raise _fault(f"state {number} is defined twice", given.number, "leave one of them out", "LOGIC-004")
            defined.add(number)
            states[number] = State(
                "" if given.name is None else _unquote(given.name),
                self._marks(given.marks),
                self._edges(given, count),
            )
        return tuple(states)

    def _count(self) -> int:
        header = self._headers.get("states")
        if header is not None:
            count = _number(header.items[0])
        else:
            given = [*self._initial, *(state.number for state in self._file.states)]
            given += [target for state in self._file.states for edge in state.edges for target in edge.targets]
            count = 1 + max(map(_number, given), default=-1)
        if count > MAX_STATES:
            raise FormulaError(
                f"the automaton is too large: it has more than {MAX_STATES:,} states",
                offset=0,
                hint="make it smaller first",
                code="LOGIC-007",
            )
        return count

    def _edges(self, given: RawState, count: int) -> tuple[Edge, ...]:
        labels = [edge.label for edge in given.edges]
        if given.label is not None:
            inside = next((edge for edge in given.edges if edge.label is not None), None)
            if inside is not None:
                raise _fault("the state has a label already", inside.targets[0], "label the state or its transitions")
            masks = [self._letters(given.label)] * len(labels)
        elif labels and all(label is None for label in labels):
            masks = self._implicit(given)
        else:
            masks = []
            for edge in given.edges:
                if edge.label is None:
                    raise _fault("this transition has no label", edge.targets[0], "label all of a state, or none")
                masks.append(self._letters(edge.label))
        edges: dict[tuple[int, frozenset[int]], int] = {}
        for edge, mask in zip(given.edges, masks, strict=True):
            if mask:
                key = (self._state(_only(edge.targets), count), self._marks(edge.marks))
                edges[key] = edges.get(key, 0) | mask
            else:
                self._state(_only(edge.targets), count)
        return tuple(Edge(mask, target, marks) for (target, marks), mask in edges.items())

    def _implicit(self, given: RawState) -> list[int]:
        """The masks of a state's transitions where their order says which valuation each is for."""
        propositions = self._universe.bit_length() - 1
        if propositions > MAX_IMPLICIT or len(given.edges) != 1 << propositions:
            raise _fault(
                f"state {given.number} has {len(given.edges)} transitions without labels",
                given.number,
                f"label them, or give one for each of the 2^{propositions} valuations",
            )
        masks = [0] * len(given.edges)
        masks[0] = 1
        for proposition in range(propositions):
            masks[1 << proposition] = 1 << (proposition + 1)
        return masks

    def _state(self, token: Token, count: int) -> int:
        number = _number(token)
        if number >= count:
            raise _fault(f"there is no state {token}", token, f"there are {count}, counted from 0", "LOGIC-003")
        return number

    def _marks(self, tokens: Sequence[Token]) -> frozenset[int]:
        return frozenset(map(self._mark, tokens))

    def _mark(self, token: Token) -> int:
        number = _number(token)
        if number >= self._sets:
            raise _fault(
                f"there is no acceptance set {token}", token, f"there are {self._sets}, counted from 0", "LOGIC-003"
            )
        return number


_ONCE = frozenset({"states", "propositions", "acceptance"})


def _only(targets: Sequence[Token]) -> Token:
    if len(targets) > 1:
        raise _fault(
            "the automaton is alternating: a transition leads to several states at once",
            targets[1],
            "remove the alternation first; tools for automata can",
            "LOGIC-041",
        )
    return targets[0]


def _number(token: Token) -> int:
    if len(token) > 9:
        raise _fault("the number is too large", token, "", "LOGIC-007")
    return int(token)


def _unquote(token: Token) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)


def _fault(message: str, token: Token, hint: str, code: str | None = None) -> FormulaError:
    return FormulaError(message, offset=token.start, length=len(token), hint=hint, code=code)
