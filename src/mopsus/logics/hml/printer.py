"""Stage 2: the canonical text of a formula, in the syntax that it was written in."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from mopsus.logics.hml.erlang import WORDS
from mopsus.logics.hml.formula import (
    Action,
    Call,
    Constant,
    Formula,
    Junction,
    ListTerm,
    MapTerm,
    Maximum,
    Modality,
    Name,
    Pin,
    PythonGuard,
    Term,
    TermGuard,
    Truth,
    TupleTerm,
    Variable,
    Whole,
    Wildcard,
)
from mopsus.model.term import Atom, Pid, Reference

_PLAIN_ATOM = re.compile(r"[a-z][A-Za-z0-9_@]*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_RESERVED = frozenset(WORDS.split())


def print_whole(whole: Whole) -> str:
    """The canonical text, on one line; to parse it gives back an equal formula."""
    if whole.selection is None:
        return _PythonText().formula(whole.formula)
    text = _ErlangText()
    return f"with {text.function(whole.selection)} {whole.word} {text.formula(whole.formula)}"


def print_modality(modality: Modality, *, erlang: bool) -> str:
    """The canonical text of a modality, without what follows it."""
    return (_ErlangText() if erlang else _PythonText()).modality(modality)


class _Text(ABC):
    """How formulas are written, which both syntaxes share."""

    def formula(self, formula: Formula, outer: int = 0) -> str:
        """`outer` is how tightly the text around binds: 0 nothing or `or`, 1 `and`, 2 a modality."""
        match formula:
            case Truth(value):
                return "tt" if value else "ff"
            case Variable(name):
                return name
            case Maximum(name, body):
                return f"max {name}.({self.formula(body)})"
            case Junction(conjunction, parts):
                level = 1 if conjunction else 0
                text = (" and " if conjunction else " or ").join(self.formula(part, level + 1) for part in parts)
                return f"({text})" if outer > level else text
            case Modality(then=then):
                return self.modality(formula) + self.formula(then, 2)

    def modality(self, modality: Modality) -> str:
        """A modality without what follows it."""
        inner = self.action(modality.action)
        return f"[{inner}]" if modality.necessity else f"<{{{inner}}}>"

    @abstractmethod
    def action(self, action: Action) -> str:
        """What stands in the brackets of a modality."""


class _ErlangText(_Text):
    def action(self, action: Action) -> str:
        match action.event, action.patterns:
            case "send", (first, other, message):
                text = f"{self.term(first)}:{self.term(other)} ! {self.term(message)}"
            case "recv", (first, message):
                text = f"{self.term(first)} ? {self.term(message)}"
            case "exit", (first, reason):
                text = f"{self.term(first)} ** {self.term(reason)}"
            case ("fork" | "init") as kind, (first, other, *run):
                text = f"{self.term(first)} {'->' if kind == 'fork' else '<-'} {self.term(other)}"
                if any(not isinstance(each, Wildcard) for each in run):
                    return f"{text}, {self.function(action)}"
            case _, (pattern,):
                text = self.term(pattern)
            case _:
                text = "_"
        return text + self.guard(action)

    def function(self, action: Action) -> str:
        """`m:f(A) when …` of an action that speaks of a function."""
        module, function, arguments = (action.patterns or ())[-3:]
        assert isinstance(arguments, ListTerm)
        return f"{self._part(module)}:{self._part(function)}({self._arguments(arguments)}){self.guard(action)}"

    def _part(self, term: Term) -> str:
        dotted = isinstance(term, Constant) and isinstance(term.value, Atom) and _DOTTED.fullmatch(term.value)
        return str(term.value) if isinstance(term, Constant) and dotted else self.term(term)

    def _arguments(self, arguments: ListTerm) -> str:
        return ", ".join(map(self.term, arguments.parts))

    def guard(self, action: Action) -> str:
        """` when …`, or nothing."""
        if not isinstance(action.guard, TermGuard):
            return ""
        return " when " + "; ".join(", ".join(map(self.term, parts)) for parts in action.guard.alternatives)

    def term(self, term: Term, outer: int = 0) -> str:
        """A pattern or an expression; `outer` is the level of the operator around."""
        match term:
            case Wildcard():
                return "_"
            case Name(name):
                return name
            case Pin(name):
                return f"^{name}"
            case Constant(value):
                text = _value(value)
                return f"({text})" if text.startswith("-") and outer > 6 else text
            case TupleTerm(parts):
                return "{" + ", ".join(map(self.term, parts)) + "}"
            case ListTerm(parts, rest):
                tail = "" if rest is None else f" | {self.term(rest)}"
                return f"[{', '.join(map(self.term, parts))}{tail}]"
            case MapTerm(items):
                return "#{" + ", ".join(f"{self.term(key)} := {self.term(value)}" for key, value in items) + "}"
            case Call(operator, operands):
                return self._call(operator, operands, outer)

    def _call(self, operator: str, operands: tuple[Term, ...], outer: int) -> str:
        level = _LEVELS.get(operator)
        if level is None:
            return f"{operator}({', '.join(map(self.term, operands))})"
        if len(operands) == 1:
            gap = " " if operator.isalpha() else ""
            text, level = f"{operator}{gap}{self.term(operands[0], 8)}", 7
        else:
            # On the side to which an operator does not lean, one of the same level needs parentheses.
            left, right = (level + 1, level) if operator in _TO_THE_RIGHT else (level, level + 1)
            if level == 3:
                left = right = 4
            text = f"{self.term(operands[0], left)} {operator} {self.term(operands[1], right)}"
        return f"({text})" if outer > level else text


_LEVELS = {
    name: level
    for level, names in enumerate(
        (
            "orelse",
            "andalso",
            "== /= =< < >= > =:= =/=",
            "++ --",
            "+ - bor bxor bsl bsr or xor",
            "* / div rem band and",
            "bnot not",
        ),
        start=1,
    )
    for name in names.split()
}
_TO_THE_RIGHT = frozenset({"orelse", "andalso", "++", "--"})


def _value(value: object) -> str:
    match value:
        case Atom():
            plain = _PLAIN_ATOM.fullmatch(value) and value not in _RESERVED
            return str(value) if plain else f"'{value}'"
        case Pid() | Reference():
            return str(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        case bytes():
            return "<<" + ", ".join(map(str, value)) + ">>"
        case float():
            text = repr(value)
            return text if "." in text else text.replace("e", ".0e") if "e" in text else text
    return repr(value)


class _PythonText(_Text):
    def action(self, action: Action) -> str:
        text = action.event or "_"
        if action.patterns is not None:
            text += f"({', '.join(map(self.term, action.patterns))})"
        return f"{text} when {action.guard.text}" if isinstance(action.guard, PythonGuard) else text

    def term(self, term: Term) -> str:
        """A pattern."""
        match term:
            case Wildcard():
                return "_"
            case Name(name):
                return name
            case Pin(name):
                return f"^{name}"
            case Constant(value):
                return repr(value)
            case TupleTerm(parts, tag):
                inner = ", ".join(map(self.term, parts)) + ("," if len(parts) == 1 and tag is None else "")
                return f"{tag or ''}({inner})"
            case ListTerm(parts, rest):
                listed = [*map(self.term, parts), *([] if rest is None else [f"*{self.term(rest)}"])]
                return f"[{', '.join(listed)}]"
            case MapTerm(items):
                return "{" + ", ".join(f"{self.term(key)}: {self.term(value)}" for key, value in items) + "}"
            case Call():
                raise ValueError("a Python pattern has no operators")
