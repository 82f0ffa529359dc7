"""What an algorithm is: it sets up a network of monitors, and may say itself what they do.

A *part* describes one monitor as plain data, so that it can be built from it anywhere: in the simulator, or on a host
far away. Most kinds of monitors run in the core. An algorithm of kind `python` has a `step` of its own, which is called
for each of its parts with what that part knows (`Me`) and what is new (`Turn`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import msgspec

from mopsus import _core
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.core import compiled
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.specification import Monitor, Specification
from mopsus.decentral.system import System
from mopsus.logics.text import suggestion

Option: TypeAlias = "str | int | float | bool"

PYTHON = "python"
"""The kind of parts whose algorithm says what they do."""


class AlgorithmError(DecentralError):
    """An algorithm is not known, cannot be used for a specification, or has set up a network that makes no sense."""

    code = "DECENTRAL-051"


@dataclass(frozen=True, slots=True)
class Task:
    """What an algorithm sets up: monitors of a specification on a system."""

    specification: Specification
    system: System
    options: Mapping[str, Option] = field(default_factory=dict)

    def whole(self) -> Monitor:
        """The monitor of a specification that no reference divides. `DecentralError` if there is none, or if nobody
        observes what it reads."""
        monitor = self.specification.monitors[self.specification.root]
        if monitor.references:
            raise AlgorithmError(
                f"the algorithm monitors one formula, but '{monitor.id}' refers to other monitors",
                hint="the algorithm 'general' runs monitors that refer to each other",
                place=monitor.span,
            )
        for name in monitor.automaton.inputs:
            if name not in self.system.owners:
                raise DecentralError(
                    f"monitor '{monitor.id}' reads '{name}', which no component observes",
                    hint=suggestion(name, self.system.owners),
                    code="DECENTRAL-022",
                    place=monitor.span,
                )
        return monitor


class Part(msgspec.Struct, frozen=True):
    """One monitor of a network, before it runs."""

    name: str
    """Its address."""
    place: str
    """Its component."""
    kind: str
    """What it is built to be: see `build.py`."""
    automaton: Automaton | None = None
    inputs: tuple[str, ...] = ()
    """What observations that it makes or is told are about, by number; those of its automaton come first."""
    peers: tuple[str, ...] = ()
    """The parts that it sends to or hears from, by number."""
    settings: dict[str, Any] = {}
    """What its kind needs."""


class Me:
    """What a monitor written in Python has: its part, and what it remembers from turn to turn."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.state: dict[str, Any] = {}
        self.memory = _core.Memory()
        self._ehe: _core.Ehe | None = None
        self._resolutions: list[tuple[int, int]] = []
        self._dropped = 0

    @property
    def ehe(self) -> _core.Ehe:
        """An encoding of its automaton, of which nothing is known at first."""
        if self._ehe is None:
            if self.part.automaton is None:
                raise AlgorithmError(f"part '{self.part.name}' has no automaton to have an encoding of")
            self._ehe = _core.Ehe(compiled(self.part.automaton))
        return self._ehe

    @property
    def encoding(self) -> _core.Ehe | None:
        """The encoding, if it has been used."""
        return self._ehe

    def conclude(self, time: int) -> tuple[bool, int] | None:
        """Move what is in `memory` to the encoding, and look at it up to a timestamp: the verdict that follows, and the
        timestamp since which it is known; None: not yet. Then everything before the last known state is forgotten."""
        ehe = self.ehe
        inputs = 0 if self.part.automaton is None else len(self.part.automaton.inputs)
        known = [each for each in self.memory.observations() if each[0] > ehe.start and each[1] < inputs]
        self.memory.clear()
        for _ in range(ehe.end, max([time, *(at for at, _, _ in known)])):
            ehe.tick()
        for observation in known:
            ehe.learn(*observation)
        while (verdict := ehe.verdict(ehe.resolved)) is None:
            before = ehe.resolved
            if not ehe.resolve():
                self._dropped += ehe.drop_resolved()
                return None
            self._resolutions.append((before, ehe.resolved))
        return verdict, ehe.resolved

    def concluded(self) -> tuple[list[tuple[int, int]], int]:
        """What `conclude` has done since this was asked last: states that became known, each with the one before, and
        timestamps that were forgotten."""
        done = (self._resolutions, self._dropped)
        self._resolutions, self._dropped = [], 0
        return done


@dataclass(slots=True)
class Turn:
    """What is new to a monitor, and what it does about it."""

    time: int
    """The last timestamp that there are observations of."""
    seen: _core.Memory
    """What its component has observed since its last turn of what is in `Part.inputs`, where inputs have numbers."""
    inbox: Sequence[tuple[str, Any]]
    """Who sent what: plain data, or what the core's monitors send."""
    outbox: list[tuple[str, Any]] = field(default_factory=list)
    finding: tuple[int, bool] | None = None
    stops: bool = False

    def send(self, to: str, payload: object) -> None:
        """Send plain data, a `Memory` or an `Ehe` to another part."""
        self.outbox.append((to, payload))

    def found(self, verdict: bool, time: int) -> None:
        """The verdict of the specification, which is known since a timestamp."""
        self.finding = (time, verdict)

    def abort(self) -> None:
        """All monitors are done."""
        self.stops = True


class Algorithm(ABC):
    """How monitors come to one verdict. One that only uses kinds of the core has no `step`."""

    defaults: ClassVar[Mapping[str, Option]] = {}
    """The options that it takes, with what they are if nobody says otherwise."""

    @abstractmethod
    def setup(self, task: Task) -> Sequence[Part]:
        """The network of monitors, in the order in which they take their turns in a round."""

    def step(self, me: Me, turn: Turn) -> None:
        """A turn of a part of kind `python`."""
        raise AlgorithmError(f"part '{me.part.name}' is written in Python, but its algorithm has no step")


def set_up(algorithm: Algorithm, task: Task) -> tuple[Part, ...]:
    """The network that an algorithm makes of a task. `AlgorithmError` if it takes no such options, or the network makes
    no sense."""
    for name in task.options:
        if name not in algorithm.defaults:
            raise AlgorithmError(
                f"the algorithm has no option '{name}'",
                hint=suggestion(name, algorithm.defaults)
                or f"there is: {', '.join(algorithm.defaults) or 'none at all'}",
                code="DECENTRAL-052",
            )
    parts = tuple(algorithm.setup(replace(task, options={**algorithm.defaults, **task.options})))
    names = tuple(part.name for part in parts)
    # What a Python algorithm says nothing about: it may talk to everyone.
    parts = tuple(
        msgspec.structs.replace(part, peers=names) if part.kind == PYTHON and not part.peers else part for part in parts
    )
    check_network(parts, task.system)
    return parts


def check_network(parts: Sequence[Part], system: System) -> None:
    """`AlgorithmError` unless parts are told apart by name, are on components, and know their peers."""
    by_name = {part.name: part for part in parts}
    if len(by_name) != len(parts) or not parts:
        raise AlgorithmError("a network has monitors, and no two of one name")
    for part in parts:
        system.check(part.place, f"part '{part.name}'")
        if part.automaton is not None and part.inputs[: len(part.automaton.inputs)] != part.automaton.inputs:
            raise AlgorithmError(f"the inputs of part '{part.name}' do not begin with those of its automaton")
        for peer in part.peers:
            if peer not in by_name or part.name not in by_name[peer].peers:
                raise AlgorithmError(f"part '{part.name}' talks to '{peer}', which does not know it")
