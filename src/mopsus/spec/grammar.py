"""Stage 1: the grammar of `.mop` items, and what each item means."""

from __future__ import annotations

import ast
import keyword
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from mopsus.model import Code, Event, Handler, Parameter, Pointcut, Property, Severity, Span, Variable
from mopsus.spec import pytext
from mopsus.spec.errors import ArgumentError, Findings
from mopsus.spec.formula import STATED, check_states, normalise_as
from mopsus.spec.pointcuts import FOREIGN, PRIMITIVES, conjunction, conjuncts
from mopsus.spec.scan import CLAUSES, KEYWORDS, Item, Lexeme

_READABLE = {
    "WORD": "a name",
    "VALUE": "a value",
    "TYPE": "a type",
    "EXPRESSION": "a Python expression",
    "FORMULA": "a formula",
    "BODY": "'{'",
    "ARGUMENT": "'('",
    "END": "the end",
}
"""What a message calls a type of tokens that is not its own text."""

_ADVICE = ("before", "after", "around")
_RESULTS = ("returning", "raising")


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


Meaning: TypeAlias = "Setting | Variable | tuple[Event, dict[str, Span]] | tuple[Property, Span] | Handler"
"""What an item of a spec is: an event comes with the places of its parameters, a property with that of its logic."""

_Any = TypeVar("_Any")


def read_header(item: Item, findings: Findings) -> Header | None:
    """What a spec's first line says, or None after reporting why it says nothing."""
    return _read(item, _Reader.header, findings)


def read_item(item: Item, findings: Findings) -> Meaning | None:
    """What an item of a spec means, or None after reporting why it means nothing."""
    return _read(item, _Reader.item, findings)


def read_pointcut(item: Item, findings: Findings) -> Pointcut | None:
    """The pointcut that an item is and nothing else, or None after reporting why it is none."""
    return _read(item, _Reader.pointcut, findings)


def _read(item: Item, rule: Callable[[_Reader], _Any], findings: Findings) -> _Any | None:
    if item.broken:
        return None
    # What an item means is judged only if it is well formed.
    reader = _Reader(item, Findings(findings.source))
    try:
        meaning = rule(reader)
        reader.tokens.finish()
    except _Unexpected:
        _report(reader.tokens, item, "header" if rule is _Reader.header else "item", findings)
        return None
    findings.add(reader.findings)
    return meaning


class _Unexpected(Exception):
    """The token that comes next cannot stand there."""


class _Tokens:
    """The tokens of an item, from left to right. `missed` are the types that were asked for at this place in vain."""

    def __init__(self, item: Item) -> None:
        self._lexemes = item.lexemes
        self._at = 0
        self.missed: set[str] = set()

    @property
    def next(self) -> Lexeme | None:
        """The token that comes next."""
        return self._lexemes[self._at] if self._at < len(self._lexemes) else None

    def take(self, *types: str) -> Lexeme | None:
        """The next token, if it is of one of these types."""
        lexeme = self.next
        if lexeme is None or lexeme.type not in types:
            self.missed.update(types)
            return None
        self._at += 1
        self.missed.clear()
        return lexeme

    def need(self, *types: str) -> Lexeme:
        """Like `take`, but `_Unexpected` if it is of none of them."""
        lexeme = self.take(*types)
        if lexeme is None:
            raise _Unexpected
        return lexeme

    def finish(self) -> None:
        """`_Unexpected` if there is another token."""
        if self.next is not None:
            self.missed.add("END")
            raise _Unexpected


def _report(tokens: _Tokens, item: Item, what: str, findings: Findings) -> None:
    lexeme, expected = tokens.next, tokens.missed
    kind = "" if lexeme is None else lexeme.type
    kinds = [each.type for each in item.lexemes]
    if lexeme is None:
        at, end, found = item.end, item.end + 1, f"this {what} is not complete"
    elif kind in ("BODY", "ARGUMENT"):
        at, end, found = lexeme.start - 1, lexeme.start, f"unexpected {_READABLE[kind]}"
    else:
        at, end, found = lexeme.start, lexeme.end, f"unexpected '{lexeme.text}'"
    code, hint = "SPEC-001", "expected " + _either(expected)
    if "FORMULA" in expected:
        code, found, hint = "SPEC-009", f"'{item.lexemes[0].text} :' without a formula", "write the formula after ':'"
    elif kinds[:1] == ["var"]:
        code, hint = "SPEC-025", "write 'var name: type = value'"
    elif what == "header" and ")" in expected and kind == "WORD":
        code, hint = "SPEC-027", "a parameter is written 'name' or 'name: type'"
    elif kinds[-1:] == ["WORD"] and "(" in expected and item.lexemes[-1].text in CLAUSES:
        code, hint = "SPEC-012", f"write '{item.lexemes[-1].text}(…)'"
    elif kind in (":", "WORD") and "event" in item.lexemes[0].text and ")" in expected:
        code, hint = "SPEC-012", "an event lists names only; types stand at the spec's parameters"
    findings.error_at(code, found, at, end, hint)


def _either(expected: Collection[str]) -> str:
    words = sorted({_READABLE.get(name, f"'{name}'") for name in expected})
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "nothing more"


class _Clause(NamedTuple):
    """`before(c)`, `returning(i)` or, without a word, `(c, i; x)`."""

    word: Lexeme | None
    names: tuple[Lexeme, ...]
    fields: tuple[Lexeme, ...]


class _Reader:
    """A method for each rule of the grammar, which reads it and gives an object of the model.

    Tokens in the wrong place raise `_Unexpected`; other faults are recorded, and something usable given instead.
    """

    def __init__(self, item: Item, findings: Findings) -> None:
        self.tokens = _Tokens(item)
        self.findings = findings

    # --- header

    def header(self) -> Header:
        words = [self.tokens.need("WORD")]
        while (word := self.tokens.take("WORD")) is not None:
            words.append(word)
        parameters = self.parameters() if self.tokens.take("(") else ()
        self.tokens.need("{")
        *modifiers, name = words
        self.identifier(name, "spec")
        return Header(tuple((word.text, self.span(word)) for word in modifiers), name.text, self.span(name), parameters)

    def parameters(self) -> tuple[Parameter, ...]:
        if self.tokens.take(")"):
            return ()
        parameters = [self.parameter()]
        while self.tokens.take(","):
            parameters.append(self.parameter())
        self.tokens.need(")")
        return tuple(parameters)

    def parameter(self) -> Parameter:
        name = self.tokens.need("WORD")
        self.identifier(name, "parameter")
        kind = self.type() if self.tokens.take(":") else None
        by = self.tokens.need("WORD") if self.tokens.take("by") else None
        if by is not None and by.text not in ("identity", "equality"):
            known = ("identity", "equality")
            self.findings.unknown("SPEC-028", "way to tell values apart", by.text, known, self.span(by))
        return Parameter(name.text, kind, by.text if by is not None else None, self.span(name))

    def type(self) -> str:
        alternatives = [self.alternative()]
        while self.tokens.take("|"):
            alternatives.append(self.alternative())
        return " | ".join(alternatives)

    def alternative(self) -> str:
        name = self.tokens.need("WORD")
        if "-" in name.text:
            self.findings.error("SPEC-026", f"'{name.text}' is no type", self.span(name), "a type is a dotted name")
        return name.text + ("+" if self.tokens.take("+") else "")

    # --- settings, variables, handlers, properties

    def item(self) -> Meaning:
        first = self.tokens.next
        match first.type if first is not None else "":
            case "SETTING":
                return self.setting()
            case "var":
                return self.variable()
            case "@":
                return self.handler()
            case "WORD":
                return self.property()
            case _:
                return self.event()

    def setting(self) -> Setting:
        name = self.tokens.need("SETTING")
        self.tokens.need(":")
        value = self.tokens.need("VALUE")
        meaning = self.severity(value) if name.text == "severity" else self.string(value)
        return Setting(name.text, meaning, self.span(name))

    def variable(self) -> Variable:
        self.tokens.need("var")
        name = self.tokens.need("WORD")
        self.identifier(name, "variable")
        kind = self.tokens.need("TYPE") if self.tokens.take(":") else None
        if kind is not None:
            self.check_expression(kind)
        self.tokens.need("=")
        initial = self.tokens.need("EXPRESSION")
        self.check_expression(initial)
        code = Code(initial.text, self.span(initial))
        return Variable(name.text, kind.text if kind is not None else None, code, self.span(name))

    def handler(self) -> Handler:
        self.tokens.need("@")
        category = self.tokens.need("WORD")
        level = None
        if self.tokens.take("["):
            level = self.severity(self.tokens.need("WORD"))
            self.tokens.need("]")
        return Handler(category.text, self.body(), level, self.span(category))

    def property(self) -> tuple[Property, Span]:
        logic = self.tokens.need("WORD")
        self.tokens.need(":")
        formula = self.tokens.need("FORMULA")
        if logic.text in STATED:
            check_states(self.findings, formula.start, formula.end)
        text, _ = normalise_as(logic.text, formula.text)
        return Property(logic.text, logic.text, text, span=self.span(formula)), self.span(logic)

    # --- events

    def event(self) -> tuple[Event, dict[str, Span]]:
        creation = self.tokens.take("creation")
        self.tokens.need("event")
        name = self.tokens.need("WORD")
        self.identifier(name, "event")
        if name.text in KEYWORDS:
            hint = "choose another name"
            self.findings.error("SPEC-026", f"'{name.text}' is a word of the language", self.span(name), hint)
        advice, results, names, fields = self.clauses()
        written = self.pointcut() if self.tokens.take(":") else None
        condition, pointcut = split_condition(written, self.findings)
        event = Event(
            name.text,
            tuple(parameter.text for parameter in names),
            creation is not None,
            advice,
            results.get("returning"),
            results.get("raising"),
            pointcut,
            condition,
            self.body(),
            tuple(field.text for field in fields),
            self.span(name),
        )
        return event, {each.text: self.span(each) for each in (*names, *fields)}

    def clauses(self) -> tuple[str | None, dict[str, str], tuple[Lexeme, ...], tuple[Lexeme, ...]]:
        """Advice, results, parameters and fields of `before(c)`, `after(c) returning(i)` or plain `(c, i; x)`."""
        advice: str | None = None
        plain = False
        results: dict[str, str] = {}
        names: tuple[Lexeme, ...] = ()
        fields: tuple[Lexeme, ...] = ()
        while (clause := self.clause()) is not None:
            names += clause.names
            fields += clause.fields
            word = clause.word
            if word is None:
                plain = True
            elif word.text in _RESULTS:
                self.result(word, clause.names, advice, results)
            elif word.text in _ADVICE and advice is None and not plain:
                advice = word.text
            elif word.text in _ADVICE:
                hint = "write either 'event name(p)' or 'event name before(p)'"
                self.findings.error("SPEC-013", "this event has two parameter lists", self.span(word), hint)
            elif word.text == "throwing":
                self.findings.error("SPEC-014", "unknown clause 'throwing'", self.span(word), "write 'raising(e)'")
            else:
                self.findings.unknown("SPEC-014", "clause", word.text, (*_ADVICE, *_RESULTS), self.span(word))
        return advice, results, names, fields

    def clause(self) -> _Clause | None:
        word = self.tokens.take("WORD")
        if word is not None:
            self.tokens.need("(")
        elif not self.tokens.take("("):
            return None
        first = self.tokens.take("WORD")
        names = () if first is None else self.listed(first)
        fields = self.listed(self.tokens.need("WORD")) if self.tokens.take(";") else ()
        for field in fields:
            self.identifier(field, "field")
        self.tokens.need(")")
        return _Clause(word, names, fields)

    def listed(self, first: Lexeme) -> tuple[Lexeme, ...]:
        names = [first]
        while self.tokens.take(","):
            names.append(self.tokens.need("WORD"))
        return tuple(names)

    def result(self, word: Lexeme, names: tuple[Lexeme, ...], advice: str | None, results: dict[str, str]) -> None:
        if advice != "after" or results:
            hint = "write 'after(c) returning(i)' or 'after(c) raising(e)'"
            self.findings.error("SPEC-015", f"'{word.text}' must follow 'after(…)', once", self.span(word), hint)
        elif len(names) > 1:
            hint = f"write '{word.text}(name)', or '{word.text}()'"
            self.findings.error("SPEC-012", f"'{word.text}' binds one name at the most", self.span(word), hint)
        else:
            results[word.text] = names[0].text if names else ""

    # --- pointcuts, which the scanner lets nest only so deep that recursion is safe

    def pointcut(self) -> Pointcut:
        return self.joined("or", "||", self.conjunction)

    def conjunction(self) -> Pointcut:
        return self.joined("and", "&&", self.operand)

    def joined(self, kind: str, sign: str, operand: Callable[[], Pointcut]) -> Pointcut:
        operands = [operand()]
        while self.tokens.take(sign):
            operands.append(operand())
        if len(operands) == 1:
            return operands[0]
        flat: list[Pointcut] = []
        for each in operands:
            flat += each.operands if each.kind == kind else (each,)
        return Pointcut(kind, tuple(flat), span=operands[0].span)

    def operand(self) -> Pointcut:
        if self.tokens.take("!"):
            negated = self.operand()
            return Pointcut("not", (negated,), span=negated.span)
        if self.tokens.take("("):
            inner = self.pointcut()
            self.tokens.need(")")
            return inner
        return self.primitive(self.tokens.need("WORD"), self.tokens.need("ARGUMENT"))

    def primitive(self, name: Lexeme, argument: Lexeme) -> Pointcut:
        span, text = self.span(name), argument.text.strip()
        if name.text == "condition":
            self.check_expression(argument)
            return Pointcut("condition", text=text, argument=argument, span=span)
        known = PRIMITIVES.get(name.text)
        if known is None:
            self.unknown_primitive(name)
            return Pointcut(name.text, text=text, span=span)
        try:
            meaning, text = known.parse(argument.text)
        except ArgumentError as error:
            start = argument.start + error.offset
            self.findings.error_at(error.code, error.message, start, start + error.length, error.hint)
            return Pointcut(name.text, text=text, span=span)
        return Pointcut(name.text, argument=meaning, text=text, span=span)

    def unknown_primitive(self, name: Lexeme) -> None:
        if name.text in FOREIGN:
            hint = f"use {FOREIGN[name.text]}"
            self.findings.error("SPEC-018", f"there is no pointcut '{name.text}'", self.span(name), hint)
        else:
            self.findings.unknown("SPEC-017", "pointcut", name.text, (*PRIMITIVES, "condition"), self.span(name))

    # --- leaves

    def span(self, lexeme: Lexeme) -> Span:
        return self.findings.source.span(lexeme.start, lexeme.end)

    def identifier(self, name: Lexeme, what: str) -> None:
        if not name.text.isidentifier() or keyword.iskeyword(name.text):
            hint = "use a Python identifier that is no keyword"
            thing = f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
            self.findings.error("SPEC-026", f"'{name.text}' cannot name {thing}", self.span(name), hint)

    def severity(self, word: Lexeme) -> Severity | None:
        return parse_severity(word.text, self.span(word), self.findings)

    def string(self, literal: Lexeme) -> str | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = ast.literal_eval(literal.text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            value = None
        if isinstance(value, str):
            return value
        self.findings.error("SPEC-024", "'doc:' takes a text in quotes", self.span(literal), 'write doc: "…"')
        return None

    def check_expression(self, expression: Lexeme) -> None:
        problem = pytext.problem_in_expression(expression.text)
        if problem is None:
            return
        lines = expression.text.split("\n")
        line = min(max(problem.line, 1), len(lines))
        start = expression.start + sum(len(text) + 1 for text in lines[: line - 1])
        start += min(max(problem.column - 1, 0), len(lines[line - 1]))
        self.findings.error_at("SPEC-007", f"not a Python expression: {problem.message}", start, start + 1)

    def body(self) -> Code | None:
        lexeme = self.tokens.take("BODY")
        if lexeme is None:
            return None
        body = pytext.dedent(self.findings.source.text, lexeme.start, lexeme.end)
        if not body.text:
            return None
        if problem := pytext.problem_in_body(body.text):
            at = min(body.offset(problem.line, problem.column), lexeme.end)
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
    written: Lexeme = conditions[0].argument
    text = written.text.strip()
    start = written.start + len(written.text) - len(written.text.lstrip())
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
