"""Stage 2: why a grammar is not LR(1) or not LALR(1), told with an example."""

from __future__ import annotations

from mopsus.logics.cfg.grammar import Grammar, Production, shortest_words
from mopsus.logics.cfg.syntax import Cfg
from mopsus.logics.cfg.tables import Tables
from mopsus.logics.logic import FormulaError

MAX_SHOWN = 12
"""How many events of an example prefix are shown."""


def refuse_conflicts(formula: Cfg, grammar: Grammar, tables: Tables, *, what: str, hint: str) -> None:
    """`FormulaError` for the first conflict of the tables, if there is one: `what` they should have been."""
    conflict = next(tables.conflicts(), None)
    if conflict is None:
        return
    letter = f"'{formula.alphabet[conflict.letter]}'" if conflict.letter < len(formula.alphabet) else "the end"
    reduced = [tables.productions[~action] for action in conflict.actions if action < 0]
    choices = [f"'{_text(production)}' is complete" for production in reduced]
    if len(choices) < len(conflict.actions):
        waiting = [
            _text(tables.productions[number], dot)
            for number, dot in _items_before(tables, conflict.state, formula.alphabet[conflict.letter])
        ]
        choices.append(f"'{waiting[0]}' goes on" if waiting else f"{letter} goes on")
    prefix = _prefix(formula.alphabet, grammar, tables, conflict.state)
    rule = next((rule for rule in formula.rules if rule.head == reduced[0].head.partition(".")[0]), formula.rules[0])
    raise FormulaError(
        f"the grammar is not {what}: after '{prefix}' and before {letter} both {' and '.join(choices)} "
        f"(state {conflict.state})",
        offset=rule.offset,
        length=len(rule.head),
        hint=hint,
        code="LOGIC-033",
    )


def _items_before(tables: Tables, state: int, event: str) -> list[tuple[int, int]]:
    """The items, of the state or begun in it, that have the event next; those of the state come first."""
    heads = frozenset(tables.nonterminals)
    found = []
    seen: set[str] = set()
    work = list(tables.kernels[state])
    while work:
        number, dot = work.pop(0)
        body = tables.productions[number].body
        if dot == len(body):
            continue
        if body[dot] == event:
            found.append((number, dot))
        elif body[dot] in heads and body[dot] not in seen:
            seen.add(body[dot])
            work += [(other, 0) for other, each in enumerate(tables.productions) if each.head == body[dot]]
    return found


def _text(production: Production, dot: int | None = None) -> str:
    body = production.body if dot is None else (*production.body[:dot], "•", *production.body[dot:])
    return " ".join((production.head, "->", *body))


def _prefix(alphabet: tuple[str, ...], grammar: Grammar, tables: Tables, state: int) -> str:
    """A shortest way to a state, as events."""
    words = shortest_words(grammar)
    way: dict[int, tuple[str, ...]] = {0: ()}
    work = [0]
    for at in work:  # grows while it is walked
        shifts = zip(alphabet, tables.actions[at][:-1], strict=True)
        steps = [(event, action) for event, cell in shifts for action in cell if action >= 0]
        steps += [(name, to) for name, to in zip(tables.nonterminals, tables.gotos[at], strict=True) if to >= 0]
        for symbol, target in steps:
            if target not in way:
                way[target] = (*way[at], *words.get(symbol, (symbol,)))
                work.append(target)
    events = way[state]
    return " ".join(events if len(events) <= MAX_SHOWN else ("...", *events[-MAX_SHOWN:]))
