"""Stage 2: the text of an automaton in the HOA format: parsed and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mopsus.logics.hoa.automaton import Hoa, Op, Reading
from mopsus.logics.hoa.read import File, Header, Postfix, RawEdge, RawState, Reader, Visit
from mopsus.logics.logic import FormulaError
from mopsus.logics.operators import OperatorParser, Sign, Takes
from mopsus.logics.text import Cursor, Kind, Token, Wanted

_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*|\*/', re.DOTALL)


def parse_automaton(text: str, alphabet: tuple[str, ...]) -> Hoa:
    """The automaton that `text` denotes over the events of `alphabet`, or `FormulaError`."""
    return Reader(_file(Cursor(_without_comments(text), _KNOWN, _GAP)), alphabet).read()


def categories_of(automaton: Hoa) -> frozenset[str]:
    """The categories that the automaton's reading has."""
    match automaton.reading:
        case Reading.OMEGA:
            return frozenset({"validation", "violation"})
        case Reading.FINITE:
            return frozenset({"match", "fail"})
        case Reading.CATEGORIES:
            return frozenset(automaton.categories) - {"?"}


def events_of(automaton: Hoa) -> frozenset[str]:
    """The automaton's propositions."""
    return frozenset(automaton.propositions)


def _without_comments(text: str) -> str:
    """The text with comments, which nest, made blank: everything else keeps its place."""
    kept: list[str] = []
    depth = at = opened = 0
    for found in _COMMENT.finditer(text):
        if found[0] == "/*":
            if not depth:
                kept.append(text[at : found.start()])
                at = opened = found.start()
            depth += 1
        elif found[0] == "*/" and depth:
            depth -= 1
            if not depth:
                kept.append(re.sub(r"\S", " ", text[at : found.end()]))
                at = found.end()
    if depth:
        raise FormulaError("a comment is not closed", offset=opened, length=2, hint="close it with '*/'")
    return "".join(kept) + text[at:]


_WORD = Kind("a word", re.compile(r"[a-zA-Z_][\w-]*+(?!:)", re.ASCII))
_NUMBER = Kind("a number", re.compile(r"0|[1-9][0-9]*"))
_STRING = Kind("a string", re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL))
_ALIAS = Kind("an alias", re.compile(r"@[\w-]+", re.ASCII))
_BOOLEAN = Kind("'t' or 'f'", re.compile(r"[tf]\b"))
_OFTEN = Kind("'Inf' or 'Fin'", re.compile(r"(?:Inf|Fin)\b"))
_HEADER = Kind("a header", re.compile(r"[a-zA-Z_][\w-]*:", re.ASCII))
_SIGNS = ("[", "]", "{", "}", "(", ")", "!", "&", "|", "--BODY--", "--END--")
_KNOWN: tuple[Wanted, ...] = (_HEADER, _WORD, _NUMBER, _STRING, _ALIAS, *_SIGNS)
_GAP = re.compile(r"\s*")


def _file(cursor: Cursor) -> File:
    cursor.need("HOA:")
    version = cursor.need(_WORD)
    headers = tuple(_headers(cursor))
    cursor.need("--BODY--")
    states = tuple(_states(cursor))
    cursor.need("--END--")
    cursor.finish()
    return File(version, headers, states)


def _headers(cursor: Cursor) -> Iterator[Header]:
    while (name := cursor.take(_HEADER)) is not None:
        match str(name):
            case "States:":
                yield Header("states", (cursor.need(_NUMBER),))
            case "Start:":
                yield Header("initial", _targets(cursor))
            case "AP:":
                yield Header("propositions", (cursor.need(_NUMBER), *_several(cursor, _STRING)))
            case "Alias:":
                yield Header("alias", (cursor.need(_ALIAS),), _Label(cursor).read())
            case "Acceptance:":
                yield Header("acceptance", (cursor.need(_NUMBER),), _Condition(cursor).read())
            case "acc-name:":
                first = cursor.need(_WORD, _NUMBER)
                yield Header("acc_name", (first, *_several(cursor, _WORD, _NUMBER)))
            case _:
                yield Header(str(name), _several(cursor, _WORD, _NUMBER, _STRING))


def _states(cursor: Cursor) -> Iterator[RawState]:
    while cursor.take("State:"):
        label = _label(cursor)
        number = cursor.need(_NUMBER)
        name = cursor.take(_STRING)
        yield RawState(label, number, name, _marks(cursor), tuple(_edges(cursor)))


def _edges(cursor: Cursor) -> Iterator[RawEdge]:
    while cursor.peek("[", _NUMBER):
        yield RawEdge(_label(cursor), _targets(cursor), _marks(cursor))


def _label(cursor: Cursor) -> Postfix | None:
    if not cursor.take("["):
        return None
    label = _Label(cursor).read()
    cursor.need("]")
    return label


def _targets(cursor: Cursor) -> tuple[Token, ...]:
    targets = [cursor.need(_NUMBER)]
    while cursor.take("&"):
        targets.append(cursor.need(_NUMBER))
    return tuple(targets)


def _marks(cursor: Cursor) -> tuple[Token, ...]:
    if not cursor.take("{"):
        return ()
    marks = _several(cursor, _NUMBER)
    cursor.need("}")
    return marks


def _several(cursor: Cursor, *kinds: Kind) -> tuple[Token, ...]:
    return tuple(iter(lambda: cursor.take(*kinds), None))


class _Expression(OperatorParser[Postfix, Op]):
    """What labels and acceptance conditions have in common."""

    def infix(self) -> Sign[Op] | None:
        if self.cursor.take("|"):
            return Sign(Op.OR, 0, Takes.ALL)
        return Sign(Op.AND, 1, Takes.ALL) if self.cursor.take("&") else None

    def join(self, signs: Sequence[Sign[Op]], parts: Sequence[Postfix]) -> Postfix:
        # In place, so that a long expression takes no more time than its length; nobody else has these lists.
        joined, *others = parts
        if not others:
            joined.append(signs[0].op)
        for sign, part in zip(signs, others, strict=False):
            joined += part
            joined.append(sign.op)
        return joined


class _Label(_Expression):
    def leaf(self) -> Postfix | None:
        token = self.cursor.take(_BOOLEAN, _NUMBER, _ALIAS)
        return None if token is None else [token]

    def prefix(self) -> Sign[Op] | None:
        return Sign(Op.NOT, 2, Takes.ONE) if self.cursor.take("!") else None


class _Condition(_Expression):
    def leaf(self) -> Postfix | None:
        if (constant := self.cursor.take(_BOOLEAN)) is not None:
            return [constant]
        word = self.cursor.take(_OFTEN)
        if word is None:
            return None
        self.cursor.need("(")
        outside = self.cursor.take("!") is not None
        visit = Visit(word, self.cursor.need(_NUMBER), outside)
        self.cursor.need(")")
        return [visit]
