"""The named points of a run at which measures can look, and who looks.

What everyone wants to know is counted by the core. Points are for all else: nothing is called at a point that no
listener has a method of its own for, so that a run which nobody listens to costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from mopsus.decentral.algorithms.algorithm import Part, Task
    from mopsus.decentral.simulate.run import Outcome

Value: TypeAlias = "int | float | str | bool | None"
"""What a measure can be: one field of a database."""


class Listener:
    """Has a method for each point, which does nothing. Monitors are told by the names of their parts."""

    def run_start(self, algorithm: str, parts: Sequence[Part], task: Task) -> None:
        """A run begins: all monitors are set up, none has been run."""

    def round(self, time: int) -> None:
        """A round begins; the first is 1."""

    def step(self, time: int, monitor: str) -> None:
        """A monitor has something to do in this round, and is about to be run."""

    def send(self, time: int, source: str, target: str, kind: str, data: int, size: int) -> None:
        """A message is sent; `kind` is its class, `data` its size by the model, `size` its bytes."""

    def deliver(self, time: int, source: str, target: str, kind: str) -> None:
        """A message arrives."""

    def resolve(self, time: int, monitor: str, before: int, resolved: int) -> None:
        """A monitor knows the state at a later timestamp than before."""

    def verdict(self, time: int, monitor: str, timestamp: int, value: bool) -> None:
        """A monitor has found a verdict for a timestamp."""

    def run_end(self, outcome: Outcome) -> None:
        """The run has ended."""

    def values(self) -> dict[str, Value]:
        """What it has measured, asked for when the run has ended."""
        return {}


POINTS = ("run_start", "round", "step", "send", "deliver", "resolve", "verdict", "run_end")


class Points:
    """Who is called at each point, in the order in which listeners were given."""

    def __init__(self, listeners: Iterable[Listener] = ()) -> None:
        self.listeners = tuple(listeners)
        self._handlers = {point: self._joined(point) for point in POINTS}

    def handler(self, point: str) -> Callable[..., None] | None:
        """What must be called at a point, with the arguments of the method of that name; None: nobody listens."""
        return self._handlers[point]

    def values(self) -> dict[str, Value]:
        """What all listeners have measured."""
        return {key: value for each in self.listeners for key, value in each.values().items()}

    def _joined(self, point: str) -> Callable[..., None] | None:
        ignored = getattr(Listener, point)
        methods = [getattr(each, point) for each in self.listeners if getattr(type(each), point) is not ignored]
        if len(methods) < 2:
            return methods[0] if methods else None

        def call_all(*arguments: object) -> None:
            for method in methods:
                method(*arguments)

        return call_all
