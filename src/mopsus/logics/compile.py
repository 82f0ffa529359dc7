"""Stage 2: a spec's properties made into machines, with what is wrong or odd about them.

Here formulas meet the spec they stand in: which categories are handled, how serious they
are, which handlers may reset the machine, and where in the file a fault is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mopsus.logics.include import is_file_name, read_formula
from mopsus.logics.logic import FormulaError, Logic, LogicError, Request
from mopsus.logics.place import Places
from mopsus.logics.registry import load_logic
from mopsus.logics.reset import may_reset
from mopsus.logics.text import suggestion
from mopsus.model import Diagnostic, Event, Handler, Machine, Modifiers, Property, Severity, Span, Spec
from mopsus.spec.source import Source


@dataclass(frozen=True, slots=True)
class CompiledSpec:
    """A spec with a machine for each of its properties, in order."""

    spec: Spec
    machines: tuple[Machine, ...]
    severities: Mapping[tuple[str, str], Severity]
    """By property name and category, for every category that can be reported."""
    warnings: tuple[Diagnostic, ...] = ()


def compile_spec(
    spec: Spec,
    source: Source | None = None,
    *,
    at_end: bool = False,
    allow_unmonitorable: bool = False,
    first_match: bool = False,
) -> CompiledSpec:
    """Machines for all properties of `spec`.

    `source` is the text that it was read from, to place findings; without it, its file is read again.
    With `at_end` the machines say what to presume of traces that end undecided. A formula that no trace can
    ever decide is a fault unless `allow_unmonitorable`. With `first_match`, conjunctions of `shml` are read as lists of
    clauses of which the first that fits is taken. `LogicError` with a diagnostic for every fault found, in
    all properties.
    """
    places = Places(source)
    asked = _Asked(at_end, allow_unmonitorable, first_match)
    compiled: list[_Compiled] = []
    faults: list[LogicError] = []
    for prop in spec.properties:
        try:
            compiled.append(_compile(spec, prop, places, asked))
        except LogicError as error:
            faults.append(error)
    if faults:
        first = faults[0]
        raise LogicError(
            first.message,
            hint=first.hint,
            code=first.code,
            diagnostics=tuple(diagnostic for fault in faults for diagnostic in fault.diagnostics),
        )
    return CompiledSpec(
        spec,
        tuple(each.machine for each in compiled),
        {
            (each.property.name, category): _severity(
                spec, each.property, each.logic.severity(category, each.formula), category
            )
            for each in compiled
            for category in sorted(each.machine.goal)
        },
        (
            *_unused_events(spec, compiled, places),
            *(warning for each in compiled for warning in _unreachable(each, places)),
            *(warning for each in compiled for warning in _remarks(each, places)),
        ),
    )


def compile_property(
    spec: Spec, prop: Property, source: Source | None = None, *, allow_unmonitorable: bool = False
) -> Machine:
    """The machine of one property of `spec`; `LogicError` with located diagnostics if it is wrong."""
    return _compile(spec, prop, Places(source), _Asked(False, allow_unmonitorable)).machine


def compile_formula(
    logic: str,
    text: str,
    events: Sequence[str] | None,
    *,
    goal: Sequence[str] = (),
    suffix: bool = False,
    at_end: bool = False,
    allow_unmonitorable: bool = False,
    file: str = "<formula>",
) -> CompiledSpec:
    """A formula on its own, over these events: a spec without parameters that has it as its one property.

    `events` None are those that the formula itself is over, in logics whose formulas say so. `goal` are the categories
    to report, by default those that the logic reports in a spec without handlers. In messages the text is called
    `file`. `LogicError` with located diagnostics if the formula is wrong.
    """
    spec = _spec_of(logic, text, _events_of(logic, text, file) if events is None else events, goal, suffix)
    prop = spec.properties[0]
    places = Places(None)
    compiled = _compile(spec, prop, places, _Asked(at_end, allow_unmonitorable), Source(text, file))
    severities = {
        (prop.name, category): _severity(spec, prop, compiled.logic.severity(category, compiled.formula), category)
        for category in compiled.machine.goal
    }
    warnings = (*_unreachable(compiled, places), *_remarks(compiled, places))
    return CompiledSpec(spec, (compiled.machine,), severities, warnings)


def formula_categories(logic: str, text: str, events: Sequence[str], *, file: str = "<formula>") -> frozenset[str]:
    """The categories that a formula on its own can have; `LogicError` as for `compile_formula`."""
    spec = _spec_of(logic, text, events)
    plugin, formula, _ = _parse(spec, spec.properties[0], Places(None), Source(text, file))
    return plugin.categories(formula)


def property_categories(spec: Spec, prop: Property, source: Source | None = None) -> frozenset[str]:
    """The categories that handlers of a property may name; `LogicError` with located diagnostics if it is wrong."""
    plugin, formula, _ = _parse(spec, prop, Places(source), None)
    categories = plugin.categories(formula)
    return categories & {"match"} if spec.modifiers.suffix else categories


def mentioned_events(spec: Spec) -> frozenset[str]:
    """The events that some formula of a spec speaks of; `LogicError` if one cannot be read."""
    parsed = [_parse(spec, prop, Places(None), None) for prop in spec.properties]
    return frozenset[str]().union(*(logic.events(formula) for logic, formula, _ in parsed))


def _events_of(logic: str, text: str, file: str) -> tuple[str, ...]:
    """The events that a formula is over by itself."""
    alphabet = load_logic(logic).alphabet
    if alphabet is None:
        raise LogicError(f"a formula of '{logic}' does not say which events there are", code="LOGIC-019")
    try:
        return alphabet(text)
    except LogicError as error:
        raise _placed(error, Property(logic, logic, text), Source(text, file), Places(None)) from error


def _spec_of(logic: str, text: str, events: Sequence[str], goal: Sequence[str] = (), suffix: bool = False) -> Spec:
    """A spec without parameters whose one property is the formula."""
    load_logic(logic)  # that there is none is not the formula's fault
    return Spec(
        logic,
        events=tuple(Event(name) for name in dict.fromkeys(events)),
        properties=(
            Property(logic, logic, text, handlers=tuple(Handler(category) for category in dict.fromkeys(goal))),
        ),
        modifiers=Modifiers(suffix=suffix),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of all properties alike; see `Request`."""

    at_end: bool
    allow_unmonitorable: bool
    first_match: bool = False


@dataclass(frozen=True, slots=True)
class _Compiled:
    property: Property
    logic: Logic
    formula: Any
    machine: Machine
    source: Source | None
    """The formula's text, where it does not stand in the spec."""

    def place(self, places: Places, offset: int, length: int) -> tuple[Span | None, str]:
        """The place of a stretch of the formula, and the line it starts on."""
        return _place(self.property, self.source, places, offset, length)


def _parse(spec: Spec, prop: Property, places: Places, source: Source | None) -> tuple[Logic, Any, Source | None]:
    """The logic and the formula of a property, and the text of the formula where it does not stand in the spec."""
    try:
        logic = load_logic(prop.logic)
        text = prop.formula if source is None else source.text
        if logic.reads_files and is_file_name(text):
            source = read_formula(text, source.file if source else prop.span.file if prop.span else "")
            text = source.text
        return logic, logic.parse(text, _alphabet(spec)), source
    except LogicError as error:
        raise _placed(error, prop, source, places) from error


def _compile(spec: Spec, prop: Property, places: Places, asked: _Asked, source: Source | None = None) -> _Compiled:
    logic, formula, source = _parse(spec, prop, places, source)
    _check_handlers(spec, prop, logic.categories(formula), places)
    try:
        request = replace(
            _request(spec, prop, logic.usual_goal(formula)),
            at_end=asked.at_end,
            allow_unmonitorable=asked.allow_unmonitorable,
            first_match=asked.first_match,
            place=lambda offset, length: _place(prop, source, places, offset, length)[0],
        )
        if source is not None:
            request = replace(request, fields=None)  # a formula on its own says itself what events carry
        machine = logic.compile(formula, request)
        if request.every and (reason := _no_every(machine)):
            raise LogicError(
                f"'every' is not for '{prop.logic}', which {reason}",
                hint="write the property in a logic such as ere, fsm, ltl or ptltl, or drop the modifier",
                code="LOGIC-025",
            )
    except LogicError as error:
        raise _placed(error, prop, source, places) from error
    if logic.truth and not machine.truth:
        machine = replace(machine, truth=logic.truth)
    return _Compiled(prop, logic, formula, machine, source)


def _no_every(machine: Machine) -> str:
    """Why the machine cannot report what holds at every event; nothing if it can.

    Verdicts of formulas about the past that are no tables are reported at every event anyhow.
    """
    from mopsus.model import CaretMachine, GuardedMachine, StackMachine, TableMachine, TimedMachine

    if isinstance(machine, GuardedMachine):
        return "reports a state whenever a transition leads to it, and at no other event"
    if isinstance(machine, StackMachine):
        again = machine.lazy or "fail" not in machine.goal
    else:
        again = isinstance(machine, TableMachine | TimedMachine | CaretMachine)
    return "" if again else "reports a final verdict once"


def _alphabet(spec: Spec) -> tuple[str, ...]:
    return tuple(event.name for event in spec.events)


def _request(spec: Spec, prop: Property, usual_goal: frozenset[str]) -> Request:
    # Whoever maps event sets to parameters does not tell events of the same parameters apart.
    alike: dict[frozenset[str], set[str]] = {}
    for event in spec.events:
        alike.setdefault(frozenset(event.parameters), set()).add(event.name)
    return Request(
        alphabet=_alphabet(spec),
        goal=frozenset(handler.category for handler in prop.handlers) or usual_goal,
        restart=_restart(prop),
        interrupted=any(_restart(other) for other in spec.properties if other is not prop)
        or any(event.action is not None and may_reset(event.action) for event in spec.events),
        suffix=spec.modifiers.suffix,
        every=spec.modifiers.every,
        fields={event.name: event.fields for event in spec.events},
        values={event.name: event.names for event in spec.events},
        imports=spec.imports,
        alike=tuple(frozenset(events) for events in alike.values()),
        beyond=_beyond(spec),
    )


def _beyond(spec: Spec) -> dict[str, frozenset[str]]:
    """By event, the events that bind a parameter which it does not bind, or have an action that may remember them."""
    return {
        event.name: frozenset(
            other.name
            for other in spec.events
            if not set(other.parameters) <= set(event.parameters) or other.action is not None
        )
        for event in spec.events
    }


def _restart(prop: Property) -> frozenset[str]:
    """The categories whose handler may reset the instance, which resets all its properties."""
    return frozenset(
        handler.category for handler in prop.handlers if handler.code is not None and may_reset(handler.code)
    )


def _check_handlers(spec: Spec, prop: Property, categories: frozenset[str], places: Places) -> None:
    """Refuse handlers for categories that the formula does not have, or loses under `suffix`."""
    found: list[Diagnostic] = []
    if spec.modifiers.suffix and "match" not in categories:
        found.append(
            Diagnostic(
                "LOGIC-013",
                f"logic '{prop.logic}' cannot match suffixes: it has no category 'match'",
                prop.span,
                "drop the modifier 'suffix', or use a pattern logic such as ere",
                places.line(prop.span),
            )
        )
    else:
        known = frozenset({"match"}) if spec.modifiers.suffix else categories
        for handler in prop.handlers:
            if handler.category in known:
                continue
            lost = handler.category in categories
            found.append(
                Diagnostic(
                    "LOGIC-013" if lost else "LOGIC-012",
                    f"under 'suffix' nothing reaches '{handler.category}': a later suffix can always match"
                    if lost
                    else f"'{prop.logic}' has no category '{handler.category}' here",
                    handler.span,
                    "handle 'match'" if lost else suggestion(handler.category, known),
                    places.line(handler.span),
                )
            )
    if found:
        raise LogicError(found[0].message, hint=found[0].hint, code=found[0].code, diagnostics=tuple(found))


def _place(prop: Property, source: Source | None, places: Places, offset: int, length: int) -> tuple[Span | None, str]:
    if source is None:
        return places.formula(prop, offset, length)
    span = source.span(offset, offset + length)
    return span, source.line(span.line)


def _placed(error: LogicError, prop: Property, source: Source | None, places: Places) -> LogicError:
    """The same error with a diagnostic at its place in the file: where it says, else all of the formula."""
    everything = len(prop.formula if source is None else source.text)
    offset, length = (error.offset, error.length) if isinstance(error, FormulaError) else (0, everything)
    span, line = _place(prop, source, places, offset, length)
    diagnostic = Diagnostic(error.code, error.message, span, error.hint, line)
    return LogicError(error.message, hint=error.hint, code=error.code, diagnostics=(diagnostic,))


def _severity(spec: Spec, prop: Property, usual: Severity, category: str) -> Severity:
    """A handler's own severity, else `note` for good news, else that of the spec, else `error`."""
    for handler in prop.handlers:
        if handler.category == category and handler.severity is not None:
            return handler.severity
    return usual if usual is Severity.NOTE else spec.severity or usual


def _unused_events(spec: Spec, compiled: list[_Compiled], places: Places) -> list[Diagnostic]:
    used = frozenset[str]().union(*(each.logic.events(each.formula) for each in compiled))
    # A formula with truth values need not mention an event that says which parameters belong together.
    joining = bool(compiled) and all(each.logic.truth for each in compiled)
    found: list[Diagnostic] = []
    for event in spec.events:
        if event.name in used or event.action is not None:
            continue
        if spec.properties and spec.modifiers.suffix:
            continue  # it says that nothing comes between: `next next` means that no hasnext did
        line = places.line(event.span)
        if not joining or len(event.parameters) < 2:
            message = f"event '{event.name}' is used in no property and has no action"
            hint = "give it an action, or leave it out"
            if spec.properties:
                hint = "use it, or leave it out: an event that a pattern does not mention still ends the pattern"
            found.append(Diagnostic("LOGIC-020", message, event.span, hint, line, warning=True))
        elif not spec.modifiers.connected and not _links(spec, used, event):
            linked = ", ".join(f"'{name}'" for name in event.parameters)
            message = f"event '{event.name}' links {linked}, but no formula speaks of it, so nothing asks for the link"
            hint = "add the modifier 'connected', or use the event: otherwise values that never met are combined, too"
            found.append(Diagnostic("LOGIC-024", message, event.span, hint, line, warning=True))
    return found


def _links(spec: Spec, used: frozenset[str], event: Event) -> bool:
    """Is what an event links asked for all the same, because instances begin with it or a used event binds it all?"""
    linked = set(event.parameters)
    beginnings = [linked <= set(other.parameters) for other in spec.events if other.creation]
    in_formulas = any(linked <= set(other.parameters) for other in spec.events if other.name in used)
    return in_formulas or (bool(beginnings) and all(beginnings))


def _remarks(each: _Compiled, places: Places) -> Iterator[Diagnostic]:
    for remark in each.machine.remarks:
        span, line = each.place(places, remark.offset, remark.length or len(each.property.formula))
        message = remark.message
        if remark.other is not None and (other := each.place(places, remark.other, 1)[0]) is not None:
            message += f" (line {other.line}, column {other.column})"
        yield Diagnostic(remark.code, message, span, remark.hint, line, warning=True)


def _unreachable(each: _Compiled, places: Places) -> list[Diagnostic]:
    machine, prop = each.machine, each.property
    reached = machine.reportable()
    asked = {handler.category for handler in prop.handlers} or each.logic.usual_goal(each.formula)
    # A handler that is written nowhere, as those of .hml files, is no one's to remove.
    unwritten = {handler.category for handler in prop.handlers if handler.span is None} - each.logic.notes
    lost = machine.goal.intersection(asked if not reached else unwritten - reached)
    if lost:
        goal = " or ".join(f"'{category}'" for category in sorted(lost))
        span, line = each.place(places, 0, len(prop.formula))
        hint = "whatever happens, the formula is never in a category that someone handles"
        return [Diagnostic("LOGIC-022", f"the property can never report {goal}", span, hint, line, warning=True)]
    return [
        Diagnostic(
            "LOGIC-021",
            f"'{handler.category}' cannot be reached",
            handler.span,
            "this handler never runs; check the formula, or remove the handler",
            places.line(handler.span),
            warning=True,
        )
        for handler in prop.handlers
        if handler.category not in reached and handler.span is not None
    ]
