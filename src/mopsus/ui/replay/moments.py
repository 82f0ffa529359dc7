"""How everything stood after a round of a recorded run, found without reading the whole run, which may be long."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from mopsus.decentral.simulate.recording import Fault, Found, Recording, Sent, Step

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Moment:
    """What is to be seen after a round; 0: before the first."""

    round: int
    observed: Mapping[str, Mapping[str, bool]]
    """By component, what it observed in this round."""
    steps: Mapping[str, Step]
    """By monitor, the last step that it took; none: it has not run yet."""
    flying: Sequence[Sent]
    """Messages that are on their way."""
    delivered: Sequence[Sent]
    """Messages that arrived in this round."""
    lost: Sequence[Sent]
    """Messages that were sent in this round and never arrive."""
    findings: Sequence[Found]
    """All verdicts that were reported until now."""
    down: frozenset[str]
    """Monitors that have crashed and not been restarted."""
    apart: frozenset[str]
    """Components that are cut off from the others."""

    @property
    def ran(self) -> frozenset[str]:
        """The monitors that ran in this round."""
        return frozenset(name for name, step in self.steps.items() if step.round == self.round)


class Moments:
    """The moments of a recording, each found when asked for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._sent = recording.messages
        self._longest = max(
            (each.delivered - each.sent for each in self._sent if each.delivered is not None), default=0
        )
        self._arriving = sorted((each for each in self._sent if each.delivered is not None), key=_arrival)
        self._steps: dict[str, list[Step]] = defaultdict(list)
        for step in recording.steps:
            self._steps[step.monitor].append(step)

    def at(self, number: int) -> Moment:
        """How everything stood after a round."""
        recording = self.recording
        return Moment(
            round=number,
            observed={each.component: each.values for each in _between(recording.observations, "time", number, number)},
            steps=self._latest(number),
            flying=[
                each
                for each in _between(self._sent, "sent", number - self._longest, number)
                if each.delivered is not None and each.delivered > number
            ],
            delivered=_between(self._arriving, "delivered", number, number),
            lost=[each for each in _between(self._sent, "sent", number, number) if each.delivered is None],
            findings=_between(recording.findings, "round", 0, number),
            down=_still(recording.faults, number, "crash", "restart"),
            apart=_still(recording.faults, number, "partition", "heal"),
        )

    def next_event(self, after: int) -> int:
        """The first round after this one in which a verdict is reported or a fault happens; else the last one."""
        events = [*(each.round for each in self.recording.findings), *(each.round for each in self.recording.faults)]
        return min((number for number in events if number > after), default=self.recording.rounds)

    def _latest(self, number: int) -> dict[str, Step]:
        found: dict[str, Step] = {}
        for name, steps in self._steps.items():
            if count := bisect_right(steps, number, key=attrgetter("round")):
                found[name] = steps[count - 1]
        return found


def _arrival(message: Sent) -> int:
    assert message.delivered is not None
    return message.delivered


def _between(items: Sequence[T], key: str, first: int, last: int) -> Sequence[T]:
    """The items, which are in the order of a field, in which it is from `first` to `last`."""
    value = attrgetter(key)
    return items[bisect_left(items, first, key=value) : bisect_right(items, last, key=value)]


def _still(faults: Sequence[Fault], number: int, begins: str, ends: str) -> frozenset[str]:
    """Whom a fault has befallen that is not over."""
    who: set[str] = set()
    for fault in faults:
        if fault.round > number:
            break
        if fault.kind == begins:
            who.update(fault.who)
        elif fault.kind == ends:
            who.difference_update(fault.who)
    return frozenset(who)
