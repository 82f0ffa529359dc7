"""Stage 2: what the engine needs to know of a grammar beside its tables.

A trace can fail by any event at any time. So for `fail` every event creates, nothing restricts the enable sets, and
all that a further report needs is some event; the sets of the grammar itself are those for `match`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from mopsus.logics.cfg.grammar import Grammar
from mopsus.logics.cfg.sets import Sets
from mopsus.logics.cfg.tables import Tables
from mopsus.logics.logic import Request
from mopsus.logics.machines.analyse import NEEDS_NOTHING, EventSets, Scale, bounded, scales_of
from mopsus.model import Families

MATCH = "match"
FAIL = "fail"

_Matching: TypeAlias = "tuple[Families, Families, Sequence[EventSets]]"


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysed part of a `StackMachine`; see there."""

    creation: frozenset[str]
    enable: Mapping[str, Families]
    coenable: Mapping[str, Families]
    alive: tuple[EventSets, ...]
    failed: EventSets


def analyse(grammar: Grammar, tables: Tables, request: Request, *, lazy: bool) -> Analysis:
    """Analyse a simple grammar and its tables for reports of the goal categories."""
    alphabet = request.alphabet
    begins = frozenset(event for event, cell in zip(alphabet, tables.actions[0][:-1], strict=True) if cell)
    enable: dict[str, Families] = {category: {} for category in request.goal}
    coenable: dict[str, Families] = {category: dict.fromkeys(alphabet, NEEDS_NOTHING) for category in request.goal}
    alive: Sequence[EventSets] = [frozenset(frozenset({event}) for event in alphabet)] * len(tables.kernels)
    matching = bounded(scales_of(request), partial(_matching, grammar, tables)) if MATCH in request.goal else None
    if matching is not None:
        # Forgotten events, resets and suffixes put anything between the events of a trace of the grammar.
        if not (lazy or request.suffix or request.restart or request.interrupted):
            enable[MATCH], coenable[MATCH] = matching[:2]
        if FAIL not in request.goal:
            alive = matching[2]
    return Analysis(
        frozenset(alphabet) if FAIL in request.goal or (begins and request.interrupted) else request.beginnings(begins),
        enable,
        coenable,
        tuple(
            _minimal(sets | alive[0]) if _resets_at(tables, state, request) else sets
            for state, sets in enumerate(alive)
        ),
        alive[0] if request.interrupted or FAIL in request.restart else frozenset(),
    )


def _matching(grammar: Grammar, tables: Tables, scale: Scale) -> _Matching:
    sets = Sets(grammar, scale)
    return sets.enable(), sets.coenable(), sets.alive(tables)


def _resets_at(tables: Tables, state: int, request: Request) -> bool:
    """May the machine be reset with that state on top of its stack?"""
    return request.interrupted or (MATCH in request.restart and bool(tables.actions[state][-1]))


def _minimal(sets: EventSets) -> EventSets:
    return frozenset(each for each in sets if not any(other < each for other in sets))
