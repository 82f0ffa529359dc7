"""Stage 1: what a pointcut for programs may still have wrong: no place to start from, values from nowhere or twice."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from mopsus.model import Event, Pointcut, Spec
from mopsus.spec import program
from mopsus.spec.errors import Findings
from mopsus.spec.pointcuts import PRIMITIVES
from mopsus.spec.program import Branch

_MOMENTS = frozenset({"line", "update", "signal", "throw", "catch"})
"""What a debugger sees at one moment only."""
_BIND_HINT = "bind it by target(…), args(…), or what names it: next(i), returning(x), raising(e), thread(t)"


def check_program_event(spec: Spec, event: Event, findings: Findings) -> None:
    """Report what is wrong with an event that is tied to points of a program."""
    assert event.pointcut is not None
    if any(map(_broken, _primitives(event.pointcut))):
        return  # that was reported where it stands
    if foreign := next((part for part in _primitives(event.pointcut) if part.kind not in program.PROGRAM), None):
        hint = "make two events of it, one for programs and one for traces"
        findings.error("SPEC-048", f"'{foreign.kind}' is for traces, the rest for programs", foreign.span, hint)
        return
    try:
        cases = program.branches(event.pointcut)
    except program.TooManyBranchesError:
        message = f"this pointcut falls into more than {program.MAX_BRANCHES} cases"
        findings.error("SPEC-054", message, event.pointcut.span, "write fewer alternatives, or several events")
        return
    _check_names(spec, event, findings)
    before = len(findings.errors)
    for case in cases:
        if _check_points(event, case, findings):
            _check_moment(event, case, findings)
            _check_bound(spec, event, case, findings)
        if len(findings.errors) > before:
            return  # the other cases share most of it


def bound_names(spec: Spec, event: Event, case: Branch) -> Iterator[tuple[str, Pointcut]]:
    """The parameters that the primitives of a case bind, with the primitive that does."""
    positive = [part for part, wanted in case.others if wanted]
    for part in (*case.points, *positive):
        if part.kind == "args":
            yield from ((name, part) for name in part.argument.bound())
        elif part.kind == "value":
            yield from ((name, part) for name, _ in part.argument)
        elif (name := program.subject(part)) is not None and (_is_parameter(spec, name) or name in event.fields):
            yield name, part


def _is_parameter(spec: Spec, name: str) -> bool:
    return any(parameter.name == name for parameter in spec.parameters)


def _primitives(pointcut: Pointcut) -> Iterator[Pointcut]:
    if pointcut.operands:
        for operand in pointcut.operands:
            yield from _primitives(operand)
    else:
        yield pointcut


def _broken(primitive: Pointcut) -> bool:
    return primitive.kind not in PRIMITIVES or primitive.argument is None


def _check_names(spec: Spec, event: Event, findings: Findings) -> None:
    """A plain name in `target(…)` and the like is a parameter, or else must look like a class."""
    for part in _primitives(event.pointcut) if event.pointcut else ():
        for name in filter(None, _named(part)):
            if name in event.names:
                continue
            if _is_parameter(spec, name):
                listed = ", ".join((*event.parameters, name))
                message = f"event '{event.name}' does not list parameter '{name}'"
                findings.error("SPEC-052", message, part.span, f"write {event.advice or 'before'}({listed})")
            elif part.kind in ("args", "value") or not _looks_like_class(name):
                findings.unknown("SPEC-052", "parameter", name, event.names, part.span)


def _named(part: Pointcut) -> tuple[str | None, ...]:
    """The plain names in a primitive that may be those of parameters."""
    match part.kind:
        case "args":
            return tuple(part.argument.bound())
        case "value":
            return tuple(name for name, _ in part.argument)
    return (program.subject(part),)


def _looks_like_class(name: str) -> bool:
    return name[:1].isupper() or name.lstrip("_")[:1].isupper() or isinstance(getattr(builtins, name, None), type)


def _check_points(event: Event, case: Branch, findings: Findings) -> bool:
    if not case.points:
        span = case.others[0][0].span if case.others else case.without[0].span if case.without else event.span
        hint = "add what happens, such as call(Class.method) or next(i)"
        findings.error("SPEC-050", "this case names no point of a program", span, hint)
        return False
    for other in case.points[1:]:
        if other.kind != case.kind or case.kind not in program.CALLS | program.ATTRIBUTES | {"new"}:
            message = f"nothing is both '{case.kind}' and '{other.kind}' at once"
            findings.error("SPEC-050", message, other.span, "join them with '||', or make two events of them")
            return False
    return True


def _check_moment(event: Event, case: Branch, findings: Findings) -> None:
    point = case.points[0]
    if event.advice is None and case.kind not in program.LIFES | _MOMENTS:
        listed = ", ".join(event.parameters)
        message = f"event '{event.name}' does not say when: before, after or around"
        findings.error("SPEC-049", message, event.span, f"write 'event {event.name} before({listed}) : …'")
    elif case.kind in program.LIFES and (_has_result(event) or event.advice == "around"):
        word = "around" if event.advice == "around" else "raising" if event.returning is None else "returning"
        hint = f"write 'event {event.name} after(…) : {case.kind}(…)'"
        findings.error("SPEC-053", f"'{word}' makes no sense with '{case.kind}'", point.span, hint)
    elif case.kind in ("raising", "handling") and _has_result(event):
        hint = f"bind the exception by {case.kind}(e)"
        findings.error("SPEC-053", f"'{case.kind}' has no result of its own", point.span, hint)


def _has_result(event: Event) -> bool:
    return event.returning is not None or event.raising is not None


def _check_bound(spec: Spec, event: Event, case: Branch, findings: Findings) -> None:
    bound: dict[str, Pointcut | None] = {}
    if result := event.returning or event.raising:
        bound[result] = None
    for name, part in bound_names(spec, event, case):
        if name in bound:
            findings.error("SPEC-051", f"'{name}' is bound twice", part.span, "bind each parameter once")
        bound[name] = part
    for name in event.names:
        if name not in bound:
            findings.error("SPEC-051", f"nothing gives '{name}' a value", case.points[0].span, _BIND_HINT)
