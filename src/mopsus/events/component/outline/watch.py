"""Stage 4: from what is collected to monitors, with an account of what cannot be known.

When events of a component were lost, nothing that its monitors would say is certain: they are stopped, and it is said
of each property that was undecided that it stays so. A spec that is not about single components cannot tell which of
its instances the lost events belong to, so all of it stays undecided. A component that had begun before anybody looked
is monitored from its beginning with a gap that nobody can fill: its verdicts say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from mopsus.events.component.dispatch import Dispatcher, Feed, Orphan
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model import Severity, Spec, Verdict
from mopsus.model.symbolic import INCONCLUSIVE
from mopsus.model.term import Pid
from mopsus.monitor.errors import ClosedError

if TYPE_CHECKING:
    from mopsus.events.component.outline.mesh import Node

GAP_ROW, JOINED_ROW = -1, -2
"""In place of a row: the occurrence is none, but says that events were lost, so many as its data; or the fork is none,
but that of a component that was there already."""
COMPONENT: Final = "component"
"""The parameter of specs that are about single components."""
_MOST_NAMED: Final = 10_000
JOINED: Final = "It had begun before it was watched; what it did until then is not known."


class Watched:
    """A spec with its feed, as long as everything is known that its monitors need to know."""

    def __init__(self, spec: Spec, report: Callable[[Verdict], object], *, groups: bool = False) -> None:
        self.spec = spec
        self._report = report
        self._feed: Feed | None = None
        """Nobody hears of anything after events were lost, or after a fault that was to be the end of monitoring."""
        self._per_component = not groups and [each.name for each in spec.parameters] == [COMPONENT]
        self._living: dict[Pid, set[str]] = {}
        """Components that are monitored, and the properties that are decided for each."""
        self._lost: set[Pid] = set()
        self._joined: set[Pid] = set()
        self.complete = True

    def attach(self, feed: Feed) -> None:
        """Let this feed have what it selects."""
        self._feed = feed

    # ---- as a feed ----

    def selects(self, function: Function | None) -> bool:
        return self._feed is not None and self._feed.selects(function)

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        if self._feed is not None and component not in self._lost:
            self._living[component] = set()
            try:
                self._feed.start(component, function, cause)
            except ClosedError:
                self._feed = None
        elif component in self._lost:
            self._tell_incomplete({COMPONENT: component}, set(), 0)

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        if self._feed is not None and component not in self._lost:
            try:
                self._feed.event(component, occurrence)
            except ClosedError:
                self._feed = None

    def end(self, component: Pid) -> None:
        if self._feed is not None and component not in self._lost:
            try:
                self._feed.end(component)
            except ClosedError:
                self._feed = None
        self._living.pop(component, None)
        self._lost.discard(component)
        self._joined.discard(component)

    # ---- what is not known ----

    def add(self, verdict: Verdict) -> None:
        """Take a verdict of the spec's monitor."""
        component = verdict.binding.get(COMPONENT)
        if isinstance(component, str) and verdict.final and component in self._living:
            self._living[Pid(component)].add(verdict.property)
        if self._joined and any(value in self._joined for value in verdict.binding.values()):
            verdict = replace(verdict, remarks=(*verdict.remarks, JOINED))
        self._report(verdict)

    def join(self, component: Pid) -> None:
        """A component had begun before it was watched."""
        self._joined.add(component)

    def lose(self, components: Mapping[Pid, int]) -> None:
        """Events of these components were lost."""
        if self._feed is None:
            return
        if not self._per_component:
            self._feed, self.complete = None, False
            self._tell_incomplete({}, set(), sum(components.values()))
            return
        for component, count in components.items():
            if component not in self._lost:
                self._lost.add(component)
                decided = self._living.pop(component, None)
                if decided is not None:
                    self._feed.end(component)
                    self._tell_incomplete({COMPONENT: component}, decided, count)

    def _tell_incomplete(self, binding: Mapping[str, Pid], decided: set[str], count: int) -> None:
        some = f"{count:,} events" if count > 1 else "An event" if count else "Events"
        remark = f"Incomplete: {some[0].lower() + some[1:]} did not reach the monitor."
        for prop in self.spec.properties:
            if prop.name not in decided:
                self._report(
                    Verdict(
                        spec=self.spec.name,
                        property=prop.name,
                        category=INCONCLUSIVE,
                        truth=None,
                        final=True,
                        binding=dict(binding),
                        location=None,
                        time=None,
                        witness=(),
                        severity=Severity.WARNING,
                        remarks=(remark,),
                    )
                )


class Losses:
    """What was lost."""

    def __init__(self) -> None:
        self.lost = 0
        """How many events, as far as that is known."""
        self.incomplete: dict[Pid, None] = {}
        """The first components of which something was lost."""

    def count(self, components: Mapping[Pid, int]) -> None:
        """Events of these components were lost."""
        self.lost += sum(components.values())
        if len(self.incomplete) < _MOST_NAMED:
            self.incomplete.update(dict.fromkeys(components))


class Watch:
    """Takes what a collector reads, and gives it to the monitors of all specs."""

    def __init__(self, watched: Sequence[Watched], *, groups: bool = False) -> None:
        self._watched = watched
        self._dispatcher = Dispatcher(watched, groups=groups)
        self.losses = Losses()

    def post(self, occurrence: Occurrence) -> None:
        """Something happened."""
        self._dispatcher.post(occurrence)

    def join(self, init: Occurrence) -> None:
        """A component was there already."""
        for each in self._watched:
            each.join(init.subject)
        self._dispatcher.post(init)

    def lose(self, components: Mapping[Pid, int]) -> None:
        """Events were lost."""
        self.losses.count(components)
        for each in self._watched:
            each.lose(components)

    def finish(self) -> list[Orphan]:
        """Nothing more will come."""
        return self._dispatcher.finish()


class SharedWatch:
    """The same, where the work is shared with other processes: in the first of them."""

    def __init__(self, watched: Sequence[Watched], node: Node) -> None:
        self._everything = [each for each in watched if each.selects(None)]
        self._node = node
        self.losses = Losses()

    def post(self, occurrence: Occurrence) -> None:
        """Something happened."""
        for each in self._everything:
            each.event(occurrence.subject, occurrence)
            if occurrence.kind is Kind.EXIT:
                each.end(occurrence.subject)
        self._node.post(occurrence)

    def join(self, init: Occurrence) -> None:
        """A component was there already."""
        for each in self._everything:
            each.join(init.subject)
            each.event(init.subject, init)
        self._node.join(init)

    def lose(self, components: Mapping[Pid, int]) -> None:
        """Events were lost."""
        self.losses.count(components)
        for each in self._everything:
            each.lose(components)
        for component, count in components.items():
            self._node.lose(component, count)

    def finish(self) -> list[Orphan]:
        """Nothing more will come."""
        waiting = self._node.waiting()
        orphans = [Orphan(pid, len(events), events[0], "never forked") for pid, events in waiting.items()]
        self._node.finish()
        return orphans


class WatchedComponent:
    """A component, wherever its tracer is, as the specs see it that are about it."""

    def __init__(self, watched: Sequence[Watched], component: Pid, fork: Occurrence) -> None:
        function = cast(Function, fork.data)
        self._component = component
        self._watched = [each for each in watched if each.selects(function)]
        for each in self._watched:
            if fork.row == JOINED_ROW:
                each.join(component)
            each.start(component, function, fork._replace(row=None))

    def analyse(self, event: Occurrence) -> None:
        """Something happened."""
        for each in self._watched:
            if event.row == GAP_ROW:
                each.lose({self._component: cast(int, event.data)})
            else:
                each.event(self._component, event)

    def stop(self) -> None:
        """It is over."""
        for each in self._watched:
            each.end(self._component)
