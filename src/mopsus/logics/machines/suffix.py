"""Stage 2: suffix matching done once and for all at compile time.

Matching some suffix of the trace against R is matching the whole trace against E* R; the
subset construction over R's automaton gives it (Meredith 2012, ch. 3, has it at run time).
"""

from __future__ import annotations

from mopsus.logics.machines.automaton import Automaton, explore, reaching

MATCH = "match"
UNDECIDED = "?"


def match_suffixes(automaton: Automaton) -> tuple[Automaton, frozenset[str]]:
    """The automaton that matches when some suffix of the trace does, and the events a match can begin with.

    It has the categories `match` and `?` only: some later suffix can always match, so nothing fails. What the
    logic presumed of its states says nothing about suffixes: a trace that ends presumably matches if it does so now.
    """
    matching = {state for state, categories in enumerate(automaton.categories) if MATCH in categories}
    live = reaching(automaton.table, matching)
    table, initial = automaton.table, automaton.initial

    def step(states: frozenset[int], letter: int) -> frozenset[int]:
        # The initial state is in every set, because a match may begin at every event.
        return frozenset(table[state][letter] for state in states if table[state][letter] in live) | {initial}

    def categories(states: frozenset[int]) -> frozenset[str]:
        return frozenset({MATCH if states & matching else UNDECIDED})

    begins = frozenset(event for letter, event in enumerate(automaton.alphabet) if table[initial][letter] in live)
    found = explore(
        automaton.alphabet,
        frozenset({initial}),
        step,
        categories,
        presumed=(lambda states: bool(states & matching)) if automaton.presumed else None,
    )
    return found, begins
