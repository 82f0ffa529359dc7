"""Stage 4: the monitors of a run, fed with batches: every spec sees every row, in one pass.

All specs stop at the same row: when one of them cannot use a row, none sees a later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal, Protocol, TypeAlias

from mopsus import _core
from mopsus._core import Columns, FoundEvents
from mopsus.events.trace.batches import TraceBatch
from mopsus.events.trace.needs import EVENT, needs_of
from mopsus.events.trace.recognise import Recogniser
from mopsus.events.trace.survey import Survey
from mopsus.model import Spec, TraceError, Unseen, Verdict
from mopsus.model.text import show_value
from mopsus.model.unseen import with_conditions

BadRows: TypeAlias = Literal["stop", "skip"]


class Counts(Protocol):
    """What a run asks of a monitor's statistics."""

    @property
    def bad_rows(self) -> int: ...

    @property
    def seen(self) -> Mapping[str, int]: ...

    @property
    def occurred(self) -> Mapping[str, int]: ...


class TraceMonitor(Protocol):
    """What a run asks of a monitor; `mopsus.monitor.Monitor` is one."""

    def run(self, data: Columns, *, source: str, first_row: int, bad_rows: BadRows) -> None: ...

    def stats(self) -> Counts: ...

    def snapshot(self) -> dict[str, Any]: ...

    def restore(self, data: Mapping[str, Any], /) -> None: ...

    def close(self) -> None: ...


OnVerdict: TypeAlias = "Callable[[Verdict], None]"
OpenMonitor: TypeAlias = "Callable[[Spec, OnVerdict], TraceMonitor]"

_SAME_WORD = 0.8
"""How much two names have in common, as `difflib` sees it, if one is likely to be the other."""


@dataclass(slots=True)
class Watcher:
    """One spec of a run: how its events are found, and what monitors them."""

    spec: Spec
    monitor: TraceMonitor
    recogniser: Recogniser
    bad_rows: int = 0
    needs: list[tuple[str, list[str]]] = field(init=False)
    """The parameters of each event."""

    def __post_init__(self) -> None:
        self.needs = [(event.name, list(event.parameters)) for event in self.spec.events]

    def lacks(self, batch: TraceBatch, row: int, event: str, parameter: str) -> TraceError:
        """The error for a row that has no value for what its event needs, in the words of the trace."""
        column = self.recogniser.column(event, parameter)
        if column in batch.absent:
            message = f"there is no column `{column}`, which event `{event}` needs"
            hint = "add it, or name it by `bind`"
        else:
            where = "" if column == parameter else f", which is `{column}`"
            message = f"event `{event}` has no value for `{parameter}`{where}"
            hint = "give one, or leave such rows out with `--bad-rows skip`"
        return TraceError(message, file=batch.source, row=row, column=column, hint=hint)


class Sorter:
    """Passes verdicts on; those of several specs about one batch in the order of its rows.

    A batch that gives more than `MOST` of them gives the further ones as they come, because memory must stay bounded.
    """

    MOST = 1000

    def __init__(self, pass_on: OnVerdict) -> None:
        self._pass_on = pass_on
        self._kept: list[Verdict] | None = None

    def take(self, verdict: Verdict) -> None:
        if self._kept is None:
            self._pass_on(verdict)
            return
        self._kept.append(verdict)
        if len(self._kept) >= self.MOST:
            self._give_out()

    @contextmanager
    def sorting(self, wanted: bool) -> Iterator[None]:
        """Within it, one batch is monitored."""
        self._kept = [] if wanted else None
        try:
            yield
        finally:
            self._give_out()

    def _give_out(self) -> None:
        kept, self._kept = self._kept or [], None
        for verdict in sorted(kept, key=lambda verdict: verdict.row or 0):
            self._pass_on(verdict)


class Session:
    """Feeds batches to the monitors of some specs."""

    def __init__(
        self, specs: Sequence[Spec], open_monitor: OpenMonitor, on_verdict: OnVerdict, bad_rows: BadRows
    ) -> None:
        nameless = not needs_of(specs).named_only
        self._sorter = Sorter(on_verdict)
        self.watchers = [
            Watcher(spec, open_monitor(spec, self._sorter.take), Recogniser(spec, nameless=nameless)) for spec in specs
        ]
        self.rows = 0
        self.ignored = 0
        """Rows that are no event of any spec."""
        self._bad_rows = bad_rows
        self._names: list[str] = []
        """Some of the event names that occur, for messages."""
        self._first: TraceBatch | None = None

    def close(self) -> None:
        """Close the monitors."""
        for watcher in self.watchers:
            watcher.monitor.close()

    def snapshot(self) -> dict[str, Any]:
        """Where all monitors stand, as plain data."""
        return {watcher.spec.name: watcher.monitor.snapshot() for watcher in self.watchers}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` gave, before the first batch."""
        for watcher in self.watchers:
            watcher.monitor.restore(data[watcher.spec.name])

    @property
    def bad_rows(self) -> int:
        """Rows left out because some spec could not use them, counted once for each such spec."""
        return sum(watcher.bad_rows + watcher.monitor.stats().bad_rows for watcher in self.watchers)

    @property
    def stats(self) -> dict[str, Counts]:
        """The counts of each spec."""
        return {watcher.spec.name: watcher.monitor.stats() for watcher in self.watchers}

    def unseen(self, survey: Survey, left_out: Mapping[str, TraceError]) -> list[Unseen]:
        """What of the specs could not be seen in the traces that were surveyed, or never was.

        `left_out` are the traces no row of which could be used.
        """
        counts = self.stats
        found = (
            each
            for watcher in self.watchers
            for each in survey.unseen(watcher.spec, counts[watcher.spec.name].occurred, self._example, left_out)
        )
        return with_conditions(map(self._with_spelling, found), counts)

    def _with_spelling(self, unseen: Unseen) -> Unseen:
        """An event that never occurred may be one of those that no spec mentions, in another spelling."""
        if unseen.event is None or unseen.reason or not unseen.possible:
            return unseen
        known = {name for watcher in self.watchers for name in watcher.recogniser.names}
        others = [name for name in self._names if name not in known]
        near = get_close_matches(unseen.event, others, n=1, cutoff=_SAME_WORD)
        return replace(unseen, reason=f"did you mean `{near[0]}`, which no spec mentions?") if near else unseen

    def _example(self) -> str:
        """What came instead of events that were looked for."""
        shown = ", ".join(f"`{name}`" for name in self._names[:8]) + (", …" if len(self._names) > 8 else "")
        if shown:
            return f"the events of the trace are {shown}"
        return "" if self._first is None else _first_row(self._first)

    def feed(self, batch: TraceBatch) -> None:
        """Let every monitor see the rows of a batch.

        `TraceError` at a row that a spec cannot use, when bad rows stop the run; no monitor has then seen that
        row or a later one.
        """
        self._names = self._names or _event_names(batch.columns)
        self._first = self._first or batch
        found = [self._find(watcher, batch.columns) for watcher in self.watchers]
        data = [batch.columns if each is None else each.events() for each in found]
        error = self._first_incomplete(batch, data) if self._bad_rows == "stop" and len(data) > 1 else None
        if error is not None:
            data = [each.before(error.row or 0) for each in data]
        if self._bad_rows == "skip":
            data = [self._complete(*each) for each in zip(self.watchers, found, data, strict=True)]
        failure = self._run(batch, data)
        if failure is not None and error is None:  # said by a monitor, which knows nothing of columns
            lacking = self._first_incomplete(batch, data)
            failure = lacking if lacking is not None and lacking.row == failure.row else failure
        error = failure or error
        rows = batch.columns.num_rows if error is None else batch.columns.rows_before(error.row or batch.first_row)
        self.rows += rows
        self.ignored += rows - self._count_events(batch.columns, found, rows)
        if error is not None:
            raise error

    @staticmethod
    def _find(watcher: Watcher, columns: Columns) -> FoundEvents | None:
        """Which rows are which events; None if the monitor can take the columns as they are."""
        return None if watcher.recogniser.takes(columns) else watcher.recogniser.find(columns)

    @staticmethod
    def _complete(watcher: Watcher, found: FoundEvents | None, events: Columns) -> Columns:
        """The events of the rows that lack nothing. A row may be several events, and is left out as a whole."""
        if watcher.recogniser.plain or found is None:
            return events  # the monitor leaves them out by itself
        events, bad_rows = events.without_lacking(watcher.needs)
        watcher.bad_rows += bad_rows
        return events

    def _count_events(self, columns: Columns, found: Sequence[FoundEvents | None], rows: int) -> int:
        """How many of the first rows are an event of some spec."""
        recognisers = [watcher.recogniser for watcher in self.watchers]
        if not any(found):
            return columns.count(EVENT, list(dict.fromkeys(name for each in recognisers for name in each.names)), rows)
        every = [each or other.find(columns) for each, other in zip(found, recognisers, strict=True)]
        return _core.count_events(every, rows)

    def _run(self, batch: TraceBatch, data: Sequence[Columns]) -> TraceError | None:
        """Give each monitor its data; what is wrong with a row, if something is."""
        with self._sorter.sorting(len(data) > 1):
            try:
                for watcher, part in zip(self.watchers, data, strict=True):
                    watcher.monitor.run(part, source=batch.source, first_row=batch.first_row, bad_rows=self._bad_rows)
            except TraceError as failure:
                return failure
        return None

    def _first_incomplete(self, batch: TraceBatch, data: Sequence[Columns]) -> TraceError | None:
        """The first row that lacks a value which one of the specs needs."""
        first: TraceError | None = None
        for watcher, events in zip(self.watchers, data, strict=True):
            lack = events.first_lacking(watcher.needs)
            if lack is not None and (first is None or lack[0] < (first.row or 0)):
                first = watcher.lacks(batch, *lack)
        return first


def _event_names(columns: Columns) -> list[str]:
    """Some of the event names in a batch, for messages."""
    return sorted(columns.distinct(EVENT)) if EVENT in columns.column_names else []


def _first_row(batch: TraceBatch) -> str:
    """The first row of a batch, for messages."""
    shown = [f"{name}={show_value(value)}" for name, value in batch.columns.first().items() if value is not None]
    return f"the first row has {', '.join(shown)}" if shown else ""
