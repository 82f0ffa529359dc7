"""Stage 2: detectEr's syntax of patterns, guards and actions, in the union of its three dialects.

Terms are Erlang's: atoms, variables in upper case, `{tuples}`, `[lists | Rest]`, `#{maps}`, `<<binaries>>`. What the
dialects demand differently (braces around actions, where `and` stands) is optional here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mopsus.logics.hml.formula import (
    Action,
    Call,
    Constant,
    ListTerm,
    MapTerm,
    Name,
    Pin,
    Term,
    TermGuard,
    TupleTerm,
    Whole,
    Wildcard,
)
from mopsus.logics.hml.syntax import Syntax
from mopsus.logics.hml.values import COMPARISONS, FUNCTIONS, GuardError, apply
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import Cursor, Kind, Token, suggestion
from mopsus.logics.tree import MAX_DEPTH
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.spec.hml.predicates import PREDICATES

WORDS = "with when tt ff max and or andalso orelse not xor div rem bnot band bor bxor bsl bsr"
"""No atom is written like one of these, unless in quotes."""

GAP = re.compile(r"(?:\s++|%[^\n]*+)*+")
_AFTER = r"(?![A-Za-z0-9_@])"
_VARIABLE = r"[A-Z_][A-Za-z0-9_@]*"
_PID = r"<\d+\.\d+\.\d+>"

VARIABLE = Kind("a variable", re.compile(_VARIABLE))
ATOM = Kind("an atom", re.compile(rf"'[^'\n]*'|(?!(?:{'|'.join(WORDS.split())}){_AFTER})[a-z][A-Za-z0-9_@]*"))
NUMBER = Kind("a number", re.compile(r"\d+(?:\.\d+(?:[eE][+-]?\d+)?)?"))
STRING = Kind("a string", re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL))
PID = Kind("an identifier", re.compile(_PID))
REFERENCE = Kind("a reference", re.compile(r"#Ref<\d+(?:\.\d+){3}>"))
DOTTED = Kind("a dotted name", re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"))

_COMPARISON = Kind("a comparison", re.compile(r"=:=|=/=|==|/=|=<|>=|<(?![-<=])|>(?![>=])"))
_JOINED = Kind("'++'", re.compile(r"\+\+|--"))
_SUM = Kind("an operator", re.compile(rf"\+(?!\+)|-(?![->])|(?:bor|bxor|bsl|bsr|or|xor){_AFTER}"))
_PRODUCT = Kind("an operator", re.compile(rf"\*(?!\*)|/(?!=)|(?:div|rem|band|and){_AFTER}"))
_PREFIX = Kind("an operator", re.compile(rf"\+(?!\+)|-(?![->])|(?:bnot|not){_AFTER}"))
_VALUES = (VARIABLE, NUMBER, ATOM, STRING, PID, REFERENCE)
_KNOWN = (*_VALUES, _COMPARISON, _JOINED, _SUM, _PRODUCT)
_PUNCTUATION = "( ) [ ] { } , . ; : | || ! ? ** -> <- := #{ << >> < > ^ = != <= && &"
_MARKS = (*WORDS.split(), *_PUNCTUATION.split())

_EVENT = rf"(?:\^?{_VARIABLE}|{_PID}){GAP.pattern}(?::|\?|\*\*|->|<-)"
_AT_EVENT = re.compile(_EVENT)
_AT_BRACED_EVENT = re.compile(rf"\{{{GAP.pattern}{_EVENT}")
_AT_CALL = re.compile(rf"[a-z][A-Za-z0-9_@]*{GAP.pattern}\(")
_AT_KEYWORD = re.compile(rf"[a-z][A-Za-z0-9_]*{GAP.pattern}=(?![=:/<])")
_FOREIGN = {"!=": "'=/=' or '/='", "<=": "'=<'", "&&": "'andalso'", "&": "'andalso'", "||": "'orelse'"}
_AT_FOREIGN = re.compile(r"!=|<=|&&?|\|\|")
_LEVELS = 3
"""So many levels of nesting an expression counts for: to read it takes as much of the stack."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def parse_form(text: str, *, normal: bool = False) -> Whole:
    """A form of an `.hml` text, `with … monitor …` or `with … check …`, without what separates it from the next.

    With `normal`, only what detectEr itself takes after `monitor`. `FormulaError` if it is wrong.
    """
    return _parsed(text, normal, _ErlangSyntax.form)


def parse_bare(text: str) -> Whole:
    """A formula without `with`, over the events of components; an empty text is `tt`. `FormulaError` if it is wrong."""
    return _parsed("tt" if GAP.fullmatch(text) else text, False, lambda syntax: Whole(syntax.formula()))


def _parsed(text: str, normal: bool, read: Callable[[_ErlangSyntax], Whole]) -> Whole:
    cursor = Cursor(text, (*_KNOWN, *_MARKS), GAP)
    found = read(_ErlangSyntax(cursor, normal=normal))
    cursor.finish()
    return found


class _ErlangSyntax(Syntax):
    VARIABLE = VARIABLE

    def form(self) -> Whole:
        self.cursor.need("with")
        start = self.cursor.place
        patterns = self._function()
        guard = self._guard()
        selection = Action("start", patterns, guard, offset=start, length=self.cursor.end - start)
        word = self.cursor.need("monitor", "check")
        return Whole(self.formula(), selection, str(word))

    # ---- actions

    def _action(self, closing: str) -> Action:
        start = self.cursor.place
        braced = self.cursor.ahead(_AT_BRACED_EVENT) or closing == ">"
        if braced:
            if not self.cursor.take("{"):
                hint = "write <{…}>: without braces its end is not clear"
                raise FormulaError("the action of a possibility stands in braces", offset=start, hint=hint)
            start = self.cursor.place
        event, patterns = self._event()
        guard = self._guard()
        action = Action(event, patterns, guard, event == "", offset=start, length=self.cursor.end - start)
        if event == "":
            any_event = patterns == (Wildcard(),)
            action = Action(None, None if any_event else patterns, guard, not any_event, start, action.length)
        if braced:
            self.cursor.need("}")
        return action

    def _event(self) -> tuple[str, tuple[Term, ...]]:
        """The name of an event and patterns for its fields; the empty name: one pattern for the event as a tuple."""
        if not self.cursor.ahead(_AT_EVENT):
            return "", (self._pattern(),)
        first = self._component()
        match self.cursor.need(":", "?", "**", "->", "<-"):
            case ":":
                receiver = self._component()
                self.cursor.need("!")
                return "send", (first, receiver, self._pattern())
            case "?":
                return "recv", (first, self._pattern())
            case "**":
                return "exit", (first, self._pattern())
            case arrow:
                other = self._component()
                run = self._function() if self.cursor.take(",") else (Wildcard(), Wildcard(), Wildcard())
                return "fork" if arrow == "->" else "init", (first, other, *run)

    def _component(self) -> Term:
        token = self.cursor.need("^", VARIABLE, PID)
        if token == "^":
            return self._pin(token)
        return Constant(Pid(token), token.start) if token.kind is PID else _variable(token)

    def _function(self) -> tuple[Term, ...]:
        """Patterns for module, function and arguments: `m:f(A, B)`."""
        module = self._part_of_function()
        self.cursor.need(":")
        function = self._part_of_function()
        opening = self.cursor.need("(")
        arguments: list[Term] = []
        keywords: list[tuple[Constant, Term]] = []
        while not self.cursor.take(")"):
            if arguments or keywords:
                self.cursor.need(",")
            if self.cursor.ahead(_AT_KEYWORD):
                name = self.cursor.need(ATOM)
                self.cursor.need("=")
                keywords.append((Constant(Atom(name), name.start), self._pattern()))
            elif keywords:
                hint = "arguments by name come last"
                raise FormulaError("an argument by place after one by name", offset=self.cursor.place, hint=hint)
            else:
                arguments.append(self._pattern())
        if keywords:
            arguments.append(MapTerm(tuple(keywords), keywords[0][0].offset))
        return module, function, ListTerm(tuple(arguments), None, opening.start)

    def _part_of_function(self) -> Term:
        token = self.cursor.need(DOTTED, ATOM, VARIABLE)
        if token.kind is VARIABLE:
            return _variable(token)
        return Constant(Atom(token) if token.kind is DOTTED else _atom(token), token.start)

    # ---- patterns and guards

    def _pattern(self) -> Term:
        """A term made of variables, values, tuples, lists, maps and constant arithmetic."""
        return _folded(self._expression())

    def _guard(self) -> TermGuard | None:
        word = self.cursor.take("when")
        if word is None:
            return None
        start = self.cursor.place
        alternatives = [self._parts()]
        while self.cursor.take(";"):
            alternatives.append(self._parts())
        return TermGuard(tuple(alternatives), start, self.cursor.end - start)

    def _parts(self) -> tuple[Term, ...]:
        parts = [self._condition()]
        while self.cursor.take(","):
            parts.append(self._condition())
        return tuple(parts)

    def _condition(self) -> Term:
        found = self._expression()
        if self.cursor.ahead(_AT_FOREIGN):
            operator = self.cursor.need(*_FOREIGN)
            hint = f"write {_FOREIGN[str(operator)]}"
            raise FormulaError(f"there is no '{operator}'", offset=operator.start, length=len(operator), hint=hint)
        return found

    # ---- expressions, the loosest operators first

    def _expression(self) -> Term:
        return self.nested(self._orelse, _LEVELS)

    def _orelse(self) -> Term:
        left = self._andalso()
        operator = self.cursor.take("orelse")
        return Call("orelse", (left, self.nested(self._orelse)), operator.start) if operator else left

    def _andalso(self) -> Term:
        left = self._compared()
        operator = self.cursor.take("andalso")
        return Call("andalso", (left, self.nested(self._andalso)), operator.start) if operator else left

    def _compared(self) -> Term:
        left = self._joined()
        operator = self.cursor.take(_COMPARISON)
        if operator is None:
            return left
        found = Call(str(operator), (left, self._joined()), operator.start)
        if again := self.cursor.take(_COMPARISON):
            hint = "join two comparisons with 'andalso'"
            raise FormulaError("comparisons do not chain", offset=again.start, length=len(again), hint=hint)
        return found

    def _joined(self) -> Term:
        left = self._sum()
        operator = self.cursor.take(_JOINED)
        return Call(str(operator), (left, self.nested(self._joined)), operator.start) if operator else left

    def _sum(self) -> Term:
        return self._chain(_SUM, self._product)

    def _product(self) -> Term:
        return self._chain(_PRODUCT, self._prefixed)

    def _chain(self, operators: Kind, read: Callable[[], Term]) -> Term:
        """Operands with operators between them that lean to the left."""
        found = read()
        for _ in range(MAX_DEPTH):
            operator = self.cursor.take(operators)
            if operator is None:
                return found
            found = Call(str(operator), (found, read()), operator.start)
        raise self.too_deep()

    def _prefixed(self) -> Term:
        operator = self.cursor.take(_PREFIX)
        if operator is None:
            return self._primary()
        operand = self.nested(self._prefixed)
        if operator == "-" and isinstance(operand, Constant) and isinstance(operand.value, int | float):
            return Constant(-operand.value, operator.start)
        return Call(str(operator), (operand,), operator.start)

    def _primary(self) -> Term:
        if self.cursor.ahead(_AT_CALL):
            return self._call()
        token = self.cursor.need(*_VALUES, "(", "[", "{", "#{", "<<", "^")
        match token.kind:
            case Kind():
                return self._value(token)
            case "(":
                found = self._expression()
                self.cursor.need(")")
                return found
            case "[":
                return self._list(token)
            case "{":
                return TupleTerm(self._terms("}"), None, token.start)
            case "#{":
                return self._map(token)
            case "<<":
                return self._binary(token)
        return self._pin(token)

    def _value(self, token: Token) -> Term:
        if token.kind is VARIABLE:
            return _variable(token)
        if token.kind is STRING:
            text = _string(token)
            while more := self.cursor.take(STRING):
                text += _string(more)
            return Constant(String(text), token.start)
        if token.kind is NUMBER:
            return Constant(int(token) if token.isdigit() else float(token), token.start)
        kinds = {PID: Pid, REFERENCE: Reference}
        return Constant(kinds[token.kind](token) if token.kind in kinds else _atom(token), token.start)

    def _terms(self, closing: str) -> tuple[Term, ...]:
        terms: list[Term] = []
        while not self.cursor.take(closing):
            if terms:
                self.cursor.need(",")
            terms.append(self._expression())
        return tuple(terms)

    def _list(self, opening: Token) -> Term:
        parts: list[Term] = []
        rest: Term | None = None
        while not self.cursor.take("]"):
            if parts:
                if self.cursor.take("||"):
                    hint = "write out the elements, or compare them in the guard"
                    raise FormulaError("lists are not computed here", offset=opening.start, hint=hint)
                if self.cursor.take("|"):
                    rest = self._expression()
                    self.cursor.need("]")
                    break
                self.cursor.need(",")
            parts.append(self._expression())
        return ListTerm(tuple(parts), rest, opening.start)

    def _map(self, opening: Token) -> Term:
        items: list[tuple[Constant, Term]] = []
        while not self.cursor.take("}"):
            if items:
                self.cursor.need(",")
            place = self.cursor.place
            key = _folded(self._expression())
            if not isinstance(key, Constant):
                raise FormulaError("a key is a value", offset=place, hint="write #{key := Pattern}")
            self.cursor.need(":=")
            items.append((key, self._expression()))
        return MapTerm(tuple(items), opening.start)

    def _binary(self, opening: Token) -> Term:
        data = bytearray()
        first = True
        while not self.cursor.take(">>"):
            if not first:
                self.cursor.need(",")
            first = False
            part = self.cursor.need(NUMBER, STRING)
            if part.kind is STRING:
                data += _string(part).encode()
            elif part.isdigit() and int(part) < 256:
                data.append(int(part))
            else:
                hint = "a binary consists of numbers from 0 to 255 and strings"
                raise FormulaError(f"'{part}' is not a byte", offset=part.start, length=len(part), hint=hint)
        return Constant(bytes(data), opening.start)

    def _pin(self, mark: Token) -> Term:
        return Pin(str(self.cursor.need(VARIABLE)), mark.start)

    def _call(self) -> Term:
        name = self.cursor.need(ATOM)
        if str(name) not in FUNCTIONS and str(name) not in PREDICATES:
            raise FormulaError(
                f"there is no guard function '{name}'",
                offset=name.start,
                length=len(name),
                hint=suggestion(name, (*FUNCTIONS, *PREDICATES)),
                code="LOGIC-074",
            )
        self.cursor.need("(")
        operands = self._terms(")")
        if str(name) in FUNCTIONS and len(operands) != FUNCTIONS[str(name)]:
            raise FormulaError(
                f"'{name}' takes {FUNCTIONS[str(name)]}, not {len(operands)}",
                offset=name.start,
                length=len(name),
                code="LOGIC-074",
            )
        return Call(str(name), operands, name.start)


def _variable(token: Token) -> Term:
    return Wildcard(token.start) if token == "_" else Name(str(token), token.start)


def _atom(token: Token) -> Atom:
    return Atom(token[1:-1] if token.startswith("'") else token)


def _string(token: Token) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), token[1:-1])


def _folded(term: Term) -> Term:
    """The term with constant arithmetic worked out; `FormulaError` if it is no pattern then."""
    match term:
        case TupleTerm(parts, tag, offset):
            return TupleTerm(tuple(map(_folded, parts)), tag, offset)
        case ListTerm(parts, rest, offset):
            return ListTerm(tuple(map(_folded, parts)), None if rest is None else _folded(rest), offset)
        case MapTerm(items, offset):
            return MapTerm(tuple((key, _folded(value)) for key, value in items), offset)
        case Call(operator, operands, offset):
            folded = [_folded(operand) for operand in operands]
            values = [each.value for each in folded if isinstance(each, Constant)]
            if operator not in COMPARISONS and len(values) == len(operands):
                try:
                    return Constant(apply(operator, values), offset)
                except GuardError:
                    pass
            hint = "bind a variable here and compare it in a guard: when …"
            raise FormulaError(f"'{operator}' cannot be in a pattern", offset=offset, length=len(operator), hint=hint)
    return term
