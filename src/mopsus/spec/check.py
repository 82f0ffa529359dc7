"""Stage 1: what a well-formed text may still have wrong: names that clash, are unknown, or are never used.

Works on the model, so that every surface language is held to the same rules. Faults inside formulas
are found by their logics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from mopsus.model import BindingMode, Event, Modifiers, Property, Span, Spec
from mopsus.spec.check_program import check_program_event
from mopsus.spec.component import check_component_event, is_component
from mopsus.spec.errors import Findings
from mopsus.spec.logics import BUILT_IN, logic_names
from mopsus.spec.names import check_names
from mopsus.spec.pointcuts import conjuncts
from mopsus.spec.program import is_program

FLAGS = ("connected", "suffix", "every", "perthread", "unsynchronized", "decentralized")
MODIFIERS = (*(mode.value for mode in BindingMode), *FLAGS)

MAX_PARAMETERS, MAX_EVENTS = 16, 65_534
"""What the engine has room for."""
MAX_FIELDS = 32
"""No event carries more values beside its parameters."""

Places = Mapping[tuple[str, str], Span]
"""Where an event names a parameter, by event and parameter; for findings more exact than the event's own place."""


def check_spec(spec: Spec, findings: Findings, places: Places | None = None) -> None:
    """Report everything that is wrong with a specification on its own, and what is hardly meant."""
    _check_size(spec, findings)
    _check_names(spec, findings)
    for event in spec.events:
        _check_event(spec, event, findings, places or {})
    for prop in spec.properties:
        _check_handlers(prop, findings)
    check_names(spec, findings)
    _check_use(spec, findings)


def check_unique_specs(specs: Iterable[Spec], findings: Findings) -> None:
    """Report specifications of the same name."""
    _unique("SPEC-030", "spec", ((spec.name, spec.span) for spec in specs), findings)


def check_logic(
    name: str, span: Span | None, logics: Collection[str] | None, findings: Findings, near: Sequence[str] = ()
) -> None:
    """Report a logic that is none of `logics`, or by default none of those installed.

    `near` are words that may have been meant instead. With an empty `logics` any name will do.
    """
    if logics is None:
        if name in BUILT_IN:  # so that the others, which take long to find, need not be
            return
        logics = logic_names()
    if logics and name not in logics:
        findings.unknown("SPEC-042", "logic", name, (*logics, *near), span)


def read_modifiers(words: Iterable[tuple[str, Span | None]], findings: Findings) -> Modifiers:
    """The modifiers that the words before a spec's name stand for."""
    seen: list[str] = []
    binding: BindingMode | None = None
    for word, span in words:
        if word not in MODIFIERS:
            findings.unknown("SPEC-041", "modifier", word, MODIFIERS, span)
        elif word in seen:
            findings.warning("SPEC-062", f"modifier '{word}' is repeated", span, "remove one of them")
        elif word not in FLAGS and binding is not None:
            message = f"'{word}' contradicts '{binding.value}'"
            findings.error("SPEC-040", message, span, "keep one of the three binding modes")
        elif word not in FLAGS:
            binding = BindingMode(word)
        seen.append(word)
    return Modifiers(binding or BindingMode.ANY, *(flag in seen for flag in FLAGS))


def _check_size(spec: Spec, findings: Findings) -> None:
    if len(spec.parameters) > MAX_PARAMETERS:
        hint = "give values that only formulas read as fields, after a semicolon: event name(parameters; fields)"
        message = f"spec '{spec.name}' has more than {MAX_PARAMETERS} parameters"
        findings.error("SPEC-058", message, spec.parameters[MAX_PARAMETERS].span, hint)
    if len(spec.events) > MAX_EVENTS:
        message = f"spec '{spec.name}' has more than {MAX_EVENTS:,} events"
        findings.error("SPEC-058", message, spec.events[MAX_EVENTS].span, "split it into several specs")


def _check_names(spec: Spec, findings: Findings) -> None:
    _unique("SPEC-031", "parameter", ((p.name, p.span) for p in spec.parameters), findings)
    _unique("SPEC-032", "event", ((event.name, event.span) for event in spec.events), findings)
    _unique("SPEC-033", "variable", ((v.name, v.span) for v in spec.variables), findings)
    parameters = {parameter.name for parameter in spec.parameters}
    for variable in spec.variables:
        if variable.name in parameters:
            message = f"variable '{variable.name}' has the name of a parameter"
            findings.error("SPEC-044", message, variable.span, "rename the variable")
    declared = [(p.name, p.span) for p in spec.parameters] + [(v.name, v.span) for v in spec.variables]
    for name, span in declared:
        if name.startswith("__"):
            hint = "choose a name without two leading underscores"
            findings.error("SPEC-045", f"'{name}' is kept for the language", span, hint)


def _check_event(spec: Spec, event: Event, findings: Findings, places: Places) -> None:
    known = [parameter.name for parameter in spec.parameters]
    for number, name in enumerate(event.parameters):
        span = places.get((event.name, name), event.span)
        if name not in known:
            findings.unknown("SPEC-036", "parameter", name, known, span)
        elif name in event.parameters[:number]:
            findings.error("SPEC-037", f"event '{event.name}' binds '{name}' twice", span, "name it once")
    if len(event.fields) > MAX_FIELDS:
        hint = "put several values into one: a tuple or a mapping"
        findings.error("SPEC-059", f"event '{event.name}' has more than {MAX_FIELDS} fields", event.span, hint)
    for number, name in enumerate(event.fields):
        span = places.get((event.name, name), event.span)
        if name in known:
            hint = f"write it before the semicolon, or rename it: '{name}' of other events is not this one"
            findings.error("SPEC-055", f"field '{name}' has the name of a parameter", span, hint)
        elif name in event.fields[:number]:
            findings.error("SPEC-037", f"event '{event.name}' has the field '{name}' twice", span, "name it once")
    for part in conjuncts(event.pointcut):
        for name, _ in part.argument or () if part.kind == "bind" else ():
            if name not in (*event.parameters, *event.fields):
                hint = f"bind what the event names: event {event.name}({', '.join((*event.parameters, name))})"
                findings.error("SPEC-038", f"'{name}' is no parameter of event '{event.name}'", part.span, hint)
    if is_component(event.pointcut):
        check_component_event(event, findings)
    elif is_program(event.pointcut):
        check_program_event(spec, event, findings)


def _check_handlers(prop: Property, findings: Findings) -> None:
    _unique("SPEC-034", "handler", ((handler.category, handler.span) for handler in prop.handlers), findings)


def _check_use(spec: Spec, findings: Findings) -> None:
    if not spec.events:
        findings.error("SPEC-046", f"spec '{spec.name}' declares no event", spec.span, "write 'event name(parameters)'")
        return
    bound = {name for event in spec.events for name in event.parameters}
    for parameter in spec.parameters:
        if parameter.name not in bound:
            message = f"no event binds parameter '{parameter.name}'"
            findings.warning("SPEC-060", message, parameter.span, "name it in an event, or remove it")
    if not spec.properties and not any(event.action for event in spec.events):
        message = f"spec '{spec.name}' has neither a property nor an action"
        findings.warning("SPEC-061", message, spec.span, "add a property such as 'ere : …', or an action { … }")
    modifiers = spec.modifiers
    if not spec.parameters and (modifiers.connected or modifiers.binding is not BindingMode.ANY):
        message = f"spec '{spec.name}' has no parameters to bind or connect"
        findings.warning("SPEC-063", message, spec.span, "remove the modifier, or name parameters")


def _unique(code: str, what: str, named: Iterable[tuple[str, Span | None]], findings: Findings) -> None:
    first: dict[str, Span | None] = {}
    for name, span in named:
        if name in first:
            before = first[name]
            where = f"the first is in line {before.line}; " if before else ""
            findings.error(code, f"{what} '{name}' is declared twice", span, f"{where}rename or remove one of them")
        first.setdefault(name, span)
