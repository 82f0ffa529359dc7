"""Stage 2: automata written in the HOA format, and machines exported to it."""

from __future__ import annotations

import re

from mopsus.logics.hoa.automaton import Condition, Edge, Hoa, Often, Op, Reading, State
from mopsus.logics.hoa.read import CATEGORIES, FINITE, GOAL
from mopsus.logics.logic import LogicError
from mopsus.model import Machine, TableMachine

_ALIAS = re.compile(r"[0-9a-zA-Z_-]+")
_NONE = "none"
"""The alias for events that the automaton does not mention."""


def export_machine(machine: Machine, title: str = "") -> str:
    """The machine in the HOA format, so that reading it gives the same machine back.

    The acceptance sets are the categories, which headers of our own name; the condition accepts every run. Labels
    are exact: in each step one event happens. `LogicError` for a machine without a table.
    """
    if not isinstance(machine, TableMachine):
        raise LogicError(
            "only finite machines can be written in the HOA format",
            code="LOGIC-042",
            hint="draw it as text, dot or mermaid",
        )
    categories = tuple(sorted(machine.goal.union(*machine.categories)))
    states = []
    for name, held, row in zip(machine.names, machine.categories, machine.table, strict=True):
        letters: dict[int, int] = {}
        for letter, target in enumerate(row):
            letters[target] = letters.get(target, 0) | 1 << (letter + 1)
        marks = frozenset(number for number, category in enumerate(categories) if category in held)
        states.append(State(name, marks, tuple(Edge(mask, target) for target, mask in letters.items())))
    return print_automaton(
        Hoa(
            machine.alphabet,
            (machine.initial,),
            len(categories),
            (True,),
            tuple(states),
            Reading.CATEGORIES,
            categories,
            tuple(sorted(machine.goal)),
            title,
        )
    )


def print_automaton(automaton: Hoa) -> str:
    """The canonical text; parsing it gives an equal automaton."""
    aliases = _aliases(automaton)
    lines = ["HOA: v1", 'tool: "mopsus"']
    if automaton.name:
        lines.append(f"name: {quote(automaton.name)}")
    lines.append(f"States: {len(automaton.states)}")
    lines += [f"Start: {state}" for state in automaton.initial]
    lines.append(" ".join([f"AP: {len(automaton.propositions)}", *map(quote, automaton.propositions)]))
    if automaton.reading is Reading.FINITE:
        lines.append(f"acc-name: {FINITE}")
    lines.append(f"Acceptance: {automaton.sets} {_print_condition(automaton.condition)}")
    if automaton.categories:
        lines.append(" ".join([CATEGORIES, *map(quote, automaton.categories)]))
    if automaton.goal:
        lines.append(" ".join([GOAL, *map(quote, automaton.goal)]))
    lines.append("properties: explicit-labels trans-labels")
    lines += [f"Alias: {alias} {_cube(letter, len(automaton.propositions))}" for letter, alias in aliases.items()]
    lines.append("--BODY--")
    for number, state in enumerate(automaton.states):
        name = f" {quote(state.name)}" if state.name else ""
        lines.append(f"State: {number}{name}{_print_marks(state.marks)}")
        for edge in state.edges:
            label = "t" if edge.letters == automaton.letters() else _print_label(edge.letters, aliases)
            lines.append(f"  [{label}] {edge.target}{_print_marks(edge.marks)}")
    return "\n".join([*lines, "--END--"]) + "\n"


def quote(text: str) -> str:
    """A text as a string of the format."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _aliases(automaton: Hoa) -> dict[int, str]:
    """An alias for each letter that some label has, by the letter's bit."""
    names = [_NONE, *automaton.propositions]
    if len(set(names)) < len(names) or not all(map(_ALIAS.fullmatch, names)):
        names = [_NONE, *(f"e{number}" for number in range(len(automaton.propositions)))]
    used = 0
    for state in automaton.states:
        for edge in state.edges:
            if edge.letters != automaton.letters():
                used |= edge.letters
    return {bit: f"@{name}" for bit, name in enumerate(names) if used >> bit & 1}


def _cube(letter: int, propositions: int) -> str:
    return "&".join(f"{'' if letter == bit + 1 else '!'}{bit}" for bit in range(propositions)) or "t"


def _print_label(mask: int, aliases: dict[int, str]) -> str:
    return " | ".join(alias for bit, alias in aliases.items() if mask >> bit & 1)


def _print_marks(marks: frozenset[int]) -> str:
    return f" {{{' '.join(map(str, sorted(marks)))}}}" if marks else ""


def _print_condition(condition: Condition) -> str:
    stack: list[str] = []
    for item in condition:
        match item:
            case Op():
                right, left = stack.pop(), stack.pop()
                stack.append(f"({left} {item.value} {right})")
            case Often(infinitely, number, outside):
                stack.append(f"{'Inf' if infinitely else 'Fin'}({'!' if outside else ''}{number})")
            case _:
                stack.append("t" if item else "f")
    return stack[0]
