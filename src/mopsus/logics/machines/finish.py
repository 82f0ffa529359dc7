"""Stage 2: from a logic's plain automaton to the finished machine that the engine runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from mopsus.logics.logic import Request
from mopsus.logics.machines.analyse import analyse, final_categories
from mopsus.logics.machines.automaton import Automaton
from mopsus.logics.machines.minimise import minimise
from mopsus.logics.machines.suffix import match_suffixes
from mopsus.model import TableMachine


def finish(automaton: Automaton, request: Request, *, truth: Mapping[str, bool | None] | None = None) -> TableMachine:
    """The minimal machine for `request`, with its analyses.

    Anonymous states are called `s0`, `s1` and so on.
    """
    begins: frozenset[str] | None = None
    if request.suffix:
        automaton, begins = match_suffixes(automaton)
    smallest = minimise(_open_silently(automaton, request), request.goal)
    analysis = analyse(smallest, request, begins)
    return TableMachine(
        alphabet=smallest.alphabet,
        initial=smallest.initial,
        table=smallest.table,
        categories=smallest.categories,
        names=_name_all(smallest.names),
        goal=request.goal,
        final=analysis.final,
        creation=analysis.creation,
        enable=analysis.enable,
        coenable=analysis.coenable,
        alive=analysis.alive,
        truth=dict(truth or {}),
    )


def _name_all(names: Sequence[str]) -> tuple[str, ...]:
    taken = frozenset(names)
    fresh = (name for number in count() if (name := f"s{number}") not in taken)
    return tuple(name or next(fresh) for name in names)


def _open_silently(automaton: Automaton, request: Request) -> Automaton:
    """Give the automaton an initial state without categories if otherwise a verdict would never be heard.

    A final verdict is reported when it is entered. One that holds before the first event must be
    entered at the first event, because nothing is reported before it.
    """
    if not final_categories(automaton)[automaton.initial] & request.goal:
        return automaton
    return replace(
        automaton,
        initial=len(automaton.table),
        table=(*automaton.table, automaton.table[automaton.initial]),
        categories=(*automaton.categories, frozenset()),
        names=(*automaton.names, "start"),
    )
