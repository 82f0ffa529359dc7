"""Stage 2: suffix matching done once and for all at compile time.

Some suffix of the trace matches R if the whole trace matches E* R; the subset construction over R's automaton gives
that machine (Meredith 2012, ch. 3, runs the set of its states instead). A state is the set of the matches that have
begun, each by where it stands in R.
"""

from __future__ import annotations

from mopsus.logics.machines.automaton import Automaton, explore, reaching, too_large

MAX_BEGUN = 1_000_000
"""How many matches the states of one machine may have in all, each with those that can be under way at a time."""

MATCH = "match"
UNDECIDED = "?"


def match_suffixes(automaton: Automaton, *, resets: bool = False) -> tuple[Automaton, frozenset[str]]:
    """The automaton that matches when some suffix of the trace does, and the events a match can begin with.

    A match has at least the event at which it is reported: the empty suffix is none. The automaton has the
    categories `match` and `?` only: some later suffix can always match, so nothing fails. What the logic presumed of
    its states says nothing about suffixes: a trace that ends presumably matches if it does so now. If there are
    `resets`, one by a handler ends the matches that are complete; those that have only begun go on.
    """
    matching = {state for state, categories in enumerate(automaton.categories) if MATCH in categories}
    live = reaching(automaton.table, matching)
    table, initial = automaton.table, automaton.initial

    known: set[frozenset[int]] = set()
    left = MAX_BEGUN

    def step(begun: frozenset[int], letter: int) -> frozenset[int]:
        nonlocal left
        # A match may begin at every event.
        after = frozenset(table[state][letter] for state in begun | {initial} if table[state][letter] in live)
        if after not in known:
            known.add(after)
            left -= len(after)
            if left < 0:
                raise too_large("under 'suffix' too many matches can be under way at a time")
        return after

    def categories(begun: frozenset[int]) -> frozenset[str]:
        return frozenset({MATCH if begun & matching else UNDECIDED})

    begins = frozenset(event for letter, event in enumerate(automaton.alphabet) if table[initial][letter] in live)
    found = explore(
        automaton.alphabet,
        frozenset[int](),
        step,
        categories,
        presumed=(lambda begun: bool(begun & matching)) if automaton.presumed else None,
        after_report=(lambda begun: begun - matching) if resets else None,
    )
    return found, begins
