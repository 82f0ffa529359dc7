"""Stage 4: how components are watched: what a program, or who runs it, may choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from mopsus.monitor import Monitor
from mopsus.spec.component import about_components

if TYPE_CHECKING:
    from mopsus.events.component.codec import Codec
    from mopsus.events.component.hooks import Keep
    from mopsus.events.component.inline import Inline
    from mopsus.events.weave.launch import Ended, Program


@dataclass(frozen=True, slots=True)
class Watching:
    """What may be chosen."""

    groups: bool = False
    """A component that no property selects joins the group of its parent, whose monitor then hears of both."""
    keep: Keep | None = None
    """Says of a message whether its events are told of; None: all are."""
    codec: Codec | None = None
    """Makes messages of the bytes that go through sockets; None: every piece is a message."""
    envelopes: bool = False
    """A send is heard of before the recv of its message."""


def watch_inline(monitors: Iterable[Monitor], how: Watching) -> Inline | None:
    """Begin to watch components for those monitors whose specs are about components; None if none is."""
    about = [monitor for monitor in monitors if about_components(monitor.spec)]
    if not about:
        return None
    from mopsus.events.component.feed import make_feed
    from mopsus.events.component.inline import Inline

    feeds = [make_feed(monitor.spec, monitor) for monitor in about]
    watch = Inline(feeds, groups=how.groups, keep=how.keep, codec=how.codec, envelopes=how.envelopes)
    watch.start()
    return watch


class InlineProgram:
    """A whole program whose components are watched, if any spec is about components: its main thread is one, too."""

    def __init__(self, program: Program, monitors: Iterable[Monitor], how: Watching) -> None:
        self._program, self._monitors, self._how = program, monitors, how
        self._inline: Inline | None = None

    def __enter__(self) -> InlineProgram:
        self._inline = watch_inline(self._monitors, self._how)
        if self._inline is not None:
            from mopsus.events.component.program import begin_program

            begin_program(self._program)
        return self

    def end(self, ended: Ended) -> Ended:
        """The program has ended so."""
        if self._inline is not None:
            from mopsus.events.component.program import end_program

            end_program(ended)
        return ended

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._inline is not None:
            self._inline.stop()
