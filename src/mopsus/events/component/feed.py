"""Stage 4: what a spec wants to hear of components, and how it is given to its monitor.

A spec from an `.hml` file has six events, which carry everything that is known of what happened. A spec of a `.mop`
file picks what it wants by pointcuts. Both hear of it in the same way, whether it happens now, in another process, or
is read from a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from mopsus import _core
from mopsus.events.component.dispatch import Feed
from mopsus.events.component.matching import fits
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.logics.hml.select import selector
from mopsus.model import Event, MopsusError, Spec
from mopsus.model.term import Atom, Pid
from mopsus.monitor import Monitor
from mopsus.spec.component import Case, about_components, cases, is_component, is_hml
from mopsus.spec.hml.events import COMPONENT, FIELDS


class NoComponentsError(MopsusError):
    """A spec is about no components."""

    code = "COMPONENT-001"


def make_feed(spec: Spec, monitor: Monitor) -> Feed:
    """What gives a monitor the events of components that its spec is about."""
    if is_hml(spec):
        return HmlFeed(spec, monitor)
    if about_components(spec):
        return PointcutFeed(spec, monitor)
    hint = "an event of a component is recognised by fork, init, exit, send or recv: event got(p; m) : recv(p, m)"
    raise NoComponentsError(f"`{spec.name}` is about no components", hint=hint)


class HmlFeed:
    """Gives everything that selected components do to a monitor with the events of `.hml` files."""

    def __init__(self, spec: Spec, monitor: Monitor) -> None:
        self._selects = selector(spec)
        self._monitor = monitor
        self._send = {name: _Sender(monitor, name, (COMPONENT, *fields)) for name, fields in FIELDS.items()}
        self.quick = monitor.event(Kind.SEND), monitor.event(Kind.RECV)
        """Take the values of messages, the component first: for whoever has no time to lose."""

    def selects(self, function: Function | None) -> bool:
        """Are components that run this function monitored?"""
        if function is None:
            return False
        return self._selects(Atom(function.module), Atom(function.name), function.arguments, function.keywords)

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        """A component is monitored from now on."""
        values = (str(component), Atom(function.module), Atom(function.name), function.listed())
        self._send["start"](values, cause)

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        """Something happened in a component."""
        self._send[occurrence.kind]((str(component), *_values(occurrence)), occurrence)

    def end(self, component: Pid) -> None:
        """A component is over."""
        self._monitor.row("#release", {COMPONENT: str(component)})


class _Sender:
    """Sends one event of a monitor: now, or as of when and where it happened."""

    def __init__(self, monitor: Monitor, event: str, names: tuple[str, ...]) -> None:
        self._monitor, self._event, self._names = monitor, event, names
        self._now = monitor.event(event)

    def __call__(self, values: Sequence[Any], occurrence: Occurrence) -> None:
        time, location, row = occurrence[4:]
        if time is None and location is None:
            self._now(*values)
            return
        given = dict(zip(self._names, values, strict=True))
        if row is None:
            self._monitor.row(self._event, given, time=time, location=location)
        else:
            self._monitor.row(self._event, given, time=time, source=location or "", row=row)


def _values(occurrence: Occurrence) -> tuple[object, ...]:
    """The values of the fields of an event, in their order."""
    kind, subject, other, data = occurrence[:4]
    if kind is Kind.SEND:
        return (subject, other, data)
    if isinstance(data, Function) and (kind is Kind.FORK or kind is Kind.INIT):
        first, second = (subject, other) if kind is Kind.FORK else (other, subject)
        return (first, second, Atom(data.module), Atom(data.name), data.listed())
    return (subject, data)


class PointcutFeed:
    """Gives what pointcuts pick to a monitor.

    A spec hears of all components; where it matters what one runs, it is remembered until it is over.
    """

    def __init__(self, spec: Spec, monitor: Monitor) -> None:
        self._monitor = monitor
        self._events: dict[str, list[_Picked]] = {}
        self._asks = False
        for event in spec.events:
            for case in cases(event.pointcut) if event.pointcut is not None and is_component(event.pointcut) else ():
                self._events.setdefault(case.doing.kind, []).append(_Picked(event, case, monitor))
                self._asks = self._asks or bool(case.runs)
        self._functions: dict[Pid, str] = {}
        self._owners = _components_bound(spec)

    def selects(self, function: Function | None) -> bool:
        """All are monitored: which parts of which specs hear of one is for the pointcuts to say."""
        return function is None

    @property
    def asks(self) -> bool:
        """Does it matter what a component runs?"""
        return self._asks

    def learn(self, component: Pid, function: Function) -> None:
        """A component runs this, though its fork or init is yet to be heard of."""
        self._functions.setdefault(component, _text(function))

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        """Not called, because nothing depends on it."""

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        """Something happened in a component."""
        if self._asks and isinstance(occurrence.data, Function):
            whose = occurrence.other if occurrence.kind is Kind.FORK else occurrence.subject
            if whose is not None:
                self._functions[whose] = _text(occurrence.data)
        for picked in self._events.get(occurrence.kind.value, ()):
            if not picked.runs or picked.admits(self._functions.get(component)):
                picked.give(occurrence)

    def end(self, component: Pid) -> None:
        """A component is over: no event will name it as the one that does something."""
        self._functions.pop(component, None)
        for name in self._owners:
            self._monitor.row("#release", {name: str(component)})


class _Picked:
    """One case of an event."""

    def __init__(self, event: Event, case: Case, monitor: Monitor) -> None:
        names = (*event.parameters, *event.fields)
        self._send = _Sender(monitor, event.name, names)
        self._doing = case.doing
        self._slots = [case.doing.names.index(name) for name in names]
        self._slicing = len(event.parameters)
        self.runs = case.runs

    def admits(self, function: str | None) -> bool:
        """May a component that runs this function do it?"""
        known = function or ""
        return all(any(fnmatchcase(known, glob) for glob in globs) is wanted for globs, wanted in self.runs)

    def give(self, occurrence: Occurrence) -> None:
        """Send the event if what happened fits."""
        bound: list[Any] = [None] * len(self._doing.names)
        if all(map(lambda pattern, value: fits(pattern, value, bound), self._doing.patterns, _shown(occurrence))):
            values = [bound[slot] for slot in self._slots]
            # Texts of any kind are told apart by what they say when they slice.
            slicing = [str(value) if isinstance(value, str) else value for value in values[: self._slicing]]
            self._send([*slicing, *values[self._slicing :]], occurrence)


def _shown(occurrence: Occurrence) -> tuple[object, ...]:
    """The values that a pointcut has patterns for."""
    kind, subject, other, data = occurrence[:4]
    if isinstance(data, Function) and (kind is Kind.FORK or kind is Kind.INIT):
        return (subject, other, _text(data), data.listed())
    return (subject, data) if kind is Kind.EXIT or kind is Kind.RECV else (subject, other, data)


def _text(function: Function) -> str:
    return f"{function.module}.{function.name}"


def _components_bound(spec: Spec) -> frozenset[str]:
    """Parameters that only ever stand for the component that does something."""
    subjects: set[str] = set()
    others: set[str] = set()
    for event in spec.events:
        for case in cases(event.pointcut) if is_component(event.pointcut) and event.pointcut is not None else ():
            subject = _bound(case.doing.patterns[0], case.doing.names)
            subjects |= subject
            others |= set(case.doing.names) - subject
    return frozenset((subjects - others) & {parameter.name for parameter in spec.parameters})


def _bound(pattern: object, names: tuple[str, ...]) -> set[str]:
    slot = getattr(pattern, "slot", None)
    return set() if slot is None else {names[slot]}


# What a monitor hears of happened in the program, not here.
for _function in (HmlFeed.start, HmlFeed.event, PointcutFeed.event, _Picked.give, _Sender.__call__):
    _core.hide(_function.__code__)
