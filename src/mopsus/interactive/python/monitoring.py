"""The program seen through `sys.monitoring`, which tells of the code that was asked for, and of no other.

Two tools are needed. One sees every code object start, once: when that has been met, the interpreter tells the tool of
it no more. What a tool has given up like this it cannot ask for again, so points belong to the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from types import CodeType, FrameType
from typing import Any

from mopsus._core import Gate
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.python.arrivals import Arrivals
from mopsus.interactive.python.atlas import Spot
from mopsus.interactive.python.sensor import Sensor, Trace

_TOOLS = (0, 3, 4, 2, 5)
"""In the order of preference: the first is meant for debuggers."""

_monitoring: Any = getattr(sys, "monitoring", None)


class Monitoring(Sensor):
    """For Python 3.12 and later."""

    def __init__(self, arrivals: Arrivals, settle: Callable[[FrameType], object]) -> None:
        """`settle` is called in the frame where an event that the core has sent wants the program to stop."""
        super().__init__(arrivals, Gate(self._started, self._returned, self._unwound, settle, settle))
        self._tools: list[int] = []
        self._everywhere = 0

    def start(self) -> None:
        free = [tool for tool in _TOOLS if _monitoring.get_tool(tool) is None]
        if len(free) < 2:
            hint = "run it without coverage, profilers and other debuggers"
            raise DebuggerError("other tools have taken all that sys.monitoring has", hint=hint)
        self._tools = free[:2]
        for tool, name in zip(self._tools, ("mopsus debug", "mopsus debug, first sight"), strict=True):
            _monitoring.use_tool_id(tool, name)
        events = _monitoring.events
        points, sight = self._tools
        for event, callback in (
            (events.PY_START, self.gate.started),
            (events.PY_RETURN, self.gate.returned),
            (events.LINE, self._line),
            (events.INSTRUCTION, self._instruction),
            (events.RAISE, self._raised),
            (events.PY_UNWIND, self.gate.unwound),
        ):
            _monitoring.register_callback(points, event, callback)
        _monitoring.register_callback(sight, events.PY_START, self._met)
        _monitoring.set_events(sight, events.PY_START)

    def stop(self) -> None:
        for tool in self._tools:
            _monitoring.set_events(tool, 0)
        if self._tools:
            for spot in self.arrivals.atlas:
                _monitoring.set_local_events(self._tools[0], spot.code, 0)
        for tool in self._tools:
            _monitoring.free_tool_id(tool)
        self._tools = []

    def update(self, spots: Collection[Spot]) -> None:
        if not self._tools:
            return
        events = _monitoring.events
        for spot in spots:
            self.feed(spot)
            wanted = 0
            if spot.before or spot.after:
                wanted |= events.PY_START
            if spot.after or spot.updates:
                wanted |= events.PY_RETURN
                self._listen(events.PY_UNWIND, True)
            if spot.wants_lines:
                wanted |= events.LINE
            if spot.wants_instructions:
                wanted |= events.INSTRUCTION
            if wanted != _monitoring.get_local_events(self._tools[0], spot.code):
                _monitoring.set_local_events(self._tools[0], spot.code, wanted)

    def watch_exceptions(self, wanted: bool) -> None:
        self._listen(_monitoring.events.RAISE, wanted)

    def trace(self, function: Trace | None, frame: FrameType) -> None:
        if function is None:
            sys.settrace(None)
            return
        at: FrameType | None = frame
        while at is not None:
            at.f_trace = function
            at.f_trace_lines = True
            at = at.f_back
        sys.settrace(function)

    def _listen(self, event: int, wanted: bool) -> None:
        everywhere = self._everywhere | event if wanted else self._everywhere & ~event
        if everywhere != self._everywhere and self._tools:
            self._everywhere = everywhere
            _monitoring.set_events(self._tools[0], everywhere)

    # ---- called by the interpreter

    def _met(self, code: CodeType, offset: int) -> object:
        atlas = self.arrivals.atlas
        if code not in atlas:
            frame = sys._getframe(1)
            spot = self.arrivals.met(frame)
            if spot is not None:
                self.update((spot,))
                # The other tool is told from the next call on.
                if spot.before or spot.after:
                    self.arrivals.started(frame, spot)
        return _monitoring.DISABLE

    def _started(self, code: CodeType, offset: int) -> None:
        spot = self.arrivals.atlas[code]
        if spot is not None:
            self.arrivals.started(sys._getframe(1), spot)

    def _returned(self, code: CodeType, offset: int, result: object) -> None:
        spot = self.arrivals.atlas[code]
        if spot is not None:
            self.arrivals.returned(sys._getframe(1), spot, result)

    def _line(self, code: CodeType, line: int) -> None:
        spot = self.arrivals.atlas[code]
        if spot is not None:
            self.arrivals.line(sys._getframe(1), spot, line)

    def _instruction(self, code: CodeType, offset: int) -> None:
        spot = self.arrivals.atlas[code]
        if spot is not None:
            self.arrivals.instruction(sys._getframe(1), spot, offset)

    def _raised(self, code: CodeType, offset: int, error: BaseException) -> None:
        self.arrivals.raised(sys._getframe(1), error, error.__traceback__)

    def _unwound(self, code: CodeType, offset: int, error: BaseException) -> None:
        self.arrivals.unwound(sys._getframe(1))
