"""What a verdict of monitors that refer to each other follows from: observations, and verdicts that have reasons too.

Such monitors keep nothing of what led to a verdict. But a run can be repeated, and then it is written down what each of
them knew, and since which round. What a monitor has told another one follows from what it knew in an earlier round, so
reasons never go round in a circle.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.core import compiled
from mopsus.decentral.simulate.feed import Feed
from mopsus.decentral.simulate.network import Network

MOST_STEPS = 200_000
"""Reasons of verdicts beyond those that so many steps of automata have found are not looked for."""


@dataclass(slots=True)
class Knowledge:
    """What a monitor was told and has seen."""

    part: Part
    atoms: dict[tuple[int, int], tuple[int, bool]] = field(default_factory=dict)
    """By timestamp and input: the round, and the value."""
    moves: set[int] = field(default_factory=set)
    """The timestamps at which it takes a step."""

    def learn(self, round_: int, time: int, put: int, value: bool) -> None:
        """Whatever comes again was known before."""
        self.atoms.setdefault((time, put), (round_, value))


class Notes:
    """Writes down what monitors know in a run that is repeated."""

    def __init__(self, parts: Sequence[Part], feed: Feed, network: Network) -> None:
        self.known = [Knowledge(part) for part in parts]
        crashed = {(crash.monitor, round_) for crash in network.crashes for round_ in range(crash.start, crash.end)}
        residents: dict[str, list[Knowledge]] = {}
        for each in self.known:
            residents.setdefault(each.part.place, []).append(each)
        for time, component, event in feed.values():
            for each in residents.get(component, ()):
                if (each.part.name, time) not in crashed:
                    self._observe(each, time, event)
        for each in self.known:
            if each.part.settings.get("relay"):
                each.moves.update(range(1, feed.length + 1))

    def _observe(self, known: Knowledge, time: int, event: Mapping[str, bool]) -> None:
        if event:
            known.moves.add(time)
        for put, name in enumerate(known.part.inputs):
            if name in event:
                known.learn(time, time, put, event[name])

    def delivered(self, round_: int, source: int, target: int, content: _core.Content) -> None:
        """A message has arrived."""
        if not isinstance(content, _core.Verdict):
            return
        known, teller = self.known[target], self.known[source].part.name
        for name, told_by in known.part.settings["references"].items():
            if told_by == teller:
                put = known.part.inputs.index(name)
                for time in range(content.first, content.last + 1):
                    known.learn(round_, time, put, content.value)


class Witness:
    """Finds what verdicts follow from."""

    def __init__(self, known: Iterable[Knowledge]) -> None:
        self._known = {each.part.name: each for each in known}
        self._steps = 0

    def reasons(self, name: str, start: int) -> list[tuple[Part, int, int, bool]]:
        """Inputs of monitors at timestamps: those from which the verdict of a monitor follows that is started at a
        timestamp, those from which the verdicts among them follow, and so on."""
        found: dict[tuple[str, int, int], bool] = {}
        looked_at: set[tuple[str, int]] = set()
        open_ = [(name, start)]
        while open_:
            monitor, begin = open_.pop()
            if (monitor, begin) in looked_at or self._steps > MOST_STEPS:
                continue
            looked_at.add((monitor, begin))
            part = self._known[monitor].part
            for time, put, value in self._follows_from(self._known[monitor], begin):
                found[monitor, time, put] = value
                if teller := part.settings["references"].get(part.inputs[put]):
                    open_.append((teller, time))
        return [(self._known[monitor].part, time, put, value) for (monitor, time, put), value in found.items()]

    def _follows_from(self, known: Knowledge, start: int) -> list[tuple[int, int, bool]]:
        """What was known when the verdict could first be found."""
        times = sorted(time for time in known.moves if time >= start)
        rounds = sorted({round_ for (time, _), (round_, _) in known.atoms.items() if time >= start})
        first = bisect_left(rounds, True, key=lambda round_: self._concluded(known, times, round_) is not None)
        if first == len(rounds):
            return []
        ehe = self._concluded(known, times, rounds[first])
        return [] if ehe is None else [(times[at - 1], put, value) for at, put, value in ehe.reasons(ehe.end)]

    def _concluded(self, known: Knowledge, times: Sequence[int], until: int) -> _core.Ehe | None:
        """The encoding at the end of which there is a verdict, from what was known up to a round."""
        if known.part.automaton is None:
            return None
        ehe = _core.Ehe(compiled(known.part.automaton))
        for at, time in enumerate(times, 1):
            self._steps += 1
            ehe.tick()
            for put in range(len(known.part.inputs)):
                round_, value = known.atoms.get((time, put), (until + 1, False))
                if round_ <= until:
                    ehe.learn(at, put, value)
            if ehe.verdict(at) is not None:
                return ehe
        return None
