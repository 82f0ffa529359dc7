"""How the interpreter tells what a program does. There are two ways, by its version; each is one class."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any

from mopsus._core import Gate
from mopsus.interactive.python.arrivals import Arrivals
from mopsus.interactive.python.atlas import Spot
from mopsus.interactive.python.straight import DetourError, Straight
from mopsus.model import Place

Trace = Callable[[FrameType, str, Any], Any]
"""A trace function as `sys.settrace` takes it."""


class Sensor(ABC):
    """Tells `Arrivals` what happens in code that has a wish, in all threads."""

    def __init__(self, arrivals: Arrivals, gate: Gate) -> None:
        """The gate is what the interpreter calls first."""
        self.arrivals, self.gate = arrivals, gate
        self.detours: dict[Place, str] = {}
        """Of places that the core might be fed with: why it is not."""
        self.displaced = False
        """Was there a time when the interpreter told somebody else, as the program wanted?"""
        arrivals.recall = gate.recall
        arrivals.bound = lambda: self.update(arrivals.atlas.bound())

    def feed(self, spot: Spot) -> None:
        """Let the core send the events of some code, if it can."""
        places = [*spot.before, *spot.after]
        try:
            if places:
                self.gate.feed(spot.code, *self.straight(spot))
            else:
                self.gate.starve(spot.code)
        except DetourError as error:
            self.gate.starve(spot.code)
            self.detours.update(dict.fromkeys(places, str(error)))
        else:
            for place in places:
                self.detours.pop(place, None)

    def straight(self, spot: Spot) -> tuple[list[Straight], list[Straight]]:
        """See `Arrivals.straight`."""
        return self.arrivals.straight(spot)

    @abstractmethod
    def start(self) -> None:
        """From now on, meet the code that runs."""

    @abstractmethod
    def stop(self) -> None:
        """Let the program run as if nothing had ever been."""

    @abstractmethod
    def update(self, spots: Collection[Spot]) -> None:
        """What is wanted of this code has changed."""

    @abstractmethod
    def watch_exceptions(self, wanted: bool) -> None:
        """Tell of every exception."""

    @abstractmethod
    def trace(self, function: Trace | None, frame: FrameType) -> None:
        """Let a trace function see every line of this thread from this frame on, to make steps; None: no more."""


def make_sensor(arrivals: Arrivals, settle: Callable[[FrameType], object]) -> Sensor:
    """The best one that this interpreter has."""
    if sys.version_info >= (3, 12):
        from mopsus.interactive.python.monitoring import Monitoring

        return Monitoring(arrivals, settle)
    from mopsus.interactive.python.tracing import Tracing

    return Tracing(arrivals, settle)
