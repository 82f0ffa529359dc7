"""Stage 2: the text of an automaton in the HOA format: parsed and printed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.logics.hoa.automaton import Hoa, Op, Reading
from mopsus.logics.hoa.read import File, Header, Postfix, RawEdge, RawState, Reader, Visit
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import load_grammar, run_parser

if TYPE_CHECKING:
    from lark import Lark, Token

_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*|\*/', re.DOTALL)


def parse_automaton(text: str, alphabet: tuple[str, ...]) -> Hoa:
    """The automaton that `text` denotes over the events of `alphabet`, or `FormulaError`."""
    return Reader(run_parser(_parser(), _without_comments(text), _WORDS), alphabet).read()


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


_WORDS = {
    "ID": "a word",
    "INT": "a number",
    "STRING": "a string",
    "ANAME": "an alias",
    "BOOLEAN": "'t' or 'f'",
    "OFTEN": "'Inf' or 'Fin'",
    "BANG": "'!'",
    "HEADERNAME": "a header",
    "VBAR": "'|'",
    "AMPERSAND": "'&'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "$END": "the end",
}


@cache
def _parser() -> Lark:
    from lark import Token, Transformer, v_args

    @v_args(inline=True)
    class Build(Transformer[Token, object]):
        def start(self, version: Token, *parts: Header | RawState) -> File:
            headers = tuple(part for part in parts if isinstance(part, Header))
            return File(version, headers, tuple(part for part in parts if isinstance(part, RawState)))

        def states(self, count: Token) -> Header:
            return Header("states", (count,))

        def initial(self, *states: Token) -> Header:
            return Header("initial", states)

        def propositions(self, *items: Token) -> Header:
            return Header("propositions", items)

        def alias(self, name: Token, label: Postfix) -> Header:
            return Header("alias", (name,), label)

        def acceptance(self, count: Token, condition: Postfix) -> Header:
            return Header("acceptance", (count,), condition)

        def acc_name(self, *items: Token) -> Header:
            return Header("acc_name", items)

        def other(self, name: Token, *items: Token) -> Header:
            return Header(str(name), items)

        def state(
            self,
            label: Postfix | None,
            number: Token,
            name: Token | None,
            marks: tuple[Token, ...] | None,
            *edges: RawEdge,
        ) -> RawState:
            return RawState(label, number, name, marks or (), edges)

        def edge(self, label: Postfix | None, *rest: Token | tuple[Token, ...] | None) -> RawEdge:
            targets = tuple(each for each in rest if isinstance(each, Token))
            marks = rest[-1]
            return RawEdge(label, targets, marks if isinstance(marks, tuple) else ())

        def marks(self, *sets: Token) -> tuple[Token, ...]:
            return sets

        def constant(self, token: Token) -> Postfix:
            return [token]

        proposition = named = constant

        def often(self, word: Token, outside: Token | None, number: Token) -> Postfix:
            return [Visit(word, number, outside is not None)]

        def negation(self, inner: Postfix) -> Postfix:
            inner.append(Op.NOT)
            return inner

        def both(self, left: Postfix, right: Postfix) -> Postfix:
            return self._join(left, right, Op.AND)

        def either(self, left: Postfix, right: Postfix) -> Postfix:
            return self._join(left, right, Op.OR)

        @staticmethod
        def _join(left: Postfix, right: Postfix, op: Op) -> Postfix:
            # In place, so that a long expression takes no more time than its length; nobody else has these lists.
            left += right
            left.append(op)
            return left

    return load_grammar(Path(__file__).with_name("grammar.lark"), Build())
