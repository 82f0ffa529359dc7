"""What a verdict of monitors that refer to each other follows from: observations, and verdicts that have reasons too.

Such monitors keep nothing of what led to a verdict. But a run can be repeated, and then it is written down what each of
them knew, and since which round. What a monitor has told another one follows from what it knew in an earlier round, so
reasons never go round in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.algorithms.pauses import moves
from mopsus.decentral.core import compiled
from mopsus.decentral.simulate.feed import Feed
from mopsus.decentral.simulate.network import Network

MOST_STEPS = 1_000_000
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
    """Writes down what monitors are told in a run that is repeated, and says what they knew."""

    def __init__(self, parts: Sequence[Part], feed: Feed, network: Network, until: int) -> None:
        self._parts = parts
        self._numbers = {part.name: number for number, part in enumerate(parts)}
        self._feed = feed
        self._network = network
        self.until = until
        self._told: dict[tuple[int, int], list[tuple[int, _core.Verdict]]] = {}

    def delivered(self, round_: int, source: int, target: int, content: _core.Content) -> None:
        """A message has arrived."""
        if isinstance(content, _core.Verdict):
            self._told.setdefault((source, target), []).append((round_, content))

    def known(self, name: str) -> Knowledge:
        """What a monitor has seen and was told."""
        part = self._parts[self._numbers[name]]
        known = Knowledge(part)
        down = [crash for crash in self._network.crashes if crash.monitor == name]
        numbers = {input_: number for number, input_ in enumerate(part.inputs)}
        for time, event in self._feed.values(part.place, self.until):
            if event or not part.settings["stutters"]:
                known.moves.add(time)
            if not any(crash.start <= time < crash.end for crash in down):
                for input_ in numbers.keys() & event.keys():
                    known.learn(time, time, numbers[input_], event[input_])
                if (moved := moves(part.place)) in numbers:
                    known.learn(time, time, numbers[moved], bool(event))
        for input_, teller in part.settings["references"].items():
            for round_, verdict in self._told.get((self._numbers[teller], self._numbers[name]), ()):
                for time in range(verdict.first, min(verdict.last, self.until) + 1):
                    known.learn(round_, time, numbers[input_], verdict.value)
        return known


class Witness:
    """Finds what verdicts follow from."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._known: dict[str, Knowledge] = {}
        self._steps = 0

    def reasons(self, name: str, start: int, until: int) -> list[tuple[Part, int, int, bool]]:
        """Inputs of monitors at timestamps: those from which the verdict of a monitor follows that was started at a
        timestamp and found it up to a round, those from which the verdicts among them follow, and so on."""
        found: dict[tuple[str, int, int], bool] = {}
        looked_at: set[tuple[str, int, int]] = set()
        open_ = [(name, start, until)]
        while open_ and self._steps < MOST_STEPS:
            asked = open_.pop()
            if asked in looked_at:
                continue
            looked_at.add(asked)
            monitor, begin, last = asked
            if monitor not in self._known:
                self._known[monitor] = self._notes.known(monitor)
            known = self._known[monitor]
            for time, put, value in self._follows_from(known, begin, last):
                found[monitor, time, put] = value
                if teller := known.part.settings["references"].get(known.part.inputs[put]):
                    open_.append((teller, time, known.atoms[time, put][0] - 1))
        return [(self._known[monitor].part, time, put, value) for (monitor, time, put), value in found.items()]

    def _follows_from(self, known: Knowledge, start: int, until: int) -> list[tuple[int, int, bool]]:
        times = sorted(time for time in known.moves if start <= time <= until)
        ehe = self._concluded(known, times, until)
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
                atom = known.atoms.get((time, put))
                if atom is not None and atom[0] <= until:
                    ehe.learn(at, put, atom[1])
            if ehe.verdict(at) is not None:
                return ehe
        return None
