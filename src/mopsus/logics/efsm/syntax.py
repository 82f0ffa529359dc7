"""Stage 2: the text of a machine with guards: parsed, checked and printed. Its grammar is that of property files."""

from __future__ import annotations

from mopsus.logics.logic import FormulaError
from mopsus.logics.tree import unknown_event
from mopsus.model import Acceptance
from mopsus.spec.cursor import Word
from mopsus.spec.errors import Findings
from mopsus.spec.prop.check import check_automaton
from mopsus.spec.prop.printer import print_formula
from mopsus.spec.prop.reader import read_formula
from mopsus.spec.prop.tree import Automaton
from mopsus.spec.source import Source

Efsm = Automaton[Word]


def parse_automaton(text: str, alphabet: tuple[str, ...]) -> Efsm:
    """The machine that `text` describes over the events of `alphabet`, or `FormulaError`."""
    automaton = _read(text)
    for transition in automaton.transitions():
        if transition.event not in alphabet:
            raise unknown_event(transition.event, transition.event.start, alphabet)
    return automaton


def alphabet_of(text: str) -> tuple[str, ...]:
    """The events of a formula on its own, in the order of writing."""
    return tuple(dict.fromkeys(str(transition.event) for transition in _read(text).transitions()))


def _read(text: str) -> Efsm:
    findings = Findings(Source(text, "<formula>"))
    automaton = read_formula(findings)
    if not findings.errors:
        check_automaton(automaton, findings)
    for found in findings.errors:
        assert found.span is not None
        offset = findings.source.offset(found.span.line, found.span.column)
        end = findings.source.offset(found.span.end_line, found.span.end_column)
        raise FormulaError(found.message, offset=offset, length=max(1, end - offset), hint=found.hint, code=found.code)
    return automaton


def print_automaton(automaton: Efsm) -> str:
    """The canonical text."""
    return print_formula(automaton, str)[0]


def categories_of(automaton: Efsm) -> frozenset[str]:
    """The names of all states."""
    return frozenset(str(state.name) for state in automaton.states)


def acceptable(automaton: Efsm) -> frozenset[str]:
    """The states that are no bad news: all but the non-accepting ones."""
    return frozenset(str(state.name) for state in automaton.states if state.acceptance is not Acceptance.NON_ACCEPTING)


def events_of(automaton: Efsm) -> frozenset[str]:
    """The events with a transition."""
    return frozenset(str(transition.event) for transition in automaton.transitions())
