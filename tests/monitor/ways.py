"""The ways into the engine, each turned into a function from a case to the reports that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from monitor.arrow import LAYOUTS, batches, deliveries
from oracle.compiled import compiled
from oracle.slicing import Occurrence, Report, instance, order
from oracle.strategies import BOOLS, FLOATS, INTEGERS, MIXED, TEXTS, Case

from mopsus.model import ObjectRef, Spec, Verdict
from mopsus.monitor import Monitor

HISTORIES = (0, 1, 32)


class Recorder:
    """Takes verdicts as the oracle's reports; `index` is the event being handled, unless rows are numbered."""

    def __init__(self, case: Case) -> None:
        self.reports: list[Report] = []
        self.verdicts: list[Verdict] = []
        self.index: int | None = 0
        self._properties = {prop.name: number for number, prop in enumerate(case.spec.properties)}
        self._objects = {
            (type(value).__name__, repr(value)[:80]): value for entry in case.trace for value in entry.binding.values()
        }

    def __call__(self, verdict: Verdict) -> None:
        index = self.index
        if index is None:
            assert verdict.row is not None
            index = verdict.row - 1
        binding = {name: self._value(value) for name, value in verdict.binding.items()}
        self.verdicts.append(verdict)
        self.reports.append(Report(index, self._properties[verdict.property], verdict.category, instance(binding)))

    def _value(self, shown: Any) -> Any:
        return self._objects[shown.type, shown.text] if isinstance(shown, ObjectRef) else shown

    def result(self) -> list[Report]:
        return sorted(self.reports, key=order)


@dataclass(frozen=True)
class Way:
    """A way to hand a trace to a monitor, and the kinds of values that can go it."""

    name: str
    feed: Callable[[Monitor, Recorder, Case, Random], None]
    values: Sequence[Sequence[Any]]
    noise: bool = False

    def reports(self, case: Case, rng: Random) -> list[Report]:
        recorder = Recorder(case)
        with Monitor(compiled(case.spec), on_verdict=recorder, history=rng.choice(HISTORIES)) as monitor:
            self.feed(monitor, recorder, case, rng)
        return recorder.result()

    def __str__(self) -> str:
        return self.name


@dataclass
class Threads:
    """Runs calls one after the other, each in the thread that the trace says."""

    used: dict[Any, ThreadPoolExecutor] = field(default_factory=dict)

    def call(self, thread: Any, function: Callable[[], object]) -> None:
        if thread not in self.used:
            self.used[thread] = ThreadPoolExecutor(max_workers=1)
        self.used[thread].submit(function).result()


@contextmanager
def threads_of(spec: Spec) -> Iterator[Callable[[Any, Callable[[], object]], object]]:
    """How to make a call in a thread of the trace; without `perthread` all calls are made here."""
    if not spec.modifiers.perthread:
        yield lambda _, function: function()
        return
    threads = Threads()
    try:
        yield threads.call
    finally:
        for executor in threads.used.values():
            executor.shutdown()


def _emit(monitor: Monitor, recorder: Recorder, case: Case, rng: Random) -> None:
    with threads_of(case.spec) as call:
        for recorder.index, entry in enumerate(case.trace):
            call(entry.thread, lambda entry=entry: monitor.emit(entry.event, **entry.binding))


def _event(monitor: Monitor, recorder: Recorder, case: Case, rng: Random) -> None:
    emitters = {event.name: (monitor.event(event.name), event.parameters) for event in case.spec.events}
    with threads_of(case.spec) as call:
        for recorder.index, entry in enumerate(case.trace):
            emitter, parameters = emitters[entry.event]
            values = [entry.binding[name] for name in parameters]
            call(entry.thread, lambda emitter=emitter, values=values: emitter(*values))


def feed_rows(monitor: Monitor, trace: Sequence[Occurrence], first: int = 1) -> None:
    for row, entry in enumerate(trace, start=first):
        monitor.row(entry.event, entry.binding, thread=entry.thread, row=row)


def _row(monitor: Monitor, recorder: Recorder, case: Case, rng: Random) -> None:
    recorder.index = None
    feed_rows(monitor, case.trace)


def _run(layouts: Sequence[str]) -> Callable[[Monitor, Recorder, Case, Random], None]:
    def feed(monitor: Monitor, recorder: Recorder, case: Case, rng: Random) -> None:
        recorder.index = None
        for data, first in deliveries(rng, batches(rng, case.spec, case.trace, layouts)):
            monitor.run(data, first_row=first)

    return feed


COLUMNS = (INTEGERS, TEXTS, FLOATS, BOOLS)
"""Kinds of values that make a column of one type."""

WAYS = (
    Way("emit", _emit, (MIXED,)),
    Way("event", _event, (MIXED,)),
    Way("row", _row, (*COLUMNS, tuple(value for value in MIXED if isinstance(value, str | int | float))), noise=True),
    *(Way(f"run-{layout}", _run((layout,)), COLUMNS, noise=True) for layout in LAYOUTS),
    Way("run-any", _run(LAYOUTS), COLUMNS, noise=True),
)
