"""Stage 2: an extended regular expression made into a finished machine."""

from __future__ import annotations

from mopsus.logics.ere.derivatives import Derivatives
from mopsus.logics.ere.syntax import Ere, events_of
from mopsus.logics.logic import Request
from mopsus.logics.machines import finish
from mopsus.logics.machines.automaton import Automaton, explore, reaching
from mopsus.model import TableMachine

MATCH = frozenset({"match"})
FAIL = frozenset({"fail"})
UNDECIDED = frozenset({"?"})


def compile_expression(expression: Ere, request: Request) -> TableMachine:
    """The minimal machine of the expression.

    `match`: the trace is a word of it; `fail`: no continuation of the trace is one; `?` otherwise. A trace that ends
    presumably matches if it does so then.
    """
    return finish(_automaton(expression, request.alphabet), request)


def _automaton(expression: Ere, alphabet: tuple[str, ...]) -> Automaton:
    derivatives = Derivatives()
    # Events that the expression does not speak of are all alike to it: one letter stands for them.
    spoken = events_of(expression)
    letters = {event: letter for letter, event in enumerate(event for event in alphabet if event in spoken)}
    letter_of = [letters.get(event, len(letters)) for event in alphabet]
    shape = explore(
        alphabet,
        derivatives.add(expression, letters),
        lambda state, letter: derivatives.derive(state, letter_of[letter]),
        lambda state: MATCH if derivatives.nullable(state) else UNDECIDED,
    )
    # That a state is dead is seen from the whole automaton: `(a a) & (a b)` is empty, but does not look it.
    live = reaching(shape.table, [state for state, held in enumerate(shape.categories) if held is MATCH])
    return Automaton(
        alphabet,
        shape.initial,
        shape.table,
        tuple(held if state in live else FAIL for state, held in enumerate(shape.categories)),
        tuple("" if state in live else "fail" for state in range(len(shape.table))),
        tuple(held is MATCH for held in shape.categories),
    )
