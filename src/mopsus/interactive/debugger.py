"""What a debugger must be able to do to be driven by monitors. Another debugger is one more class like this.

The debugger has the mechanism and nothing else: it knows no property, no scenario and no owner of a point. It calls the
`Driver` when something happens, and the driver, from within that call or later, calls back.

A *point* is physical here: one for each place, whoever wants to know of it. The developer's own points are the
debugger's affair; the debugger only says whether one of them stops the program here, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mopsus.interactive.stepper import Stepped
from mopsus.model import MopsusError, Place, Reading


class DebuggerError(MopsusError):
    """The debugger cannot do what it was asked; the message says why, the hint what to do."""

    code = "DEBUG-001"


class GoneError(DebuggerError):
    """The debugger ended before it could say what became of the program: nobody has looked since."""

    code = "DEBUG-013"


class PlaceError(DebuggerError):
    """There is no such function, line or variable in the program."""

    code = "DEBUG-002"


class CheckpointError(DebuggerError):
    """The program cannot be saved, or not be brought back, as it is now."""

    code = "DEBUG-003"


@dataclass(frozen=True, slots=True)
class Where:
    """Where the program stands: `queue.c:12`, in which function and thread, and since its start when, in seconds."""

    location: str | None
    function: str | None
    thread: int | str | None
    time: float


@dataclass(frozen=True, slots=True)
class Feed:
    """An event of a monitor, as a call with the values of readings."""

    send: Callable[..., object]
    readings: Sequence[Reading]
    remember: Callable[..., int] | None
    """If it carries more than parameters: called with all its values, keeps them for whoever reads a witness, and gives
    the number of the event."""
    event: int
    """Its number among those of the monitor."""
    stepped: Stepped | None
    """The monitor, if it can be stepped elsewhere."""
    needed: tuple[bytes, ...] | None
    """By property, a byte for each state that tells whether the event is needed there; None if that is not said by
    states."""


Read = Callable[[Reading], object]
"""Gives the value of a reading at a hit: a Python value, or an `Unavailable`. Each reading is evaluated once for a
hit at the most."""


def shortened(frames: Sequence[str], limit: int) -> list[str]:
    """So many lines of a stack, and one more if it goes on."""
    return [*frames[:limit], *(["… the stack goes on"] if len(frames) > limit else [])]


class Driver(Protocol):
    """Whom the debugger tells what happens; see `mopsus.interactive.session`."""

    def reached(self, place: Place, read: Read) -> bool:
        """The program has reached a place that has a point. True: stay stopped, and show the prompt."""

    def resuming(self) -> bool:
        """The developer wants the program to go on, in whatever way, or to make a step: to be asked before each time.
        True: it must not, something else stops it here, and has said so."""

    def stopped(self) -> None:
        """The program has stopped, for whatever reason, the debugger has done all it does at a stop, and anything may
        be asked of it: what was put off until after the point is done now. If the program is not to stay where it is,
        `Debugger.go_on` is called from within."""

    def dying(self, cause: str, *, keep: bool, detail: str = "") -> None:
        """The program has stopped where it dies of this, and anything may be asked of it: a signal that it does not
        handle, an exception that nobody catches. `keep`: a checkpoint that is taken there outlives it. `detail` is what
        the program itself says about it."""

    def loaded(self) -> bool:
        """All of the program is loaded, and `known` knows more than before. True: stay stopped."""

    def ended(self, status: int | None) -> None:
        """The program has ended with this exit status, a signal's number negated, or None if nobody knows."""


class Debugger(ABC):
    """A debugger, with at most one program in it."""

    language: str
    """Of expressions: `c` for whatever GDB reads, `python`."""
    holds_session = False
    """Does the session live in the process of the program? Then it is saved with it, and goes back with it."""

    feeds_choices = False
    """Where a monitor has several events at one place, does it feed those that are needed at that moment?"""
    blinded = ""
    """While what, as the program wanted it, it could see nothing."""
    follows_forks = False
    """Can it watch processes that the program makes of itself?"""

    # ---- points

    @abstractmethod
    def set_point(self, place: Place, readings: Sequence[Reading]) -> None:
        """From now on, tell when the place is reached. `readings` are all that may be asked for there: those of a
        place `after` a call are taken when the function is entered, all but its result. `PlaceError` if the program
        has no such place."""

    @abstractmethod
    def clear_point(self, place: Place) -> None:
        """From now on, do not: no trap stays in the program for it."""

    def can_feed(self, stepped: Callable[[], Stepped | None]) -> bool:
        """Can it send the events of a monitor by itself, if the monitor can be stepped like this? Then one that only
        has to be told of events wants all its points, always, so that nobody has to be asked which it needs after
        each."""
        return False

    def feed(self, place: Place, events: Sequence[Feed]) -> None:
        """At this place, which has a point, nobody wants to know of anything but these events. Instead of telling the
        driver, the debugger may make these calls, in this order, by the quickest way that it has. If one of them asks
        it to `stop_soon`, it stops there. `clear_point` ends this, too."""
        raise NotImplementedError  # by a debugger that does not feed

    def fed_in_vain(self, places: Iterable[Place]) -> str | None:
        """Why it can send the events of none of these places in a way that is quicker than telling the driver; None if
        it can somewhere, or does not know yet."""
        return None

    def inside(self) -> Mapping[Place, str | None]:
        """Of each place that it feeds: None if events are stepped inside of the program there, else why not."""
        return {}

    @abstractmethod
    def known(self, place: Place) -> str | None:
        """What is wrong with a place, in words that say what to do; None if it is there. A program that is not loaded
        yet, or a library that is not, makes nothing wrong."""

    def missed(self, place: Place) -> str | None:
        """The same when the program has ended: what is wrong with a place that might have come with a library, and has
        not."""
        return None

    def doubt(self, place: Place) -> str | None:
        """Why something may have happened at a place that nobody could see, as far as that can be known."""
        return None

    @abstractmethod
    def developer_stops_here(self) -> bool:
        """Does a point of the developer's stop the program at the place that is being told of?"""

    # ---- the program

    @abstractmethod
    def where(self) -> Where: ...

    @abstractmethod
    def get(self, expression: str) -> object:
        """The value of an expression of the program's language, here."""

    @abstractmethod
    def set(self, expression: str, value: object) -> None: ...

    @abstractmethod
    def get_memory(self, address: int, length: int) -> bytes: ...

    @abstractmethod
    def set_memory(self, address: int, data: bytes) -> None: ...

    @abstractmethod
    def get_pc(self) -> int: ...

    @abstractmethod
    def set_pc(self, address: int) -> None: ...

    @abstractmethod
    def backtrace(self, limit: int = 20) -> list[str]:
        """The stack, innermost frame first, a line each; see `shortened`."""

    # ---- its course

    @abstractmethod
    def go_on(self) -> None:
        """Let the program run, or start it, once everything that is being told is done. If the developer was
        making a step when it stopped, the step counts as made."""

    @abstractmethod
    def step(self) -> None:
        """One line, stepping into calls."""

    @abstractmethod
    def interrupt(self) -> None: ...

    @abstractmethod
    def stop_soon(self) -> None:
        """When what is being told is done, stay stopped long enough for `Driver.stopped` to be called."""

    # ---- the developer

    @abstractmethod
    def execute(self, command: str) -> str:
        """A command in the debugger's own language; what it prints."""

    @abstractmethod
    def write(self, text: str) -> None:
        """A line for the developer."""

    @abstractmethod
    def ask(self, question: str) -> str: ...

    # ---- checkpoints of the program; points are no part of them

    @abstractmethod
    def checkpoint(self) -> object:
        """Save the program as it is now, without any trap of a point in it, and what was read where calls were
        entered that have not returned. `CheckpointError` says why that cannot be."""

    @abstractmethod
    def restore(self, saved: object) -> None:
        """Bring it back. No point of ours is set meanwhile; those of the developer stay. What was told before it was
        saved is not told again: a point that is set afterwards where the program then stands waits until it comes
        there anew. May be done again and again."""

    @abstractmethod
    def discard(self, saved: object) -> None: ...

    def keeps(self, saved: object) -> bool:
        """Is it still there? One that was saved within a process is gone with it."""
        return True
