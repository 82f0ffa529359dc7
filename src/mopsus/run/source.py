"""What a source of events is, and the registry that finds sources by name.

The built-in sources are known here by module, so that the usual run does not search the installed packages; any other
name is looked up under the entry-point group `mopsus.sources`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mopsus.plugins import Plugins
from mopsus.run.messages import RunError

if TYPE_CHECKING:
    from mopsus.model import RunResult, Spec
    from mopsus.run.run import Run

GROUP = "mopsus.sources"
BUILT_IN = {
    "recorded": "mopsus.run.recorded",
    "followed": "mopsus.run.followed",
    "told": "mopsus.run.told",
    "program": "mopsus.run.program",
    "beside": "mopsus.run.beside",
    "attached": "mopsus.run.attached",
    "debugged": "mopsus.interactive.source",
}


class Source(Protocol):
    """Where the events of a run come from.

    A run calls `open`, `feed`, `end` and `close`, in this order; `close` whatever happens, so also without `open`.
    """

    @property
    def endless(self) -> bool:
        """Does it go on until somebody ends it? Then nothing is begun that could not see all that it should."""

    def why_not(self, spec: Spec) -> str:
        """Return why events of this spec cannot come from here; nothing if they can."""

    def open(self, run: Run) -> None:
        """Open monitors for the specs of the run that it gives events of, and whatever the events come from."""

    def feed(self) -> None:
        """Let the monitors have the events, to the end."""

    def end(self) -> RunResult:
        """Return what was counted, and what could not be seen or never was. The monitors are still open."""

    def close(self) -> None:
        """Close the monitors, and whatever the events came from. Safe to call twice."""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source, registered under the entry-point group `mopsus.sources`."""

    name: str
    summary: str
    make: Callable[..., Source]
    """Makes one; what it takes depends on the kind."""


def load_source(name: str) -> SourceKind:
    """The kind of that name, built in or installed; `RunError` if there is none or it is broken."""
    return _SOURCES.load(name)


def source_names() -> tuple[str, ...]:
    """Every kind's name: the built-in ones first, then those of installed packages."""
    return _SOURCES.names()


_SOURCES = Plugins(
    what="source",
    kind=SourceKind,
    group=GROUP,
    built_in=BUILT_IN,
    attribute="SOURCE",
    missing=lambda message, hint: RunError(message, hint=hint, code="RUN-001"),
    broken=lambda message: RunError(message, code="RUN-002"),
)
