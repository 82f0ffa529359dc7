"""Machines that are nothing but their logic's definition, in the shape that the slicing oracles run.

A state is the part of the trace that counts, with the categories that the logic's `reference` gives it. For logics
whose machines are no tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from mopsus.logics import load_logic
from mopsus.model import Machine, Property, Spec

NONE = frozenset[str]()


class State(NamedTuple):
    """What the machine remembers, the categories there, and those of them that stay."""

    memory: Hashable
    categories: frozenset[str] = NONE
    final: frozenset[str] = NONE


@dataclass(frozen=True)
class _Lookup:
    """A function to be called with brackets."""

    function: Callable[[Any], Any]

    def __getitem__(self, key: Any) -> Any:
        return self.function(key)


class DefinedMachine:
    """A property by definition; what the analyses say is taken from its compiled `machine`."""

    def __init__(
        self,
        machine: Machine,
        initial: State,
        step: Callable[[State, str], State],
        after_report: Callable[[State], State] | None = None,
    ) -> None:
        def initial_after(_: State) -> State:
            return initial

        self.alphabet, self.goal = machine.alphabet, machine.goal
        self.creation, self.enable = machine.creation, machine.enable
        self.initial = initial
        self.table = _Lookup(lambda state: _Lookup(lambda letter: step(state, machine.alphabet[letter])))
        self.categories = _Lookup(lambda state: state.categories)
        self.final = _Lookup(lambda state: state.final)
        self.alive = _Lookup(lambda state: ())  # only asked who hides others under `maximal-binding`
        self.after_report = _Lookup(initial_after if after_report is None else after_report)


def grammar_by_definition(spec: Spec, prop: Property, machine: Machine) -> DefinedMachine:
    """A property of a context-free logic; `fail` is final unless the logic is lazy."""
    alphabet = tuple(event.name for event in spec.events)
    grammar = load_logic("cfg").parse(prop.formula, alphabet)
    lazy = prop.logic.endswith("_lazy")

    @cache
    def categories(word: tuple[str, ...]) -> frozenset[str]:
        return load_logic("cfg").reference(grammar, alphabet, word)

    def total(state: State, event: str) -> State:
        if "fail" in state.final:
            return state
        word = (*state.memory, event)
        found = categories(word)
        if "fail" not in found:
            return State(word, found)
        return State(state.memory, found) if lazy else State(word, found, found)

    def suffix(state: State, event: str) -> State:
        begun = frozenset((*word, event) for word in (*state.memory, ()))
        return State(begun, frozenset({"match"}) if any(map(complete, begun)) else NONE)

    def complete(word: tuple[str, ...]) -> bool:
        return "match" in categories(word)

    def rest(state: State) -> State:
        return State(frozenset(word for word in state.memory if not complete(word)))

    if spec.modifiers.suffix:
        return DefinedMachine(machine, State(frozenset()), suffix, rest)
    return DefinedMachine(machine, State(()), total)
