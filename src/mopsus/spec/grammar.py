"""Stage 1: the grammar of `.mop` items, and what each item means.

The only module of this stage that needs lark; it is imported when the first text is parsed.
"""

from __future__ import annotations

import ast
import keyword
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.lexer import Lexer

from mopsus.model import Code, Event, Handler, Parameter, Pointcut, Property, Severity, Span, Variable
from mopsus.spec import pytext
from mopsus.spec.errors import ArgumentError, Findings
from mopsus.spec.formula import normalise
from mopsus.spec.pointcuts import FOREIGN, PRIMITIVES, conjunction, conjuncts
from mopsus.spec.scan import CLAUSES, KEYWORDS, Item

_READABLE = {
    "WORD": "a name",
    "PLUS": "'+'",
    "VALUE": "a value",
    "TYPE": "a type",
    "EXPRESSION": "a Python expression",
    "BODY": "'{'",
    "FORMULA": "a formula",
    "ARGUMENT": "'('",
    "CREATION": "'creation'",
    "_LPAR": "'('",
    "_RPAR": "')'",
    "_LBRACE": "'{'",
    "_LSQUARE": "'['",
    "_RSQUARE": "']'",
    "_COMMA": "','",
    "_SEMICOLON": "';'",
    "_COLON": "':'",
    "_EQUAL": "'='",
    "_BAR": "'|'",
    "_BY": "'by'",
    "_EVENT": "'event'",
    "_AND": "'&&'",
    "_OR": "'||'",
    "_NOT": "'!'",
    "$END": "the end",
}
_ADVICE = ("before", "after", "around")
_RESULTS = ("returning", "raising")


class _Tokens(Lexer):
    """Hands the scanner's tokens to lark."""

    def __init__(self, conf: object) -> None:
        del conf  # lark's interface; the scanner needs no settings

    def lex(self, data: object, parser_state: object = None) -> Iterator[Token]:
        assert isinstance(data, Item)
        for lexeme in data.lexemes:
            yield Token(lexeme.type, lexeme.text, start_pos=lexeme.start, end_pos=lexeme.end)


_PARSER = Lark(
    Path(__file__).with_name("mop.lark").read_text(encoding="utf-8"),
    parser="lalr",
    lexer=_Tokens,
    start=["header", "item", "pointcut"],
    maybe_placeholders=True,
)


def parse_item(item: Item, start: str, findings: Findings) -> object:
    """What an item means, or None after reporting why it means nothing."""
    if item.broken:
        return None
    try:
        tree = _PARSER.parse(item, start=start)
    except UnexpectedInput as error:
        _report(error, item, start, findings)
        return None
    return _Builder(findings).transform(tree)


def _report(error: UnexpectedInput, item: Item, start: str, findings: Findings) -> None:
    token = getattr(error, "token", None)
    expected: set[str] = set(getattr(error, "expected", ()))
    kinds = [lexeme.type for lexeme in item.lexemes]
    if token is None or token.type == "$END":
        at, end, found = item.end, item.end + 1, f"this {'header' if start == 'header' else 'item'} is not complete"
    elif token.type in ("BODY", "ARGUMENT"):
        at, end, found = token.start_pos - 1, token.start_pos, _READABLE[token.type]
    else:
        at, end, found = token.start_pos, token.end_pos, f"'{token.value}'"
    code, hint = "SPEC-001", "expected " + _either(expected)
    if "FORMULA" in expected:
        code, found, hint = "SPEC-009", f"'{item.lexemes[0].text} :' without a formula", "write the formula after ':'"
    elif kinds[:1] == ["_VAR"]:
        code, hint = "SPEC-025", "write 'var name: type = value'"
    elif start == "header" and "_RPAR" in expected and getattr(token, "type", "") == "WORD":
        code, hint = "SPEC-027", "a parameter is written 'name' or 'name: type'"
    elif kinds[-1:] == ["WORD"] and "_LPAR" in expected and item.lexemes[-1].text in CLAUSES:
        code, hint = "SPEC-012", f"write '{item.lexemes[-1].text}(…)'"
    elif getattr(token, "type", "") in ("_COLON", "WORD") and "event" in item.lexemes[0].text and "_RPAR" in expected:
        code, hint = "SPEC-012", "an event lists names only; types stand at the spec's parameters"
    whole = code == "SPEC-009" or found.startswith("this ")
    message = found if whole else f"unexpected {found}"
    findings.error_at(code, message, at, end, hint)


def _either(expected: set[str]) -> str:
    words = sorted({_READABLE.get(name, name.strip("_").lower()) for name in expected})
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "nothing more"


@dataclass(frozen=True, slots=True)
class Header:
    """What a spec's first line says; modifiers are still words."""

    modifiers: tuple[tuple[str, Span], ...]
    name: str
    span: Span
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """`severity: …` or `doc: …`."""

    name: str
    value: str | Severity | None
    span: Span


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """Each rule of the grammar as an object of the model. Faults are reported, and something usable given instead."""

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self.findings = findings

    # --- header

    def header(self, *parts: Token | tuple[Parameter, ...] | None) -> Header:
        *modifiers, name = [part for part in parts if isinstance(part, Token)]
        parameters = parts[-1] if isinstance(parts[-1], tuple) else ()
        self.identifier(name, "spec")
        words = tuple((str(word), self.span(word)) for word in modifiers)
        return Header(words, str(name), self.span(name), parameters)

    def parameters(self, *parameters: Parameter | None) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in parameters if parameter is not None)

    def parameter(self, name: Token, kind: str | None, by: Token | None) -> Parameter:
        self.identifier(name, "parameter")
        if by is not None and by not in ("identity", "equality"):
            self.findings.unknown("SPEC-028", "way to tell values apart", by, ("identity", "equality"), self.span(by))
        return Parameter(str(name), kind, str(by) if by is not None else None, self.span(name))

    def type(self, *alternatives: str) -> str:
        return " | ".join(alternatives)

    def alternative(self, name: Token, plus: Token | None) -> str:
        if "-" in name:
            self.findings.error("SPEC-026", f"'{name}' is no type", self.span(name), "a type is a dotted name")
        return f"{name}{plus or ''}"

    # --- settings, variables, handlers, properties

    def setting(self, name: Token, value: Token) -> Setting:
        if name == "severity":
            return Setting("severity", self.severity(value), self.span(name))
        return Setting("doc", self.string(value), self.span(name))

    def variable(self, name: Token, kind: Token | None, initial: Token) -> Variable:
        self.identifier(name, "variable")
        if kind is not None:
            self.check_expression(kind)
        self.check_expression(initial)
        code = Code(str(initial), self.span(initial))
        return Variable(str(name), str(kind) if kind is not None else None, code, self.span(name))

    def handler(self, category: Token, severity: Token | None, body: Token | None) -> Handler:
        level = self.severity(severity) if severity is not None else None
        return Handler(str(category), self.body(body), level, self.span(category))

    def property(self, logic: Token, formula: Token) -> tuple[Property, Span]:
        text, _ = normalise(str(formula))
        return Property(str(logic), str(logic), text, span=self.span(formula)), self.span(logic)

    # --- events

    def event(
        self, creation: Token | None, name: Token, clauses: list[Any], pointcut: Pointcut | None, body: Token | None
    ) -> tuple[Event, dict[str, Span]]:
        self.identifier(name, "event")
        if name in KEYWORDS:
            hint = "choose another name"
            self.findings.error("SPEC-026", f"'{name}' is a word of the language", self.span(name), hint)
        advice, results, names, fields = self.clauses_meaning(clauses)
        condition, pointcut = split_condition(pointcut, self.findings)
        event = Event(
            str(name),
            tuple(str(parameter) for parameter in names),
            creation is not None,
            advice,
            results.get("returning"),
            results.get("raising"),
            pointcut,
            condition,
            self.body(body),
            tuple(str(field) for field in fields),
            self.span(name),
        )
        return event, {str(parameter): self.span(parameter) for parameter in (*names, *fields)}

    def clauses(self, *clauses: Any) -> list[Any]:
        return list(clauses)

    def clause(
        self, word: Token | None, names: tuple[Token, ...] | None, fields: tuple[Token, ...] | None
    ) -> tuple[Token | None, tuple[Token, ...], tuple[Token, ...]]:
        return word, names or (), fields or ()

    def names(self, *names: Token) -> tuple[Token, ...]:
        return names

    def fields(self, *fields: Token) -> tuple[Token, ...]:
        for field in fields:
            self.identifier(field, "field")
        return fields

    def clauses_meaning(
        self, clauses: list[Any]
    ) -> tuple[str | None, dict[str, str], tuple[Token, ...], tuple[Token, ...]]:
        """Advice, results, parameters and fields of `before(c)`, `after(c) returning(i)` or plain `(c, i; x)`."""
        advice: str | None = None
        plain = False
        results: dict[str, str] = {}
        names: tuple[Token, ...] = ()
        fields: tuple[Token, ...] = ()
        for word, listed, carried in clauses:
            names += listed
            fields += carried
            if word is None:
                plain = True
            elif word in _RESULTS:
                self.result(word, listed, advice, results)
            elif word in _ADVICE and advice is None and not plain:
                advice = str(word)
            elif word in _ADVICE:
                hint = "write either 'event name(p)' or 'event name before(p)'"
                self.findings.error("SPEC-013", "this event has two parameter lists", self.span(word), hint)
            elif word == "throwing":
                self.findings.error("SPEC-014", "unknown clause 'throwing'", self.span(word), "write 'raising(e)'")
            else:
                self.findings.unknown("SPEC-014", "clause", word, (*_ADVICE, *_RESULTS), self.span(word))
        return advice, results, names, fields

    def result(self, word: Token, names: tuple[Token, ...], advice: str | None, results: dict[str, str]) -> None:
        if advice != "after" or results:
            hint = "write 'after(c) returning(i)' or 'after(c) raising(e)'"
            self.findings.error("SPEC-015", f"'{word}' must follow 'after(…)', once", self.span(word), hint)
        elif len(names) > 1:
            hint = f"write '{word}(name)', or '{word}()'"
            self.findings.error("SPEC-012", f"'{word}' binds one name at the most", self.span(word), hint)
        else:
            results[str(word)] = str(names[0]) if names else ""

    # --- pointcuts

    def pointcut(self, *operands: Pointcut) -> Pointcut:
        return self.joined("or", operands)

    def conjunction(self, *operands: Pointcut) -> Pointcut:
        return self.joined("and", operands)

    def joined(self, kind: str, operands: tuple[Pointcut, ...]) -> Pointcut:
        flat: list[Pointcut] = []
        for operand in operands:
            flat += operand.operands if operand.kind == kind else (operand,)
        return Pointcut(kind, tuple(flat), span=operands[0].span)

    def negation(self, operand: Pointcut) -> Pointcut:
        return Pointcut("not", (operand,), span=operand.span)

    def primitive(self, name: Token, argument: Token) -> Pointcut:
        span = self.span(name)
        if name == "condition":
            self.check_expression(argument)
            return Pointcut("condition", text=argument.strip(), argument=argument, span=span)
        known = PRIMITIVES.get(name)
        if known is None:
            self.unknown_primitive(name)
            return Pointcut(str(name), text=argument.strip(), span=span)
        try:
            meaning, text = known.parse(str(argument))
        except ArgumentError as error:
            start = (argument.start_pos or 0) + error.offset
            self.findings.error_at(error.code, error.message, start, start + error.length, error.hint)
            return Pointcut(str(name), text=argument.strip(), span=span)
        return Pointcut(str(name), argument=meaning, text=text, span=span)

    def unknown_primitive(self, name: Token) -> None:
        if name in FOREIGN:
            self.findings.error("SPEC-018", f"there is no pointcut '{name}'", self.span(name), f"use {FOREIGN[name]}")
        else:
            self.findings.unknown("SPEC-017", "pointcut", name, (*PRIMITIVES, "condition"), self.span(name))

    # --- leaves

    def span(self, token: Token) -> Span:
        start, end = token.start_pos or 0, token.end_pos or 0
        return self.findings.source.span(start, end)

    def identifier(self, token: Token, what: str) -> None:
        if not token.isidentifier() or keyword.iskeyword(token):
            hint = "use a Python identifier that is no keyword"
            self.findings.error("SPEC-026", f"'{token}' cannot name a {what}", self.span(token), hint)

    def severity(self, token: Token) -> Severity | None:
        return parse_severity(str(token), self.span(token), self.findings)

    def string(self, token: Token) -> str | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = ast.literal_eval(str(token))
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            value = None
        if isinstance(value, str):
            return value
        self.findings.error("SPEC-024", "'doc:' takes a text in quotes", self.span(token), 'write doc: "…"')
        return None

    def check_expression(self, token: Token) -> None:
        problem = pytext.problem_in_expression(str(token))
        if problem is None:
            return
        lines = str(token).split("\n")
        line = min(max(problem.line, 1), len(lines))
        start = (token.start_pos or 0) + sum(len(text) + 1 for text in lines[: line - 1])
        start += min(max(problem.column - 1, 0), len(lines[line - 1]))
        self.findings.error_at("SPEC-007", f"not a Python expression: {problem.message}", start, start + 1)

    def body(self, token: Token | None) -> Code | None:
        if token is None:
            return None
        start, end = token.start_pos or 0, token.end_pos or 0
        body = pytext.dedent(self.findings.source.text, start, end)
        if not body.text:
            return None
        if problem := pytext.problem_in_body(body.text):
            at = min(body.offset(problem.line, problem.column), end)
            self.findings.error_at("SPEC-006", f"not valid Python: {problem.message}", at, at + 1)
        first = body.starts[0]
        last = body.starts[-1] + len(body.text.rsplit("\n", 1)[-1])
        return Code(body.text, self.findings.source.span(first, last))


def split_condition(pointcut: Pointcut | None, findings: Findings) -> tuple[Code | None, Pointcut | None]:
    """The `condition(…)` of a pointcut and the rest of it; what may only stand at the top level is held to that."""
    parts = conjuncts(pointcut)
    conditions = [part for part in parts if part.kind == "condition"]
    for part in parts:
        for operand in part.operands:
            _check_nested(operand, findings)
    for extra in conditions[1:]:
        findings.error("SPEC-022", "a second condition", extra.span, "join them with 'and' in one")
    rest = conjunction(tuple(part for part in parts if part.kind != "condition"))
    if not conditions:
        return None, rest
    token: Token = conditions[0].argument
    text = token.strip()
    start = (token.start_pos or 0) + len(token) - len(token.lstrip())
    return Code(text, findings.source.span(start, start + len(text))), rest


def _check_nested(pointcut: Pointcut, findings: Findings) -> None:
    hint = "join it with '&&' to the whole pointcut"
    for operand in pointcut.operands:
        _check_nested(operand, findings)
    if pointcut.kind == "condition":
        findings.error("SPEC-021", "a condition cannot stand under '||' or '!'", pointcut.span, hint)
    elif pointcut.kind in PRIMITIVES and PRIMITIVES[pointcut.kind].top_level:
        findings.error("SPEC-023", f"'{pointcut.kind}' cannot stand under '||' or '!'", pointcut.span, hint)


def parse_severity(text: str, span: Span | None, findings: Findings) -> Severity | None:
    """The severity of that name; an unknown one is reported."""
    levels = tuple(level.value for level in Severity)
    if text in levels:
        return Severity(text)
    findings.unknown("SPEC-043", "severity", text, levels, span)
    return None
