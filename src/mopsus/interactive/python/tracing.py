"""The program seen through `sys.settrace`, which tells of every call, and of every line where it is asked to."""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from types import CodeType, FrameType
from typing import Any

from mopsus.interactive.python.arrivals import Arrivals
from mopsus.interactive.python.atlas import Spot
from mopsus.interactive.python.sensor import Sensor, Trace

_YIELDS = frozenset({"YIELD_VALUE", "SEND", "RESUME"})


class Tracing(Sensor):
    """For Python 3.11."""

    def __init__(self, arrivals: Arrivals) -> None:
        super().__init__(arrivals)
        self._exceptions = False
        self._step: Trace | None = None
        self._stepping: int | None = None
        """The thread that makes steps."""

    def start(self) -> None:
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)
        for frame in _frames():
            frame.f_trace = None

    def update(self, spots: Iterable[Spot]) -> None:
        codes = {spot.code for spot in spots if self._wants(spot)}
        if codes:
            for frame in _frames():
                if frame.f_code in codes:
                    self._follow(frame)

    def watch_exceptions(self, wanted: bool) -> None:
        self._exceptions = wanted
        if wanted:
            for frame in _frames():
                self._follow(frame)

    def trace(self, function: Trace | None, frame: FrameType) -> None:
        self._step, self._stepping = function, threading.get_ident()
        at: FrameType | None = frame
        while at is not None and function is not None:
            self._follow(at)
            at = at.f_back

    # ---- called by the interpreter

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401 - what it is, the event says
        """A function is entered, or a generator goes on: is there anything to be told of it?"""
        code = frame.f_code
        atlas = self.arrivals.atlas
        stepping = self._is_stepping()
        spot = atlas[code] if code in atlas else self.arrivals.met(frame)
        if spot is None or not (self._wants(spot) or self._is_stepping()):
            return None
        if _bytes(frame.f_code)[frame.f_lasti + 1] == 0:  # RESUME 0: not after a yield
            self.arrivals.started(frame, spot)
        if stepping:
            self._pass_on(frame, event, arg)
        return self._follow(frame)

    def _local(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401 - what it is, the event says
        spot = self.arrivals.atlas[frame.f_code]
        if spot is None:
            return None
        match event:
            case "line":
                self.arrivals.line(frame, spot, frame.f_lineno)
            case "opcode":
                self.arrivals.instruction(frame, spot, frame.f_lasti)
            case "return":
                self._returned(frame, spot, arg)
            case "exception":
                if self._exceptions and isinstance(arg[1], BaseException):
                    self.arrivals.raised(frame, arg[1], arg[2])
        if self._is_stepping():
            self._pass_on(frame, event, arg)
        return self._local

    def _returned(self, frame: FrameType, spot: Spot, result: object) -> None:
        instruction = dis.opname[_bytes(frame.f_code)[frame.f_lasti]]
        if instruction == "RETURN_VALUE":
            self.arrivals.returned(frame, spot, result)
        elif instruction not in _YIELDS:
            self.arrivals.unwound(frame)

    def _wants(self, spot: Spot) -> bool:
        return bool(self._exceptions or spot.before or spot.after or spot.wants_lines or spot.accesses)

    def _follow(self, frame: FrameType) -> Trace:
        spot = self.arrivals.atlas[frame.f_code]
        frame.f_trace = self._local
        frame.f_trace_opcodes = bool(spot is not None and spot.accesses)
        return self._local

    def _is_stepping(self) -> bool:
        return self._step is not None and self._stepping == threading.get_ident()

    def _pass_on(self, frame: FrameType, event: str, arg: object) -> None:
        if self._step is not None and event != "opcode":
            self._step(frame, event, arg)


@cache
def _bytes(code: CodeType) -> bytes:
    """The instructions of some code, which the interpreter puts together anew whenever it is asked."""
    return code.co_code


def _frames() -> Iterator[FrameType]:
    """Every frame of every thread."""
    for frame in sys._current_frames().values():
        at: FrameType | None = frame
        while at is not None:
            yield at
            at = at.f_back
