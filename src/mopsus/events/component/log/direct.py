"""Stage 4: text logs at the speed of the core.

Most lines of a log say that a component began, sent or received, and it is known whose monitors hear of it: those the
core delivers by itself. All others are read here and go to the dispatcher, which remains the one that says who is who.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mopsus import _core
from mopsus.events.component.dispatch import Dispatcher
from mopsus.events.component.log.events import EventReader
from mopsus.events.component.log.read import LogBlock
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.model.term import Pid
from mopsus.monitor import Monitor

BOM: Final = b"\xef\xbb\xbf"
KINDS: Final = (Kind.SEND, Kind.RECV, Kind.INIT)
"""What the core delivers."""


class DirectReader:
    """Feeds blocks of text logs to a dispatcher and to monitors with the events of `.hml` files.

    `monitors` are those of the dispatcher's feeds, in their order.
    """

    def __init__(
        self,
        monitors: Sequence[Monitor],
        dispatcher: Dispatcher,
        reader: EventReader,
        post: Callable[[Occurrence, int], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._reader = reader
        self._post = post
        inside = [monitor.inside(*KINDS) for monitor in monitors]
        self._core = _core.DirectLog(
            [core for core, _ in inside], [(send, recv, init) for _, (send, recv, init) in inside]
        )
        self._settled: set[Pid] = set()

    @property
    def delivered(self) -> int:
        """Events that did not go through the dispatcher."""
        return self._core.delivered

    @property
    def heard(self) -> int:
        """Those of them that some monitor has heard of."""
        return self._core.heard

    def feed(self, block: LogBlock) -> None:
        """Deliver the events of a block."""
        data, line = block.data, block.line
        at = len(BOM) if block.begins and data.startswith(BOM) else 0
        self._core.begin(block.source)
        while True:
            at, line, stopped = self._core.run(data, at, line)
            if stopped:
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                found = self._reader.event(data[at:end], block.source, line)
                if found is not None:
                    self._dispatch(*found)
                at, line = end + 1, line + 1
            elif at >= len(data):
                return

    def _dispatch(self, occurrence: Occurrence, delay: int) -> None:
        kind, subject = occurrence.kind, occurrence.subject
        if kind is Kind.EXIT:
            self._unsettle(subject)
            self._post(occurrence, delay)
            return
        self._post(occurrence, delay)
        if kind is Kind.INIT or subject not in self._settled:
            self._settle(subject)
        if kind is Kind.FORK and occurrence.other is not None and occurrence.other not in self._settled:
            self._settle(occurrence.other)

    def _settle(self, component: Pid) -> None:
        """Let the core deliver what a component does, if the dispatcher knows who hears of it."""
        leaders = self._dispatcher.leaders(component)
        if leaders is not None:
            self._settled.add(component)
            self._core.settle(component, leaders, self._dispatcher.is_named(component))

    def _unsettle(self, component: Pid) -> None:
        """From now on, all events of a component go to the dispatcher."""
        if component in self._settled:
            self._settled.discard(component)
            counts = self._core.unsettle(component)
            self._dispatcher.credit(component, dict(zip(KINDS, counts, strict=True)))

    def finish(self) -> None:
        """All is read."""
        for component in list(self._settled):
            self._unsettle(component)
