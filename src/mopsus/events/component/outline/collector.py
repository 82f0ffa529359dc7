"""Stage 4: the monitors' side of the rings: what all processes of a program tell, in one stream, until they are gone.

A process that is killed cannot tell of the end of its components; that it is gone is noticed here. If the process that
started it is there, its word is waited for, because only a parent learns how a process ended.
"""

from __future__ import annotations

import os
import time
from typing import Any, Final

from mopsus import _core
from mopsus.events.component.occurrence import Kind, Occurrence
from mopsus.events.component.outline.order import InOrder, Sink
from mopsus.events.component.outline.session import Session
from mopsus.events.component.outline.wire import GAP, JOINED
from mopsus.model.term import Atom, Pid

KILLED: Final = Atom("killed")
"""The reason of a component whose process is gone, if nobody knows a better one."""
_BATCH = 256
_LOOK = 0.05
"""How often, in seconds, one looks whether processes are still there when they are silent."""


class _Source:
    """A process, or rather its ring."""

    def __init__(self, path: str, inlet: _core.Inlet) -> None:
        self.path = path
        self.inlet = inlet
        self.living: dict[Pid, Pid | None] = {}
        """Components that have not ended, and their parents as far as known."""
        self.first: Pid | None = None
        """The component that the process itself is."""
        self.lost = 0
        """Lost events that were told."""
        self.latest = 0.0
        """When the last event happened that was read."""


class Collector:
    """Reads what the processes of a program write, from when it is made."""

    def __init__(self, session: Session, board: _core.Board, sink: Sink) -> None:
        self._session, self._board = session, board
        self._order = InOrder(sink) if session.envelopes else None
        self._sink = self._order or sink
        self._generation = board.generation
        self._sources: dict[str, _Source] = {}
        self._enlisted = 0
        self._homes: dict[Pid, _Source] = {}
        self._unborn: dict[Pid, None] = {}
        """Components that were forked and have not been heard of."""
        self._mourned: dict[Pid, Pid] = {}
        """Components whose processes are gone, and the parents whose word is waited for."""
        self.events = 0
        self.damaged = 0
        self._open_rings()

    @property
    def dismissed(self) -> bool:
        """Has somebody said that it is enough?"""
        return self._board.generation != self._generation

    @property
    def processes(self) -> int:
        """How many processes are there, or have something left to read."""
        return len(self._sources)

    def poll(self, seconds: float = _LOOK) -> int:
        """Wait until there is something to read, at most so long, and read it; how many events there were."""
        inlets = [source.inlet for source in self._sources.values()]
        self._board.wait(inlets, self._enlisted, self._generation, seconds)
        if self._board.enlisted != self._enlisted:
            self._open_rings()
        before = self.events
        if self._order is not None:
            self._read_in_order(self._order, time.time())
        else:
            for source in list(self._sources.values()):
                self._read(source, _BATCH)
        if self.events == before:
            self._bury()
        return self.events - before

    def finish(self) -> None:
        """Read what is there, and end every component of which nobody will hear again."""
        self._open_rings()
        for source in list(self._sources.values()):
            gone = not source.inlet.writer_alive()
            while source.inlet.pending:
                self._read(source, _BATCH)
            if gone:
                self._end(source)
        for component in [*self._mourned, *self._unborn]:
            self._post(Occurrence(Kind.EXIT, component, None, KILLED))
        if self._order is not None:
            self._order.release(None)

    # ---- reading ----

    def _open_rings(self) -> None:
        self._enlisted = self._board.enlisted
        for path in self._session.rings(self._generation):
            if path not in self._sources:
                self._sources[path] = _Source(path, _core.Inlet(path, self._session.spill(path)))

    def _read_in_order(self, order: InOrder, now: float) -> None:
        """Read everything that happened until now; then what it follows from has been read, too."""
        for source in list(self._sources.values()):
            while source.inlet.pending and source.latest <= now:
                self._read(source, _BATCH)
        order.release(now)

    def _read(self, source: _Source, limit: int) -> None:
        for frame in source.inlet.read(limit):
            self.events += 1
            if type(frame) is Occurrence:
                source.latest = frame.time or source.latest
                if frame.kind is Kind.EXIT and frame.subject not in source.living:
                    self._hear_out(frame.subject, source)
                self._note(source, frame)
                self._sink.post(frame)
            else:
                self._read_other(source, *frame)

    def _hear_out(self, component: Pid, teller: _Source) -> None:
        """A parent tells of the end of a process: what that has told itself, in its own ring, came before."""
        home = self._homes.get(component)
        if home is None:
            self._open_rings()
        candidates = [home] if home is not None else [each for each in self._sources.values() if each.first is None]
        for each in candidates:
            while each is not teller and each.inlet.pending and not each.inlet.writer_alive():
                self._read(each, _BATCH)

    def _read_other(self, source: _Source, kind: int, value: Any) -> None:  # noqa: ANN401 - by kind
        if kind == JOINED:
            self._note(source, value)
            self._sink.join(value)
        elif kind == GAP and isinstance(value, dict):
            source.lost += sum(value.values())
            self._sink.lose(value)
        else:
            self._sink.lose(dict.fromkeys(source.living, 0))

    def _note(self, source: _Source, occurrence: Occurrence) -> None:
        kind, subject = occurrence.kind, occurrence.subject
        if kind is Kind.EXIT:
            self._unborn.pop(subject, None)
            self._mourned.pop(subject, None)
            home = self._homes.pop(subject, source)
            home.living.pop(subject, None)
            return
        if subject not in source.living:
            source.living[subject] = occurrence.other if kind is Kind.INIT else None
            self._homes[subject] = source
            self._unborn.pop(subject, None)
            if source.first is None:
                source.first = subject
        if kind is Kind.FORK and occurrence.other is not None and occurrence.other not in self._homes:
            self._unborn[occurrence.other] = None

    # ---- the end of processes ----

    def _bury(self) -> None:
        """End the components of processes that are gone."""
        for source in list(self._sources.values()):
            said = source.inlet.closed
            if (said or not source.inlet.writer_alive()) and not source.inlet.pending:
                self._end(source)

    def _end(self, source: _Source) -> None:
        if source.inlet.lost > source.lost:
            self._sink.lose(dict.fromkeys(source.living, 0))
        self.damaged += source.inlet.damaged
        del self._sources[source.path]
        for name in (source.path, self._session.spill(source.path)):
            if os.path.exists(name):
                os.unlink(name)
        # A process whose own component has ended, or that has said good-bye, leaves nothing open.
        killed = not source.inlet.closed and source.first in source.living
        for component, parent in list(source.living.items()):
            del self._homes[component]
            if not killed:
                continue
            if component == source.first and parent is not None and parent in self._homes:
                self._mourned[component] = parent
            else:
                self._post(Occurrence(Kind.EXIT, component, None, KILLED))
        for component in [each for each, parent in self._mourned.items() if parent not in self._homes]:
            self._post(Occurrence(Kind.EXIT, component, None, KILLED))

    def _post(self, exit_: Occurrence) -> None:
        self._mourned.pop(exit_.subject, None)
        self._unborn.pop(exit_.subject, None)
        self.events += 1
        self._sink.post(exit_)
