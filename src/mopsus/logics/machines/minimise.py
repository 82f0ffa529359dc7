"""Stage 2: the smallest automaton that nobody who watches the goal categories can tell from the given one.

Hopcroft's partition refinement, started from one block per set of goal categories instead of
the classical two (accepting or not), so that it serves logics with any number of categories.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mopsus.logics.machines.automaton import Automaton, explore


def minimise(automaton: Automaton, goal: frozenset[str]) -> Automaton:
    """Merge states that no goal category tells apart; drop unreachable ones.

    States of which different things are presumed stay apart too. A merged state keeps the
    categories that all its members have. States are numbered in breadth-first order, so equivalent
    automata over one alphabet come out with equal tables.
    """
    automaton = _reachable(automaton)
    presumed = automaton.presumed
    colours = [
        (categories & goal, presumed[state] if presumed else None)
        for state, categories in enumerate(automaton.categories)
    ]
    resets = automaton.after_report
    moves = [(*row, resets[state]) for state, row in enumerate(automaton.table)] if resets else automaton.table
    block_of = _refine(moves, colours)
    members: dict[int, list[int]] = {}
    for state, block in enumerate(block_of):
        members.setdefault(block, []).append(state)
    return explore(
        automaton.alphabet,
        block_of[automaton.initial],
        lambda block, letter: block_of[automaton.table[members[block][0]][letter]],
        lambda block: frozenset.intersection(*(automaton.categories[state] for state in members[block])),
        lambda block: _join_names([automaton.names[state] for state in members[block]]),
        (lambda block: presumed[members[block][0]]) if presumed else None,
        (lambda block: block_of[resets[members[block][0]]]) if resets else None,
    )


def _reachable(automaton: Automaton) -> Automaton:
    return explore(
        automaton.alphabet,
        automaton.initial,
        lambda state, letter: automaton.table[state][letter],
        lambda state: automaton.categories[state],
        lambda state: automaton.names[state],
        automaton.presumed.__getitem__ if automaton.presumed else None,
        automaton.after_report.__getitem__ if automaton.after_report else None,
    )


def _join_names(names: Sequence[str]) -> str:
    """A short readable name for merged states: the first few names of its members."""
    named = [name for name in dict.fromkeys(names) if name]
    return "/".join(named[:3]) + ("/…" if len(named) > 3 else "")


def _refine(table: Sequence[Sequence[int]], colours: Sequence[Hashable]) -> list[int]:
    """The block of each state in the coarsest partition that respects `colours` and `table`."""
    blocks: list[set[int]] = []
    block_of = [0] * len(table)
    number: dict[Hashable, int] = {}
    for state, colour in enumerate(colours):
        block = number.setdefault(colour, len(number))
        if block == len(blocks):
            blocks.append(set())
        blocks[block].add(state)
        block_of[state] = block
    letters = range(len(table[0]) if table else 0)
    inverse: list[list[list[int]]] = [[[] for _ in table] for _ in letters]
    for source, row in enumerate(table):
        for letter, target in enumerate(row):
            inverse[letter][target].append(source)

    waiting = {(block, letter) for block in range(len(blocks)) for letter in letters}
    while waiting:
        splitter, letter = waiting.pop()
        into = inverse[letter]
        touched: dict[int, list[int]] = {}
        for target in blocks[splitter]:
            for source in into[target]:
                touched.setdefault(block_of[source], []).append(source)
        for block, sources in touched.items():
            rest = blocks[block]
            if len(sources) == len(rest):
                continue
            split = set(sources)
            rest -= split
            fresh = len(blocks)
            # The larger part keeps the number, so that relabelling costs the smaller one only.
            if len(split) > len(rest):
                blocks[block], split = split, rest
            blocks.append(split)
            for state in split:
                block_of[state] = fresh
            for each in letters:
                # If (block, each) is waiting both parts must; else the smaller, which is `fresh`, suffices.
                waiting.add((fresh, each))
    return block_of
