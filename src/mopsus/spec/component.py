"""Stage 1: pointcut primitives for components: what a component does, with patterns for what is sent or run.

`fork(p, c, f)`, `init(p, q, f)`, `exit(p, reason)`, `send(p, q, m)` and `recv(p, m)` name what happens; the first
argument is the component that does it. `runs(module.function)` restricts to components that run such a function. A
name in a pattern is a parameter or field of the event, and what stands for it is its value.

`exit` of one argument is the end of a `with` block of Python, as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mopsus.model import Event, Pointcut, Spec
from mopsus.spec import program
from mopsus.spec.errors import Findings
from mopsus.spec.hml.events import COMPONENT, FIELDS
from mopsus.spec.pointcuts import PRIMITIVES, Primitive, register

if TYPE_CHECKING:
    from mopsus.model.symbolic import Pattern

ARGUMENTS = {
    "fork": ("p", "c", "f"),
    "init": ("p", "q", "f"),
    "exit": ("p", "reason"),
    "send": ("p", "q", "m"),
    "recv": ("p", "m"),
}
"""What each takes, by names for the hint."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What a component does. The patterns are of its values: for a fork or init the two components, the function as
    `module.function` and the list of its arguments; else what is written. Slots are numbers of names."""

    kind: str
    patterns: tuple[Pattern, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a pointcut: what is done, and the functions that its component must run, or must not."""

    doing: Doing
    span: Any
    runs: tuple[tuple[tuple[str, ...], bool], ...]
    """Globs, any of which must match, or none if False."""


def is_component(pointcut: Pointcut | None) -> bool:
    """Does the pointcut speak of components?"""
    if pointcut is None:
        return False
    return isinstance(pointcut.argument, Doing) or pointcut.kind == "runs" or any(map(is_component, pointcut.operands))


def is_hml(spec: Spec) -> bool:
    """Does the spec have the events that specs of `.hml` files have?"""
    fields = {event.name: event.fields for event in spec.events if event.parameters == (COMPONENT,)}
    return all(fields.get(name) == wanted for name, wanted in FIELDS.items())


def about_components(spec: Spec) -> bool:
    """Does any event of the spec happen in components?"""
    return is_hml(spec) or any(is_component(event.pointcut) for event in spec.events)


def cases(pointcut: Pointcut) -> Iterator[Case]:
    """The cases of a pointcut that was found right, any of which may hold."""
    for literals in program.cases(pointcut, True):
        doing = next(part for part, _ in literals if isinstance(part.argument, Doing))
        runs = tuple((part.argument, wanted) for part, wanted in literals if part.kind == "runs")
        yield Case(doing.argument, doing.span, runs)


# ---- checks


def check_component_event(event: Event, findings: Findings) -> None:
    """Report what is wrong with an event that is tied to what components do."""
    assert event.pointcut is not None
    if event.advice is not None:
        hint = f"write 'event {event.name}(…) : …' without '{event.advice}'"
        findings.error("SPEC-056", "what a component does has no before and after", event.span, hint)
        return
    try:
        found = program.cases(event.pointcut, True)
    except program.TooManyBranchesError:
        message = f"this pointcut falls into more than {program.MAX_BRANCHES} cases"
        findings.error("SPEC-054", message, event.pointcut.span, "write fewer alternatives, or several events")
        return
    for literals in found:
        if any(part.argument is None for part, _ in literals) or not _check_case(event, literals, findings):
            return


def _check_case(event: Event, literals: program.Literals, findings: Findings) -> bool:
    for part, wanted in literals:
        if not isinstance(part.argument, Doing) and part.kind != "runs":
            hint = "make two events of it"
            findings.error("SPEC-048", f"'{part.kind}' is not about components, the rest is", part.span, hint)
            return False
        if isinstance(part.argument, Doing) and not wanted:
            hint = "name what is done instead, or write !runs(…)"
            findings.error("SPEC-057", "that something is not done is no event", part.span, hint)
            return False
    doings = [part for part, _ in literals if isinstance(part.argument, Doing)]
    if len(doings) != 1:
        message = f"nothing is both '{doings[0].kind}' and '{doings[1].kind}'" if doings else "nothing is done here"
        hint = "join them with '||', or make two events of them" if doings else "add what is done, such as recv(p, m)"
        findings.error("SPEC-057", message, doings[1].span if doings else literals[0][0].span, hint)
        return False
    return _check_names(event, doings[0], findings)


def _check_names(event: Event, doing: Pointcut, findings: Findings) -> bool:
    declared = (*event.parameters, *event.fields)
    for name in doing.argument.names:
        if name not in declared:
            findings.unknown("SPEC-052", "parameter or field", name, declared, doing.span)
            return False
    for name in declared:
        if name not in doing.argument.names:
            hint = f"name it in '{doing.kind}', or take it out of the event"
            findings.error("SPEC-051", f"nothing gives '{name}' a value", doing.span, hint)
            return False
    return True


# ---- primitives


def _parse(kind: str, text: str) -> tuple[Doing, str]:
    from mopsus.spec.component_text import parse_doing  # for those who need it

    return parse_doing(kind, text)


def _register_all() -> None:
    for kind in ("fork", "init", "send", "recv"):
        register(Primitive(kind, lambda text, kind=kind: _parse(kind, text)))  # type: ignore[misc]  # its default
    leaving = PRIMITIVES["exit"]  # of a `with` block, which takes one argument

    def parse_exit(text: str) -> tuple[Any, str]:
        return _parse("exit", text) if "," in text else leaving.parse(text)

    PRIMITIVES["exit"] = replace(leaving, parse=parse_exit)
    register(Primitive("runs", program.parse_globs))


_register_all()
