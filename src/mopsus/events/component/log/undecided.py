"""Stage 4: how many components ended, or are left at the end of their log, without a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from mopsus.events.component.dispatch import Feed
from mopsus.events.component.occurrence import Function, Occurrence
from mopsus.logics.hml.select import selector
from mopsus.model import Spec, Verdict
from mopsus.model.term import Atom, Pid
from mopsus.spec.hml.events import COMPONENT

REMEMBERED: Final = 1024
"""How many functions it is remembered of which properties are about them."""


class Undecided:
    """A feed that passes everything on, and counts the components that have no verdict of some property.

    With `keep`, components stay in the monitor when they are over, so that it can say at the end how they stand.
    """

    def __init__(self, spec: Spec, feed: Feed, *, keep: bool) -> None:
        self._feed = feed
        self._keep = keep
        self._selectors = {prop.name: selector(replace(spec, properties=(prop,))) for prop in spec.properties}
        self._remembered: dict[str, frozenset[str]] = {}
        self._open: dict[str, set[str]] = {}
        """By component, the properties that are about it and have no final verdict."""
        self._over: Counter[str] = Counter()

    def selects(self, function: Function | None) -> bool:
        """As the feed does."""
        return function is not None and bool(self._selecting(function))

    def _selecting(self, function: Function) -> frozenset[str]:
        """The properties that are about components which run this function. Many of them run the same."""
        key = repr(function)  # tells apart 1, 1.0 and True, and an atom from a string
        found = self._remembered.get(key)
        if found is None:
            given = (Atom(function.module), Atom(function.name), function.arguments, function.keywords)
            found = frozenset(name for name, selects in self._selectors.items() if selects(*given))
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = found
        return found

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        """A component is monitored from now on."""
        self._open[str(component)] = set(self._selecting(function))
        self._feed.start(component, function, cause)

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        """Something happened in a component."""
        self._feed.event(component, occurrence)

    def end(self, component: Pid) -> None:
        """A component is over."""
        self._over.update(self._open.pop(str(component), ()))
        if not self._keep:
            self._feed.end(component)

    def decide(self, verdict: Verdict) -> None:
        """There is a verdict."""
        if verdict.final:
            self._open.get(str(verdict.binding.get(COMPONENT)), set()).discard(verdict.property)

    def count(self) -> Counter[str]:
        """By property, how many components it is about have no final verdict."""
        left: Iterable[str] = (name for names in self._open.values() for name in names)
        return self._over + Counter(left)
