"""Stage 2: a grammar as plain productions, and made simple enough for tables.

Groups and repetitions become non-terminals of their own. Then symbols that derive no trace or that the start symbol
does not reach go, and last the productions of the empty trace: nothing is reported before the first event, so the
language may lose it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from mopsus.logics.cfg.syntax import Cfg, Op, Side
from mopsus.logics.logic import FormulaError, LogicError
from mopsus.model import Remark

MAX_PRODUCTIONS = 5_000
"""How many productions a grammar may have once the empty trace is gone from it."""

MAX_OPTIONAL = 4
"""How many symbols of one right side may be left out: n of them make 2^n productions, so longer ones are split."""

Body = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Production:
    """A non-terminal and one sequence of symbols that it may be replaced by."""

    head: str
    body: Body


@dataclass(frozen=True, slots=True)
class Grammar:
    """Productions over names: non-terminals, of which those that no rule was written for have a dot, and events."""

    start: str
    nonterminals: tuple[str, ...]
    productions: tuple[Production, ...]


def simplify(formula: Cfg) -> tuple[Grammar, tuple[Remark, ...]]:
    """The grammar without useless symbols and productions of the empty trace, and remarks on what was useless.

    It has no productions if the language is that of the empty trace alone. `FormulaError` if no trace at all can be
    derived.
    """
    grammar = _plain(formula)
    generating = _generating(grammar)
    if grammar.start not in generating:
        raise FormulaError(
            f"the grammar derives no trace: every rule of '{grammar.start}' leads to a non-terminal that never ends",
            offset=formula.rules[0].offset,
            length=len(grammar.start),
            hint="give the recursion an end, such as '| epsilon'",
            code="LOGIC-032",
        )
    productive = _only(grammar, generating)
    reached = _reachable(productive)
    remarks = tuple(_useless(formula, generating, reached))
    grammar = _without_empty(_only(productive, reached))
    grammar = _only(grammar, _generating(grammar))
    return _only(grammar, _reachable(grammar)), remarks


def shortest_words(grammar: Grammar) -> dict[str, Body]:
    """Of each non-terminal of a simple grammar, a shortest trace that it derives."""
    heads = frozenset(grammar.nonterminals)
    found: dict[str, Body] = {}
    changed = True
    while changed:
        changed = False
        for production in grammar.productions:
            if not all(symbol in found or symbol not in heads for symbol in production.body):
                continue
            word = tuple(event for symbol in production.body for event in found.get(symbol, (symbol,)))
            if production.head not in found or len(word) < len(found[production.head]):
                found[production.head] = word
                changed = True
    return found


def _plain(formula: Cfg) -> Grammar:
    """The productions of a formula, with a non-terminal for each repetition and each group of alternatives."""
    productions: dict[Production, None] = {}
    made: dict[Side, str] = {}
    numbers = count(1)

    def alternatives(side: Side, head: str) -> list[Body]:
        parts = side.parts if side.op is Op.OR else (side,)
        return [body(part, head) for part in parts]

    def body(side: Side, head: str) -> Body:
        match side.op:
            case Op.EPSILON:
                return ()
            case Op.SYMBOL:
                return (side.symbol,)
            case Op.SEQUENCE:
                return tuple(symbol for part in side.parts for symbol in body(part, head))
            case Op.OR | Op.STAR | Op.PLUS:
                return (group(side, head),)

    def group(side: Side, head: str) -> str:
        if side in made:
            return made[side]
        name = made[side] = f"{head}.{next(numbers)}"
        inner = alternatives(side if side.op is Op.OR else side.parts[0], head)
        if side.op is Op.STAR:
            productions[Production(name, ())] = None
        # Repetitions recur on the left, which keeps stacks short.
        for each in inner:
            if side.op is not Op.STAR:
                productions[Production(name, each)] = None
            if side.op is not Op.OR:
                productions[Production(name, (name, *each))] = None
        return name

    for rule in formula.rules:
        for each in alternatives(rule.body, rule.head):
            productions[Production(rule.head, each)] = None
    heads = dict.fromkeys([rule.head for rule in formula.rules] + [production.head for production in productions])
    return Grammar(formula.start, tuple(heads), tuple(productions))


def _generating(grammar: Grammar) -> frozenset[str]:
    """The non-terminals that derive a trace, the empty one included."""
    return _deriving(grammar, frozenset(grammar.nonterminals))


def _nullable(grammar: Grammar) -> frozenset[str]:
    """The non-terminals that derive the empty trace."""
    return _deriving(grammar, frozenset(symbol for production in grammar.productions for symbol in production.body))


def _deriving(grammar: Grammar, to_replace: frozenset[str]) -> frozenset[str]:
    """The non-terminals that derive a sequence in which nothing is left of `to_replace`."""
    waiting: dict[str, list[int]] = {}
    missing: list[int] = []
    ready: list[int] = []
    for number, production in enumerate(grammar.productions):
        needs = to_replace.intersection(production.body)
        missing.append(len(needs))
        for symbol in needs:
            waiting.setdefault(symbol, []).append(number)
        if not needs:
            ready.append(number)
    found: set[str] = set()
    while ready:
        head = grammar.productions[ready.pop()].head
        if head in found:
            continue
        found.add(head)
        for number in waiting.get(head, ()):
            missing[number] -= 1
            if missing[number] == 0:
                ready.append(number)
    return frozenset(found)


def _reachable(grammar: Grammar) -> frozenset[str]:
    bodies: dict[str, list[Body]] = {}
    for production in grammar.productions:
        bodies.setdefault(production.head, []).append(production.body)
    found, work = {grammar.start}, [grammar.start]
    while work:
        for body in bodies.get(work.pop(), ()):
            new = {symbol for symbol in body if symbol in bodies} - found
            found |= new
            work += new
    return frozenset(found)


def _only(grammar: Grammar, kept: frozenset[str]) -> Grammar:
    """The grammar without the productions that have a non-terminal not in `kept`."""
    dropped = frozenset(grammar.nonterminals) - kept
    return Grammar(
        grammar.start,
        tuple(name for name in grammar.nonterminals if name in kept),
        tuple(each for each in grammar.productions if each.head in kept and dropped.isdisjoint(each.body)),
    )


def _useless(formula: Cfg, generating: frozenset[str], reached: frozenset[str]) -> Iterator[Remark]:
    told: set[str] = set()
    for rule in formula.rules:
        if rule.head in told or (rule.head in generating and rule.head in reached):
            continue
        told.add(rule.head)
        if rule.head not in generating:
            message, hint = f"'{rule.head}' derives no trace", "its recursion has no end; what contains it never occurs"
        else:
            message, hint = f"'{formula.start}' never leads to '{rule.head}'", "use it, or leave its rules out"
        yield Remark("LOGIC-034", message, hint, rule.offset, len(rule.head))


def _without_empty(grammar: Grammar) -> Grammar:
    """The same language but for the empty trace, by productions that have each a body.

    A non-terminal that derived only the empty trace has no production any more.
    """
    nullable = _nullable(grammar)
    found: dict[Production, None] = {}
    for production in _split(grammar, nullable):
        bodies: list[Body] = [()]
        for symbol in production.body:
            choices: list[Body] = [(symbol,), ()] if symbol in nullable else [(symbol,)]
            bodies = [(*body, *choice) for body in bodies for choice in choices]
        for body in bodies:
            # That something may be replaced by itself adds no trace.
            if body and body != (production.head,):
                found[Production(production.head, body)] = None
        if len(found) > MAX_PRODUCTIONS:
            raise LogicError(
                f"without 'epsilon' the grammar has more than {MAX_PRODUCTIONS:,} productions",
                code="LOGIC-007",
                hint="let fewer symbols of one right side derive the empty trace",
            )
    tails = (production.head for production in found)
    return Grammar(grammar.start, tuple(dict.fromkeys((*grammar.nonterminals, *tails))), tuple(found))


def _split(grammar: Grammar, nullable: frozenset[str]) -> Iterator[Production]:
    """The productions, those with many optional symbols cut in pieces: a tail becomes a non-terminal of its own."""
    numbers = count(1)
    for production in grammar.productions:
        head, body = production.head, production.body
        while len(optional := [place for place, symbol in enumerate(body) if symbol in nullable]) > MAX_OPTIONAL:
            cut = optional[MAX_OPTIONAL - 1]
            front, body = body[:cut], body[cut:]
            tail = f"{production.head}.tail{next(numbers)}"
            yield Production(head, (*front, tail))
            if nullable.issuperset(body):
                yield Production(head, front)
            head = tail
        yield Production(head, body)
