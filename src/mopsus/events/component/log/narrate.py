"""Stage 4: a log of monitoring itself: which component is monitored and which is not, and every event of it."""

from __future__ import annotations

from collections.abc import Callable

from mopsus.events.component.dispatch import Feed
from mopsus.events.component.log.messages import UnwritableError
from mopsus.events.component.log.text import format_line
from mopsus.events.component.log.values import format_value
from mopsus.events.component.occurrence import Function, Occurrence
from mopsus.model import Spec
from mopsus.model.term import Pid


class Narrator:
    """A feed that passes everything on, and tells it."""

    def __init__(self, spec: Spec, feed: Feed, tell: Callable[[str], None]) -> None:
        self._spec, self._feed, self._tell = spec, feed, tell

    def selects(self, function: Function | None) -> bool:
        """As the feed does."""
        wanted = self._feed.selects(function)
        if function is not None and not wanted:
            self._tell(f"{self._spec.name}: a component that runs {show_function(function)} is not monitored")
        return wanted

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        """A component is monitored from now on."""
        self._tell(f"{self._spec.name}: {component} runs {show_function(function)}, and is monitored")
        self._feed.start(component, function, cause)

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        """Something happened in a component."""
        self._tell(f"{self._spec.name}: {component} {show_event(occurrence)}")
        self._feed.event(component, occurrence)

    def end(self, component: Pid) -> None:
        """A component is over."""
        self._tell(f"{self._spec.name}: {component} is over")
        self._feed.end(component)


def show_function(function: Function) -> str:
    """`jobs:worker(3)`."""
    try:
        arguments = ",".join(format_value(each) for each in function.listed())
    except UnwritableError:
        arguments = "…"
    return f"{function.module}:{function.name}({arguments})"


def show_event(occurrence: Occurrence) -> str:
    """The event as a line of a log, as far as that has a form for it."""
    try:
        return format_line(occurrence)
    except UnwritableError:
        return f"{occurrence.kind}({occurrence.subject},…)"
