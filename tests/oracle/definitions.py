"""Machines of any kind as the slicing oracles want them: states are words, categories those of the definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle.slicing import Subject
from oracle.strategies import resets

from mopsus.logics import compile_spec, load_logic
from mopsus.model import Machine, Spec

Word = tuple[str, ...]
Family = frozenset[frozenset[str]]


class Lazily:
    """What a function gives, written as a look-up."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._known: dict[Any, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        if key not in self._known:
            self._known[key] = self._function(key)
        return self._known[key]


@dataclass
class Defined:
    """Looks like a table over all words."""

    machine: Machine
    reference: Callable[[Word], frozenset[str]]
    lasting: frozenset[str]
    """Categories that stay for ever once they are reached."""
    alive_of: Callable[[Word], Family]

    def __post_init__(self) -> None:
        self.initial: Word = ()
        self.alphabet = self.machine.alphabet
        self.goal = self.machine.goal
        self.creation = self.machine.creation
        self.enable = self.machine.enable
        self.table = Lazily(lambda word: [(*word, event) for event in self.alphabet])
        self.categories = Lazily(self.reference)
        self.final = Lazily(lambda word: self.categories[word] & self.lasting if word else frozenset())
        self.alive = Lazily(self.alive_of)
        self.after_report: tuple[Word, ...] = ()


def defined_subject(spec: Spec, lasting: frozenset[str], alive: Callable[[Machine, frozenset[str]], Family]) -> Subject:
    """The subject of a spec whose properties all are of logics with machines that are no tables.

    `alive` gives, for a machine and its categories after some word, the event sets that lead to a report.
    """
    machines = []
    alphabet = tuple(event.name for event in spec.events)
    for prop, machine in zip(spec.properties, compile_spec(spec).machines, strict=True):
        logic = load_logic(prop.logic)
        formula = logic.parse(prop.formula, alphabet)

        def reference(word: Word, logic: Any = logic, formula: Any = formula) -> frozenset[str]:
            return logic.reference(formula, alphabet, word)

        def alive_of(word: Word, machine: Machine = machine, reference: Any = reference) -> Family:
            return alive(machine, reference(word) if word else frozenset())

        machines.append(Defined(machine, reference, lasting, alive_of))
    return Subject.of(spec, machines, resets(spec))
