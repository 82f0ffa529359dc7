"""Stage 2: the meaning of a finite state machine, read off its text one event at a time."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics.fsm.syntax import FAIL, Fsm


def categories_after(machine: Fsm, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The categories that the machine is in after `word`."""
    current = machine.states[0].name
    for event in word:
        if event not in alphabet:
            raise ValueError(f"`{event}` is not an event of the alphabet")
        here = [state for state in machine.states if state.name == current]
        current = here[0].target(event) if here else FAIL
    held = {current}
    for alias, members in machine.aliases.items():
        if current in members:
            held.add(alias)
    return frozenset(held)
