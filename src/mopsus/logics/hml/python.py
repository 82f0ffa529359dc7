"""Stage 2: the syntax of formulas in `.mop` files: events that the spec declares, patterns and guards as in Python.

`max X.([recv(("job", id)) when id > 3] X and [send(_, ("done", k))] ff)`
"""

from __future__ import annotations

import ast
import re
import warnings

from mopsus.logics.hml.formula import (
    Action,
    Constant,
    ListTerm,
    MapTerm,
    Name,
    Pin,
    PythonGuard,
    Term,
    TupleTerm,
    Whole,
    Wildcard,
)
from mopsus.logics.hml.guards import names_in
from mopsus.logics.hml.syntax import Syntax
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import GAP, WORD, Cursor, Kind, Token
from mopsus.spec import pytext

WORDS = ("max", "tt", "ff", "and", "or", "when", "with")
"""No variable and no event of a formula has one of these names."""

NAME = Kind("a name", re.compile(rf"(?!(?:{'|'.join(WORDS)})\b){WORD}"))
NUMBER = Kind("a number", re.compile(r"-?(?:\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?|0[xX][0-9a-fA-F_]+|0[bB][01_]+)"))
_CONSTANTS = {"True": True, "False": False, "None": None}
_PUNCTUATION = "( ) [ ] { } < > , . : * ^"
_MARKS = (*WORDS, *_PUNCTUATION.split())
_AT_STRING = re.compile(r"[A-Za-z]{0,2}[\"']")


def parse_mop(text: str) -> Whole:
    """The formula that a property of a `.mop` file has; `FormulaError` if it is wrong."""
    cursor = Cursor(text, (NAME, NUMBER, *_MARKS), GAP)
    found = _PythonSyntax(cursor, text).formula()
    cursor.finish()
    return Whole(found)


class _PythonSyntax(Syntax):
    VARIABLE = NAME

    def __init__(self, cursor: Cursor, text: str) -> None:
        super().__init__(cursor)
        self._text = text

    def _action(self, closing: str) -> Action:
        opening = self.cursor.end - 1
        brace = self.cursor.take("{")
        start = self.cursor.place
        event, patterns = self._event(closing)
        guard = None
        if self.cursor.take("when"):
            if closing == ">" and brace is None:
                hint = "write <{…}>: without braces the end of the guard is not clear"
                raise FormulaError("a possibility with a guard stands in braces", offset=start, hint=hint)
            guard = self._guard(opening if brace is None else brace.start)
        action = Action(event, patterns, guard, False, start, self.cursor.end - start)
        if brace is not None:
            self.cursor.need("}")
        return action

    def _event(self, closing: str) -> tuple[str | None, tuple[Term, ...] | None]:
        if self.cursor.peek("when", closing):
            return None, None
        name = self.cursor.need(NAME)
        if name == "_":
            return None, None
        if not self.cursor.take("("):
            return str(name), None
        return str(name), self._patterns(")")

    def _guard(self, opening: int) -> PythonGuard:
        """The Python expression up to the bracket that closes the one at `opening`."""
        start = self.cursor.place
        end = pytext.closing(self._text, opening)
        if end is None or end < start:
            raise FormulaError(f"this '{self._text[opening]}' is never closed", offset=opening)
        text = self.cursor.skip_to(end).rstrip()
        if not text:
            raise FormulaError("'when' without a condition", offset=start, hint="write a Python expression after it")
        if problem := pytext.problem_in_expression(text):
            lines = text.split("\n")
            line = min(problem.line, len(lines))
            place = sum(len(each) + 1 for each in lines[: line - 1]) + min(problem.column - 1, len(lines[line - 1]))
            raise FormulaError(f"not a Python expression: {problem.message}", offset=start + place)
        return PythonGuard(text, names_in(text), start, len(text))

    # ---- patterns

    def _patterns(self, closing: str) -> tuple[Term, ...]:
        found: list[Term] = []
        while not self.cursor.take(closing):
            if found:
                self.cursor.need(",")
                if self.cursor.take(closing):
                    break
            found.append(self.nested(self._pattern))
        return tuple(found)

    def _pattern(self) -> Term:
        if self.cursor.ahead(_AT_STRING):
            return self._string()
        token = self.cursor.need("_", NAME, NUMBER, "(", "[", "{", "^")
        if token.kind is NAME:
            return self._named(token)
        if token.kind is NUMBER:
            return Constant(_literal(str(token), token.start), token.start)
        match str(token):
            case "(":
                return self._parenthesised(token)
            case "[":
                return self._list(token)
            case "{":
                return self._dict(token)
            case "^":
                return Pin(str(self.cursor.need(NAME)), token.start)
        return Wildcard(token.start)

    def _named(self, token: Token) -> Term:
        if token in _CONSTANTS:
            return Constant(_CONSTANTS[str(token)], token.start)
        if self.cursor.take("("):
            return TupleTerm(self._patterns(")"), str(token), token.start)
        return Name(str(token), token.start)

    def _string(self) -> Term:
        start = self.cursor.place
        end = pytext.string_end(self._text, start)
        if end is None:
            raise FormulaError("this string is never closed", offset=start)
        return Constant(_literal(self.cursor.skip_to(end), start), start)

    def _parenthesised(self, opening: Token) -> Term:
        """A tuple; a single pattern without a comma is itself."""
        if self.cursor.take(")"):
            return TupleTerm((), None, opening.start)
        first = self.nested(self._pattern)
        if self.cursor.take(")"):
            return first
        self.cursor.need(",")
        return TupleTerm((first, *self._patterns(")")), None, opening.start)

    def _list(self, opening: Token) -> Term:
        parts: list[Term] = []
        while not self.cursor.take("]"):
            if parts:
                self.cursor.need(",")
                if self.cursor.take("]"):
                    break
            if self.cursor.take("*"):
                rest = self._pattern()
                self.cursor.take(",")
                self.cursor.need("]")
                return ListTerm(tuple(parts), rest, opening.start)
            parts.append(self.nested(self._pattern))
        return ListTerm(tuple(parts), None, opening.start)

    def _dict(self, opening: Token) -> Term:
        items: list[tuple[Constant, Term]] = []
        while not self.cursor.take("}"):
            if items:
                self.cursor.need(",")
                if self.cursor.take("}"):
                    break
            place = self.cursor.place
            key = self.nested(self._pattern)
            if not isinstance(key, Constant):
                raise FormulaError("a key is a value", offset=place, hint='write {"key": pattern}')
            self.cursor.need(":")
            items.append((key, self.nested(self._pattern)))
        return MapTerm(tuple(items), opening.start)


def _literal(text: str, offset: int) -> object:
    """The value of a number or a string as Python reads it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError) as error:
        raise FormulaError(f"'{text}' is no value", offset=offset, length=len(text)) from error
