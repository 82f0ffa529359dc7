"""Stage 4: how many components ended, or are left at the end of their log, without a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import replace
from functools import lru_cache

from mopsus.events.component.dispatch import Feed
from mopsus.events.component.occurrence import Function, Occurrence
from mopsus.logics.hml.select import selector
from mopsus.model import Spec, Verdict
from mopsus.model.term import Atom, Pid
from mopsus.spec.hml.events import COMPONENT


class Undecided:
    """A feed that passes everything on, and counts the components that have no verdict of some property.

    With `keep`, components stay in the monitor when they are over, so that it can say at the end how they stand.
    """

    def __init__(self, spec: Spec, feed: Feed, *, keep: bool) -> None:
        self._feed = feed
        self._keep = keep
        self._selectors = {prop.name: selector(replace(spec, properties=(prop,))) for prop in spec.properties}
        self._remembered = lru_cache(maxsize=1024, typed=True)(self._find_selecting)
        self._open: dict[str, set[str]] = {}
        """By component, the properties that are about it and have no final verdict."""
        self._over: Counter[str] = Counter()

    def selects(self, function: Function | None) -> bool:
        """As the feed does."""
        return function is not None and bool(self._selecting(function))

    def _selecting(self, function: Function) -> Set[str]:
        """The properties that are about components which run this function. Many of them run the same."""
        try:
            return self._remembered(function)
        except TypeError:  # an argument that may change
            return self._find_selecting(function)

    def _find_selecting(self, function: Function) -> frozenset[str]:
        given = (Atom(function.module), Atom(function.name), function.arguments, function.keywords)
        return frozenset(name for name, selects in self._selectors.items() if selects(*given))

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
