"""Passes on what happens in a run to those who want to know: measures at their points, and the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.measures.points import Points
from mopsus.decentral.simulate.record import Recorder

Handler: TypeAlias = "Callable[..., None] | None"


class Listening:
    """Has a function for each thing that the core tells; the core is given only those that somebody needs."""

    def __init__(self, parts: Sequence[Part], points: Points | None, recorder: Recorder | None) -> None:
        self._names = [part.name for part in parts]
        self._recorder = recorder
        self._points = {
            point: handler
            for point in ("round", "step", "send", "deliver", "resolve", "verdict")
            if points is not None and (handler := points.handler(point)) is not None
        }

    def calls(self) -> tuple[Handler, Handler, Handler, Handler]:
        """What the core calls when a round begins, a monitor has had its turn, a message is sent, and one arrives."""
        recorded = self._recorder is not None
        return (
            self._points.get("round"),
            self._stepped if recorded or self._points.keys() & {"step", "resolve", "verdict"} else None,
            self._sent if recorded or "send" in self._points else None,
            self._delivered if "deliver" in self._points else None,
        )

    def _stepped(self, round_: int, monitor: int, step: _core.Step) -> None:
        name = self._names[monitor]
        self._call("step", round_, name)
        for before, known in step.resolutions:
            self._call("resolve", round_, name, before, known)
        if step.finding is not None:
            self._call("verdict", round_, name, *step.finding)
        if self._recorder is not None:
            self._recorder.stepped(round_, monitor, step)

    def _sent(
        self, round_: int, source: int, target: int, content: _core.Content, data: int, size: int, arrivals: list[int]
    ) -> None:
        kind = _core.message_kind(content)
        self._call("send", round_, self._names[source], self._names[target], kind, data, size)
        if self._recorder is not None:
            self._recorder.sent(round_, source, target, content, data, size, arrivals)

    def _delivered(self, round_: int, source: int, target: int, content: _core.Content) -> None:
        self._call("deliver", round_, self._names[source], self._names[target], _core.message_kind(content))

    def _call(self, point: str, *arguments: object) -> None:
        if point in self._points:
            self._points[point](*arguments)
