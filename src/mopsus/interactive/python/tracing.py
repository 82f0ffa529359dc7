"""The program seen through `sys.settrace`, which tells of every call, and of every line where it is asked to."""

from __future__ import annotations

import dis
import sys
import threading
from bdb import GENERATOR_AND_COROUTINE_FLAGS
from collections.abc import Callable, Collection
from functools import cache
from types import CodeType, FrameType
from typing import Any

from mopsus._core import Gate
from mopsus.interactive.python.arrivals import Arrivals, all_frames
from mopsus.interactive.python.atlas import Spot
from mopsus.interactive.python.sensor import Sensor, Trace
from mopsus.interactive.python.straight import DetourError, Straight

_YIELDS = frozenset({"YIELD_VALUE", "SEND", "RESUME"})


class Tracing(Sensor):
    """For Python 3.11."""

    def __init__(self, arrivals: Arrivals, settle: Callable[[FrameType], object]) -> None:
        """`settle` is called in the frame where an event that the core has sent wants the program to stop."""
        super().__init__(arrivals, Gate(settle, settle, settle, self._traced, settle))
        self._exceptions = False
        self._step: Trace | None = None
        self._stepping: int | None = None
        """The thread that makes steps."""
        self._settrace = sys.settrace

    def start(self) -> None:
        threading.settrace(self._begin_thread)
        sys.settrace = self._replace
        self.gate.install()

    def stop(self) -> None:
        if sys.settrace == self._replace:
            found: object = sys.gettrace()
            self.displaced |= found is not self.gate  # code in C has its own ways
            sys.settrace = self._settrace
        self.gate.uninstall()
        threading.settrace(None)
        for frame in all_frames():
            frame.f_trace = None

    def update(self, spots: Collection[Spot]) -> None:
        codes = {spot.code for spot in spots if self._wants(spot)}
        for spot in spots:
            self.feed(spot)
        for code in codes:
            self.gate.ignore(code, False)
        if codes:
            for frame in all_frames():
                if frame.f_code in codes:
                    self._follow(frame)

    def straight(self, spot: Spot) -> tuple[list[Straight], list[Straight]]:
        if spot.code.co_flags & GENERATOR_AND_COROUTINE_FLAGS:
            raise DetourError("it is a generator, whose every step is a call to Python 3.11")
        return super().straight(spot)

    def watch_exceptions(self, wanted: bool) -> None:
        self._exceptions = wanted
        if wanted:
            for spot in self.arrivals.atlas:
                self.gate.ignore(spot.code, False)
            for frame in all_frames():
                self._follow(frame)

    def trace(self, function: Trace | None, frame: FrameType) -> None:
        self._step, self._stepping = function, threading.get_ident()
        self.gate.stepping = function is not None
        at: FrameType | None = frame
        while at is not None and function is not None:
            self._follow(at)
            at = at.f_back

    # ---- called by the program

    def _replace(self, function: Any) -> None:  # noqa: ANN401 - the interpreter takes anything
        """In the place of `sys.settrace`: a thread has one trace function. A program that wants none, or the one that
        was there, keeps ours; one that has a function of its own has its way."""
        if function is None or function is self.gate:
            self.gate.install()
            return
        self.displaced |= function != self._begin_thread
        self._settrace(function)

    # ---- called by the interpreter

    def _begin_thread(self, frame: FrameType, event: str, arg: object) -> None:
        self.gate.install()
        self._traced(frame, event, arg, False)

    def _traced(self, frame: FrameType, event: str, arg: Any, done: bool) -> None:  # noqa: ANN401 - the event says
        """Something happens that the core does not know what to do with, or, if that is `done`, that a step ends at."""
        step = self._step if self._stepping == threading.get_ident() and event != "opcode" else None
        if event == "call":
            self._called(frame, done)
        elif frame.f_trace is None:
            return
        elif not done:
            self._told(frame, event, arg)
        if step is not None and self._step is step:
            step(frame, event, arg)

    def _called(self, frame: FrameType, done: bool) -> None:
        """A function is entered, or a generator goes on: is there anything to be told of it?"""
        code = frame.f_code
        atlas = self.arrivals.atlas
        if code not in atlas and (new := self.arrivals.met(frame)) is not None:
            self.feed(new)
        spot = atlas[code]
        if spot is None or not (self._wants(spot) or self.gate.stepping):
            self.gate.ignore(code, True)
            return
        if not done and _bytes(code)[frame.f_lasti + 1] == 0:  # RESUME 0: not after a yield
            self.arrivals.started(frame, spot)
        self._follow(frame)

    def _told(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401 - the event says
        spot = self.arrivals.atlas[frame.f_code]
        if spot is None:
            return
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

    def _returned(self, frame: FrameType, spot: Spot, result: object) -> None:
        instruction = dis.opname[_bytes(frame.f_code)[frame.f_lasti]]
        if instruction == "RETURN_VALUE":
            self.arrivals.returned(frame, spot, result)
        elif instruction not in _YIELDS:
            self.arrivals.unwound(frame)

    def _wants(self, spot: Spot) -> bool:
        return bool(self._exceptions or spot.before or spot.after or spot.wants_lines or spot.wants_instructions)

    def _follow(self, frame: FrameType) -> None:
        spot = self.arrivals.atlas[frame.f_code]
        frame.f_trace = _marked
        frame.f_trace_lines = True
        frame.f_trace_opcodes = bool(spot is not None and spot.wants_instructions)


def _marked(frame: FrameType, event: str, arg: object) -> None:
    """Says that a frame is followed: of its trace function, the interpreter only asks whether there is one."""


@cache
def _bytes(code: CodeType) -> bytes:
    """The instructions of some code, which the interpreter puts together anew whenever it is asked."""
    return code.co_code
