"""Stage 5: how a verdict came about, for people: its events in order, the machine's states, the way out.

An explanation says only what is certain. A witness is the end of a slice, so when its beginning
may be missing, a state is named only if every possible beginning leads to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mopsus.logics import Turn
from mopsus.model import Machine, Severity, Spec, TableMachine, Verdict, WitnessEvent
from mopsus.model.limits import HISTORY
from mopsus.model.text import default_message, listing, printable, show_binding, show_place, show_time, source_of
from mopsus.spec.program import is_end
from mopsus.verdict.code import code_of
from mopsus.verdict.reasons import reasoned_events
from mopsus.verdict.turns import explains_itself, show_turn, turns_of

REASON_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Step:
    """An event of the witness and, if known, the name of the machine state it led to, which parts of the formula
    have another value since, the line of code it came from, and what a formula with data made of it."""

    event: WitnessEvent
    state: str | None = None
    turns: tuple[Turn, ...] = ()
    code: str = ""
    reasons: tuple[str, ...] = ()

    def said(self) -> list[str]:
        """What there is to say about the formula at this event, a line each."""
        return [printable(line, REASON_LIMIT) for line in (*map(show_turn, self.turns), *self.reasons)]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict, told: one line, the steps that led to it, and remarks in whole sentences."""

    message: str
    steps: tuple[Step, ...] = ()
    source: str = ""
    """The trace that the message names, if all steps are in it, so that they need not name it again."""
    remarks: tuple[str, ...] = ()
    code: str = ""
    """The line of code that gave the verdict, if there are no steps to show it."""


def explain(
    verdict: Verdict, machine: Machine | None = None, history: int = HISTORY, spec: Spec | None = None
) -> Explanation:
    """Explain a verdict, with states and alternatives if the property's machine is given.

    `history` is the monitor's limit on witnesses: one that long may lack its beginning. With the `spec`, the steps
    also say which parts of the formula became true or false, if its logic can tell and the witness is complete.
    """
    if verdict.steps:
        return _reasoned(verdict, history, spec)
    message, witness = default_message(verdict), verdict.witness
    source = source_of(verdict)
    if any(source_of(item) != source for item in witness):
        source = ""
    remarks = list(verdict.remarks)
    truncated = len(witness) >= history
    if witness and truncated:
        unknown = ", too few to say which parts of the formula turned" if explains_itself(spec, verdict) else ""
        remarks.append(f"Only the last {len(witness)} events are known{unknown}.")
    turns = witness_turns(verdict, machine, history, spec) or {}
    finite = machine if isinstance(machine, TableMachine) else None
    layers = _possible_states(finite, witness, verdict.category, truncated) if finite else []
    if finite is None or not layers:
        steps = tuple(Step(item, None, turns.get(at, ()), code_of(item)) for at, item in enumerate(witness))
        return Explanation(message, steps, source, tuple(remarks), "" if steps else code_of(verdict))
    steps = tuple(
        Step(item, finite.names[min(states)] if len(states) == 1 else None, turns.get(at, ()), code_of(item))
        for at, (item, states) in enumerate(zip(witness, layers[1:], strict=True))
    )
    if verdict.severity is not Severity.NOTE and len(layers[-2]) == 1:
        ends = [event.name for event in spec.events if is_end(event.pointcut)] if spec is not None else []
        known = len(witness) > 1  # or it may be the first event of its slice
        remarks += _alternatives(finite, min(layers[-2]), witness[-1].event, verdict.category, ends, known=known)
    return Explanation(message, steps, source, tuple(remarks))


def _reasoned(verdict: Verdict, history: int, spec: Spec | None) -> Explanation:
    """The explanation of a verdict that knows its own steps: the first event and the last ones."""
    events = reasoned_events(verdict, spec)
    remarks = list(verdict.remarks)
    most = max(history, 2)
    if len(events) > most:
        remarks.append(f"After the first event, {len(events) - most:,} are left out.")
        events = [events[0], *events[1 - most :]]
    source = source_of(verdict)
    if any(source_of(item) != source for item, _ in events):
        source = ""
    steps = tuple(Step(item, code=code_of(item), reasons=reasons) for item, reasons in events)
    return Explanation(default_message(verdict), steps, source, tuple(remarks))


def witness_turns(
    verdict: Verdict, machine: Machine | None, history: int, spec: Spec | None
) -> Mapping[int, tuple[Turn, ...]] | None:
    """The turns at each event of the witness by its position; None if they cannot be told.

    They cannot if the witness may lack its beginning, for its length or because the instance was reset.
    """
    if spec is None or not verdict.witness or len(verdict.witness) >= history:
        return None
    if isinstance(machine, TableMachine):
        letters = {name: letter for letter, name in enumerate(machine.alphabet)}
        word = [letters[item.event] for item in verdict.witness if item.event in letters]
        if not _runs(machine, word, {machine.initial}, verdict.category):
            return None
    return turns_of(spec, verdict)


def plain_text(explanation: Explanation) -> str:
    """An explanation as lines of plain text: the message, a numbered line per event, the remarks."""
    lines = [explanation.message, *([f"    | {explanation.code}"] if explanation.code else ())]
    for number, step in enumerate(explanation.steps, 1):
        item = step.event
        when = show_time(item.time)
        parts = [
            f"{number:>4}. {printable(item.event)}({show_binding(item.binding)})",
            f"at {place}" if (place := show_place(item, explanation.source)) else "",
            f"time {when}" if when else "",
            f"-> {printable(step.state)}" if step.state is not None else "",
        ]
        lines.append("  ".join(part for part in parts if part))
        if step.code:
            lines.append(f"        | {step.code}")
        lines += [f"        {line}" for line in step.said()]
    return "\n".join([*lines, *explanation.remarks])


def _possible_states(
    machine: TableMachine, witness: Sequence[WitnessEvent], category: str, truncated: bool
) -> list[set[int]]:
    """The states possible before the witness and after each of its events; empty if none fit.

    They fit if they start at the initial state (anywhere, if the beginning may be missing or a
    reset came between) and end in a state of the verdict's category.
    """
    letters = {name: letter for letter, name in enumerate(machine.alphabet)}
    if not witness or any(item.event not in letters for item in witness):
        return []
    word = [letters[item.event] for item in witness]
    anywhere = set(range(len(machine.table)))
    if truncated:
        return _runs(machine, word, anywhere, category)
    return _runs(machine, word, {machine.initial}, category) or _runs(machine, word, anywhere, category)


def _runs(machine: TableMachine, word: Sequence[int], start: set[int], category: str) -> list[set[int]]:
    layers = [start]
    for letter in word:
        layers.append({machine.table[state][letter] for state in layers[-1]})
    layers[-1] = {state for state in layers[-1] if category in machine.categories[state]}
    for at in range(len(word) - 1, -1, -1):
        layers[at] = {state for state in layers[at] if machine.table[state][word[at]] in layers[at + 1]}
    return layers if layers[0] else []


def _alternatives(
    machine: TableMachine, state: int, event: str, category: str, ends: Collection[str], *, known: bool
) -> list[str]:
    """What could have come before the last event, so that it would not have given the category.

    That something else might have come instead is no advice: not to use a closed file avoids everything. Nor is it one
    that a program might have ended, or that something might have come for which a pattern has no room. `known`: there
    was an event before the last one.
    """
    reached = printable(category)
    if category in machine.categories[state] and (known or state != machine.initial):
        return [f"Already `{reached}` before this `{printable(event)}`."]
    if len(machine.alphabet) == 1:
        return []  # nothing else could have come
    others = [
        name
        for letter, name in enumerate(machine.alphabet)
        if category not in machine.categories[machine.table[state][letter]]
    ]
    where = f"In state `{printable(machine.names[state])}`"
    if not others:
        return [f"{where} every event gives `{reached}`."]
    last = machine.alphabet.index(event)
    avoiding = []
    for letter, name in enumerate(machine.alphabet):
        after = machine.table[state][letter]
        helps = name in others and category not in machine.categories[machine.table[after][last]]
        if helps and name not in ends and (machine.truth or _can_reach(machine, after, category)):
            avoiding.append(name)
    if avoiding:
        return [f"{where}, {listing(avoiding)} would have avoided `{reached}`."]
    if len(others) == len(machine.alphabet) - 1 and len(others) > 1:
        return [f"{where} only `{printable(event)}` gives `{reached}`."]
    return []


def _can_reach(machine: TableMachine, state: int, category: str) -> bool:
    seen, ahead = {state}, [state]
    while ahead:
        here = ahead.pop()
        if category in machine.categories[here]:
            return True
        new = {*machine.table[here]} - seen
        seen |= new
        ahead += new
    return False
