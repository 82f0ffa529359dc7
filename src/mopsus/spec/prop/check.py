"""Stage 1: what a well-formed property may still have wrong: no `init`, a state twice, states that are not there."""

from __future__ import annotations

import ast

from mopsus.model import Place
from mopsus.model.guarded import INITIAL
from mopsus.spec import pytext
from mopsus.spec.cursor import Block, Word
from mopsus.spec.errors import Findings
from mopsus.spec.prop.python import parse_body, returns
from mopsus.spec.prop.tree import Automaton, Declared, EventT


def check_automaton(automaton: Automaton[EventT], findings: Findings) -> None:
    """Report what is wrong with the states of a property."""
    known: dict[str, Word] = {}
    for state in automaton.states:
        if state.name in known:
            line = findings.source.span(known[state.name].start, known[state.name].end).line
            hint = f"the first is in line {line}; put all transitions there"
            _error(findings, "SPEC-081", f"state '{state.name}' is declared twice", state.name, hint)
        known.setdefault(state.name, state.name)
    if INITIAL not in known:
        first = automaton.states[0].name if automaton.states else None
        hint = f"a property begins in state '{INITIAL}': write state {INITIAL} accepting {{ … }}"
        place = (first.start, first.end) if first is not None else (automaton.end, automaton.end + 1)
        findings.error_at("SPEC-080", f"there is no state '{INITIAL}'", *place, hint)
    if automaton.initialization is not None:
        check_no_return(automaton.initialization, findings)
    for state in automaton.states:
        if state.imported is not None:
            _check_state(state.imported, known, findings)
        for transition in state.transitions:
            for _, end in transition.ends():
                if end.target is not None:
                    _check_state(end.target, known, findings)
                if end.block is not None:
                    _check_returns(end.block, known, findings)


def check_code(block: Block, findings: Findings) -> None:
    """Report a block that is not valid Python."""
    if problem := pytext.problem_in_body(block.text):
        line = min(max(problem.line, 1), len(block.starts))
        at = min(max(block.starts[line - 1] + problem.column - 1, block.start), block.end)
        findings.error_at("SPEC-006", f"not valid Python: {problem.message}", at, at + 1)


def check_no_return(block: Block, findings: Findings) -> None:
    """Report a block that returns something where nobody would take it."""
    for statement in returns(parse_body(block.text)):
        hint = "only guards and ends of transitions return something"
        findings.error_at("SPEC-006", "'return' has no meaning here", *place_in(block, statement), hint)


def check_slices(automaton: Automaton[Declared], findings: Findings) -> None:
    """Report parameters of `slice on` that are there twice, or that no event has a value for."""
    bound = {str(value.name) for transition in automaton.transitions() for value in transition.event.values}
    for number, name in enumerate(automaton.slices):
        if name in automaton.slices[:number]:
            _error(findings, "SPEC-031", f"parameter '{name}' is declared twice", name, "remove one of them")
        elif name not in bound:
            findings.unknown("SPEC-084", "parameter", name, bound, findings.source.span(name.start, name.end))


def check_places(automaton: Automaton[Declared], findings: Findings) -> None:
    """Tell of declarations that differ in their values only: what happens there is several events, one by one."""
    first: dict[Place, Declared] = {}
    told: set[Declared] = set()
    for transition in automaton.transitions():
        event = transition.event
        other = first.setdefault(event.place, event)
        if other.meaning != event.meaning and event not in told:
            told.add(event)
            line = findings.source.span(other.start, other.end).line
            message = f"this event has other values than that in line {line}, so that both happen, one after the other"
            span = findings.source.span(event.start, event.end)
            findings.warning("SPEC-064", message, span, "list the same values, to make one event of them")


def place_in(block: Block, node: ast.AST) -> tuple[int, int]:
    """Where a node of a block's tree begins and ends in the source."""
    lines = block.text.split("\n")

    def place(line: int, column: int) -> int:
        # Columns of a tree are counted in bytes.
        return block.starts[line - 1] + len(lines[line - 1].encode()[:column].decode("utf-8", "ignore"))

    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    start = place(line, column)
    end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
    return start, max(start + 1, place(end_line, end_column)) if end_line == line else start + 1


def _check_returns(block: Block, known: dict[str, Word], findings: Findings) -> None:
    """A block that returns a text names the state that it leads to."""
    for statement in returns(parse_body(block.text)):
        if isinstance(statement.value, ast.Constant) and statement.value.value is not None:
            name = statement.value.value
            if name not in known:
                span = findings.source.span(*place_in(block, statement.value))
                findings.unknown("SPEC-082", "state", str(name), known, span)


def _check_state(name: Word, known: dict[str, Word], findings: Findings) -> None:
    if name not in known:
        findings.unknown("SPEC-082", "state", name, known, findings.source.span(name.start, name.end))


def _error(findings: Findings, code: str, message: str, word: Word, hint: str) -> None:
    findings.error_at(code, message, word.start, word.end, hint)
