"""Stage 1: a `.prop` text as a specification, and formulas of `efsm` in normal form."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

from mopsus.model import Event, Parameter, Property, Spec
from mopsus.spec.check import check_spec
from mopsus.spec.cursor import Word
from mopsus.spec.errors import Findings
from mopsus.spec.prop import LOGIC
from mopsus.spec.prop.check import check_automaton, check_places, check_slices
from mopsus.spec.prop.events import make_event, name_events
from mopsus.spec.prop.printer import print_formula
from mopsus.spec.prop.reader import read_formula, read_property
from mopsus.spec.prop.tree import Automaton, Declared
from mopsus.spec.source import Source


def make_spec(automaton: Automaton[Declared], findings: Findings) -> Spec:
    """The specification of a text; what is wrong with it is reported."""
    if not findings.errors:  # what could not be read would be missed
        check_automaton(automaton, findings)
        check_slices(automaton, findings)
        check_places(automaton, findings)
    source = findings.source
    names = name_events(automaton)
    events: dict[str, Event] = {}
    for transition in automaton.transitions():
        declared = transition.event
        span = source.span(declared.start, declared.end)
        name = names[declared]
        events.setdefault(name, make_event(name, declared, automaton.slices, span))
    if not events and not findings.errors:
        hint = "write transition { event f() success state } in a state"
        findings.error_at("SPEC-046", "the property has no event", automaton.start, automaton.start + 1, hint)
    formula, _ = print_formula(automaton, names.__getitem__)
    spec = Spec(
        _identifier(PurePath(source.file).stem),
        tuple(Parameter(str(name), span=source.span(name.start, name.end)) for name in automaton.slices),
        events=tuple(events.values()),
        properties=(Property(LOGIC, LOGIC, formula, span=source.span(automaton.start, automaton.end)),),
        span=source.span(automaton.start, automaton.start + 1),
    )
    if not findings.errors:
        check_spec(spec, findings)
    return spec


@lru_cache(maxsize=4)
def formula_of_file(text: str) -> tuple[str, list[int]]:
    """The formula of a property file, and for each of its characters the offset in `text` that it came from."""
    automaton = read_property(Findings(Source(text, "")))
    return print_formula(automaton, name_events(automaton).__getitem__)


@lru_cache(maxsize=4)
def normalise_states(text: str) -> tuple[str, list[int]]:
    """The same for a formula of a `.mop` text; one that is wrong stays as it is."""
    automaton, right = read_states(text)
    return print_formula(automaton, str) if right else (text, list(range(len(text))))


@lru_cache(maxsize=4)
def read_states(text: str) -> tuple[Automaton[Word], bool]:
    """A formula of a `.mop` text, and whether all of it could be read."""
    findings = Findings(Source(text, ""))
    automaton = read_formula(findings)
    return automaton, not findings.errors


def _identifier(text: str) -> str:
    name = re.sub(r"\W+", "_", text).strip("_") or "property"
    return f"_{name}" if name[0].isdigit() else name
