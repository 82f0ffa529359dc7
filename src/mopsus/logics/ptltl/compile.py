"""Stage 2: a past-time formula made into a finished machine, by enumerating the bits of its parallel form."""

from __future__ import annotations

from dataclasses import replace

from mopsus.logics.logic import Request
from mopsus.logics.machines import Automaton, finish
from mopsus.logics.machines.automaton import explore
from mopsus.logics.ptltl.assignments import parallel
from mopsus.logics.temporal.categories import CATEGORY, TRUTH
from mopsus.logics.temporal.syntax import Formula, events_of
from mopsus.model import TableMachine

_CATEGORIES: dict[bool | None, frozenset[str]] = {value: frozenset({name}) for value, name in CATEGORY.items()}
_CATEGORIES[None] = frozenset()


def compile_ptltl(formula: Formula, request: Request) -> TableMachine:
    """The minimal machine of the formula.

    `validation` or `violation` at every event: is the formula true now? Neither is final unless the formula cannot
    change its value any more.
    """
    return finish(_automaton(formula, request.alphabet), request, truth=TRUTH)


def _automaton(formula: Formula, alphabet: tuple[str, ...]) -> Automaton:
    form = parallel(formula)
    spoken = events_of(formula)
    # Events that the formula does not speak of are all alike to it.
    events = [event if event in spoken else "" for event in alphabet]
    known: dict[tuple[tuple[bool, ...], str], tuple[tuple[bool, ...], bool]] = {}

    def step(state: tuple[tuple[bool, ...], bool | None], letter: int) -> tuple[tuple[bool, ...], bool]:
        key = (state[0], events[letter])
        found = known.get(key)
        if found is None:
            found = known[key] = form.step(*key)
        return found

    start: tuple[tuple[bool, ...], bool | None] = (form.initial, None)
    automaton = explore(alphabet, start, step, lambda state: _CATEGORIES[state[1]])
    return _start_in_a_known_state(automaton)


def _start_in_a_known_state(automaton: Automaton) -> Automaton:
    """Let the automaton start in a state that goes on like the initial one, if there is one: it has a category,
    but nothing is reported before the first event."""
    row = automaton.table[automaton.initial]
    for state, other in enumerate(automaton.table):
        if state != automaton.initial and other == row:
            return replace(automaton, initial=state)
    return automaton
