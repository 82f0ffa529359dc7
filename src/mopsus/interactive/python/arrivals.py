"""What the interpreter tells becomes hits: places that are reached, each with its readings."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from types import CodeType, FrameType, TracebackType

from mopsus.interactive.debugger import Feed
from mopsus.interactive.python.accesses import Access, is_meant
from mopsus.interactive.python.atlas import Atlas, Spot, handlers_of
from mopsus.interactive.python.straight import DetourError, Straight, Taken, check_count, straight_events
from mopsus.interactive.python.values import Values, evaluate, is_early
from mopsus.model import Place, Reading, Unavailable

Hit = tuple[Place, Values]


class Arrivals:
    """Keeps what lies between two moments: values taken at a call until it returns, writes until they are done."""

    def __init__(
        self,
        atlas: Atlas,
        begin: Callable[[FrameType], None],
        tell: Callable[[FrameType, Sequence[Hit], bool, BaseException | None], None],
    ) -> None:
        """`begin` is told of the program's outermost frame, `tell` of the places that are reached in a frame, and
        whether the developer may have a point there: at the line, or for the exception that has been raised."""
        self.atlas = atlas
        self._begin: Callable[[FrameType], None] | None = begin
        self.main: dict[str, object] = {}
        """The variables of the program itself."""
        self.readings: dict[Place, tuple[Reading, ...]] = {}
        self.throws: list[Place] = []
        self.stops_at_raised = False
        """Does the developer have a point at exceptions?"""
        self.feeds: dict[Place, Sequence[Feed]] = {}
        """Places whose events go to monitors, and to nobody else."""
        self.recall: Callable[[FrameType], Sequence[tuple[Taken, tuple[object, ...]]]] = lambda frame: ()
        """Gives, once, what the core took when a function was entered whose return we are told of."""
        self.bound: Callable[[], object] = lambda: None
        """Called when a module has given something to a name that a place has a part of."""
        self._tell = tell
        self._calls: dict[FrameType, dict[Place, dict[Reading, object]]] = {}
        self._entered: dict[FrameType, list[Hit]] = {}
        self._writes: dict[FrameType, list[tuple[Place, Access]]] = {}
        self._images: dict[tuple[Place, int], object] = {}

    @property
    def wants_exceptions(self) -> bool:
        return bool(self.throws or self.stops_at_raised)

    # ---- what a sensor tells

    def met(self, frame: FrameType) -> Spot | None:
        """Some code runs for the first time."""
        spot = self.atlas.meet(frame.f_code, frame.f_globals.get("__name__"))
        if self._begin is not None and frame.f_globals is self.main:
            begin, self._begin = self._begin, None
            begin(frame)
        return spot

    def started(self, frame: FrameType, spot: Spot) -> None:
        """A function has been entered."""
        if spot.after:
            meant = (place for place in spot.after if spot.is_meant(place, frame))
            self._calls[frame] = {place: self._take(place, frame) for place in meant}
        hits = [(place, Values(frame)) for place in spot.before if spot.is_meant(place, frame)]
        if hits:
            if spot.stops:
                # The developer's point of a function is its first line, and the developer comes first.
                self._entered[frame] = hits
            else:
                self._tell(frame, hits, False, None)

    def returned(self, frame: FrameType, spot: Spot, result: object) -> None:
        """A function is about to return."""
        taken = self._calls.pop(frame, None)
        if taken is None:
            taken = self._recalled(frame)
        hits = [(place, Values(frame, result, taken[place])) for place in spot.after if place in taken]
        hits += self._updates(frame, spot)
        if hits:
            self._tell(frame, hits, False, None)
        self._forget(frame, spot)

    def unwound(self, frame: FrameType) -> None:
        """An exception leaves a function."""
        self._calls.pop(frame, None)
        self.recall(frame)
        spot = self.atlas[frame.f_code]
        if spot is not None:
            self._forget(frame, spot)

    def line(self, frame: FrameType, spot: Spot, line: int) -> None:
        """A line is about to run."""
        hits = self._entered.pop(frame, [])
        hits += self._updates(frame, spot)
        hits += [(place, Values(frame)) for place in spot.lines.get(line, ())]
        if line in spot.catches:
            hits += self._catches(frame, spot, line)
        stop = line in spot.stops or spot.code.co_firstlineno in spot.stops
        if hits or stop:
            self._tell(frame, hits, stop, None)

    def instruction(self, frame: FrameType, spot: Spot, offset: int) -> None:
        """An instruction is about to run."""
        if offset in spot.bindings:
            self.bound()
        hits = []
        for place, access in self._writes.pop(frame, ()):
            hits.append((place, Values(frame, _now(access, frame))))
        for place, access in spot.accesses.get(offset, ()):
            if not is_meant(place, access, frame, self.main):
                continue
            if place.after:
                self._writes.setdefault(frame, []).append((place, access))
            else:
                hits.append((place, Values(frame, _now(access, frame))))
        if hits:
            self._tell(frame, hits, False, None)

    def raised(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        """An exception has been raised, or comes from a call, in a frame."""
        if trace is None or trace.tb_next is not None or trace.tb_frame is not frame:
            return  # it comes from elsewhere
        spot = self.atlas[frame.f_code]
        if spot is None or not spot.own:
            return
        hits = [(place, Values(frame, error)) for place in self.throws if is_of_type(error, place.what)]
        if hits or self.stops_at_raised:
            self._tell(frame, hits, self.stops_at_raised, error)

    def await_returns(self, place: Place, spots: Collection[Spot]) -> None:
        """From now on it is told when this code returns: also of calls that are open already."""
        codes = {spot.code: spot for spot in spots}
        for frame in all_frames() if codes else ():
            if frame.f_code in codes and codes[frame.f_code].is_meant(place, frame):
                if frame not in self._calls:
                    self._calls[frame] = self._recalled(frame)
                self._calls[frame].setdefault(place, self._take(place, frame))

    def straight(self, spot: Spot) -> tuple[list[Straight], list[Straight]]:
        """The events at the start and at the return of some code, if the core can send them all; `DetourError` if not.
        The developer's points come first, so there must be none."""
        if spot.stops:
            raise DetourError("the developer has a point in it")
        if spot.updates:
            raise DetourError("it is watched whether a value changes in it")
        if spot.meant:
            raise DetourError("others have the function, too, so each call is asked whether it is meant")
        if not self.feeds.keys() >= {*spot.before, *spot.after}:
            raise DetourError("somebody else is told of it, too")
        before, after = (
            [each for place in several for each in straight_events(place, self.feeds[place], spot.code)]
            for several in (spot.before, spot.after)
        )
        check_count(before)
        check_count(after)
        return before, after

    # ---- between two moments

    def _take(self, place: Place, frame: FrameType) -> dict[Reading, object]:
        values = Values(frame)
        return {reading: values(reading) for reading in self.readings.get(place, ()) if is_early(reading)}

    def _recalled(self, frame: FrameType) -> dict[Place, dict[Reading, object]]:
        taken: dict[Place, dict[Reading, object]] = {}
        for (place, readings), values in self.recall(frame):
            early = {reading: value for reading, value in zip(readings, values, strict=True) if is_early(reading)}
            taken.setdefault(place, {}).update(early)
        return taken

    def _forget(self, frame: FrameType, spot: Spot) -> None:
        self._writes.pop(frame, None)
        self._entered.pop(frame, None)
        for place in spot.updates:
            self._images.pop((place, id(frame)), None)

    def _catches(self, frame: FrameType, spot: Spot, line: int) -> list[Hit]:
        error = sys.exc_info()[1]
        if error is None:
            return []
        wanted, inline = handlers_of(spot.code)[line]
        if inline and wanted is not None and not isinstance(error, _classes(wanted, frame)):
            return []
        return [(place, Values(frame, error)) for place in spot.catches[line] if is_of_type(error, place.what)]

    def _updates(self, frame: FrameType, spot: Spot) -> list[Hit]:
        """The expressions that have another value than they had when they were last looked at, in the same frame if
        they speak of its variables."""
        hits: list[Hit] = []
        for place in spot.updates:
            try:
                value = evaluate(place.what, frame)
            except Exception:  # there is nothing yet that it could be about
                continue
            key = place, id(frame if _is_local(place.what, frame.f_code) else frame.f_globals)
            if key in self._images and not _same(self._images[key], value):
                old = self._images[key]
                hits.append((place, Values(frame, value if place.after else old)))
            self._images[key] = _image(value)
        return hits


def all_frames() -> Iterator[FrameType]:
    """Every frame of every thread."""
    for frame in sys._current_frames().values():
        at: FrameType | None = frame
        while at is not None:
            yield at
            at = at.f_back


def is_of_type(error: BaseException, what: str) -> bool:
    """Is it an exception of the class of this name, or of one derived from it? An empty name is any."""
    return not what or any(
        what in {each.__name__, each.__qualname__, f"{each.__module__}.{each.__qualname__}"}
        for each in type(error).__mro__
    )


def _now(access: Access, frame: FrameType) -> object:
    try:
        return access.value(frame)
    except Exception as error:
        return Unavailable(f"it has no value: {error}")


def _classes(text: str, frame: FrameType) -> tuple[type, ...]:
    try:
        found = evaluate(text, frame)
    except Exception:
        return ()
    return found if isinstance(found, tuple) else (found,) if isinstance(found, type) else ()


def _is_local(expression: str, code: CodeType) -> bool:
    if not code.co_flags & 1:  # no function
        return False
    known = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    tree = ast.parse(expression, mode="eval")
    return any(isinstance(node, ast.Name) and node.id in known for node in ast.walk(tree))


def _image(value: object) -> object:
    """What is kept of a value, so that changes within it show."""
    return copy.copy(value) if isinstance(value, list | dict | set | bytearray) else value


def _same(old: object, new: object) -> bool:
    try:
        return old is new or bool(type(old) is type(new) and old == new)
    except Exception:
        return False
