"""What an editor may ask of a program under a debugger: one abstract class, and one implementation for each debugger.

All of it is plain data or small objects that hold on to something in the program. Whatever was handed out for a stop
is valid until the program goes on. What cannot be done is a `DebuggerError`, which the editor shows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from signal import Signals
from typing import TYPE_CHECKING

from mopsus.interactive.debugger import DebuggerError

if TYPE_CHECKING:
    from mopsus.interactive.session import Session


RESTORED = "goto"
"""The reason of a stop where the program was brought back to a checkpoint: the protocol's word for a jump."""


class Go(Enum):
    """How the program is to go on."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP_IN = "stepIn"
    STEP_OUT = "stepOut"
    NOWHERE = "nowhere"
    """It has gone already, by a command or back to a checkpoint: see where it stands, and why."""
    LEAVE = "leave"
    """Without a debugger: it is let go, with no trap left in it."""
    END = "end"
    """Not at all: it is killed."""


@dataclass(frozen=True, slots=True)
class Course:
    """What the editor wants now: how, by which thread, by instructions rather than lines."""

    go: Go
    thread: int | None = None
    by_instruction: bool = False


@dataclass(frozen=True, slots=True)
class Caught:
    """An exception that stopped the program, or a verdict, which is shown like one."""

    name: str
    message: str
    details: str = ""
    """Many lines: the stack of an exception, the witness of a verdict."""
    uncaught: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why and where the program stands still."""

    reason: str
    """`entry`, `step`, `breakpoint`, `function breakpoint`, `data breakpoint`, `exception`, `pause`, `goto` (see
    `RESTORED`); `scenario` is a word of our own."""
    thread: int | None
    description: str | None = None
    text: str | None = None
    breakpoints: tuple[int, ...] = ()
    """The numbers of those that were hit."""
    caught: Caught | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is on the disk, or a text that only the debugger has."""

    name: str
    path: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A function that has been called and has not returned."""

    handle: object
    """For the workbench itself."""
    function: str
    source: Source | None
    line: int
    column: int = 1
    address: int | None = None
    subtle: bool = False
    """Not the developer's own code."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A value with a name, or the value of an expression."""

    name: str
    value: str
    type: str | None = None
    inside: Inside | None = None
    """What can be opened, if there is anything."""
    expression: str | None = None
    """What is to be evaluated to have it again, if that is known."""
    kind: str | None = None
    """A `kind` of the protocol's presentation hints: `property`, `virtual`, `class` …"""
    address: int | None = None
    """Where it points to in memory, if it does."""
    constant: bool = False
    """It cannot be set."""


class Inside(ABC):
    """What a variable or scope consists of."""

    named = 0
    indexed = 0
    """How many members and elements there are, if that is known cheaply: an editor asks for many in parts."""

    @abstractmethod
    def members(self) -> Sequence[Variable]:
        """All that are named."""

    def elements(self, start: int, count: int) -> Sequence[Variable]:
        """Those of the `indexed`, from one on."""
        return ()

    def set(self, name: str, text: str) -> Variable:
        """Give one of them a value, written as in the program's language."""
        raise DebuggerError(f"{name} cannot be set", hint="only variables of the program can")


@dataclass(frozen=True, slots=True)
class Scope:
    """Variables that belong together: `Locals`, `Registers`."""

    name: str
    inside: Inside
    kind: str | None = None
    """`arguments`, `locals` or `registers`."""
    expensive: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """One of a compiled program."""

    address: int
    text: str
    """Nothing if there is none that could be read."""
    data: bytes
    """Its bytes."""
    function: str | None = None
    source: Source | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A breakpoint as the editor asks for it, at a line, a function or data."""

    line: int = 0
    function: str = ""
    data: str = ""
    """A `Data.key`."""
    access: str = ""
    """One of `ACCESSES`, to data."""
    condition: str | None = None
    hits: str | None = None
    """`5`, `>= 5`, `% 2`: which of the arrivals count."""
    log: str | None = None
    """Say this instead of stopping; `{expression}` in it stands for a value."""


ACCESSES = ("write", "read", "readWrite")
"""In which ways data may be used, so that the program stops."""


@dataclass(frozen=True, slots=True)
class Data:
    """Something that the program may be stopped at whenever it is used."""

    key: str | None
    """By which the editor asks for that; None: it cannot be."""
    description: str
    """What it is, or why it cannot be."""
    lasting: bool = False
    """Does the key mean the same in every run?"""


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of it."""

    number: int | None
    """None: it is nowhere, and never will be."""
    verified: bool
    line: int | None = None
    message: str | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A kind of exception that the program can be stopped at."""

    name: str
    label: str
    default: bool = False
    conditions: str | None = None
    """What a condition of it means, if it can have one."""


FILTERS = {
    "python": (
        Filter("raised", "Python: raised exceptions", conditions="names of exceptions, with commas between"),
        Filter("uncaught", "Python: uncaught exceptions", default=True),
    ),
    "c": (Filter("throw", "C++: thrown exceptions"), Filter("catch", "C++: caught exceptions")),
}
"""By the language of the debugger. An editor is told of all of them before it says what it wants to debug."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """A filter that the editor has chosen."""

    name: str
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    start: int
    """Where in the line it begins that is replaced; counted from 0, as editors do here, whatever else they count."""
    length: int
    """How much of the line that is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What evaluating gave. `ran`: the program has run meanwhile, and stands elsewhere now, or has ended."""

    value: Variable
    ran: bool = False


class Workbench(ABC):
    """A program that stands still, for an editor. Only called while it does, except where that is said."""

    session: Session
    sees_running = False
    """Can it tell the threads of a program that runs, too?"""

    # ---- looking

    @abstractmethod
    def threads(self) -> Sequence[Thread]: ...

    @abstractmethod
    def stack(self, thread: int, start: int, count: int | None) -> tuple[Sequence[Frame], int | None]:
        """Frames, innermost first, from one on; and how many there are, if that is known."""

    @abstractmethod
    def scopes(self, frame: Frame) -> Sequence[Scope]:
        """The monitors are added to them by others."""

    @abstractmethod
    def evaluate(self, text: str, frame: Frame | None) -> Variable:
        """An expression of the program's language; nothing else."""

    @abstractmethod
    def assign(self, text: str, value: str, frame: Frame | None) -> Variable:
        """Give what an expression stands for a value."""

    @abstractmethod
    def command(self, text: str, frame: Frame | None) -> Answer:
        """A line that the developer has typed: a command of the debugger, one of the `verde` family, an expression."""

    @abstractmethod
    def completions(self, text: str, frame: Frame | None) -> Sequence[Completion]:
        """What may come at the end of a line."""

    def source(self, source: Source) -> str:
        """The text of a file that is not on the disk."""
        if source.text is None:
            raise DebuggerError(f"there is no text of {source.name}", hint="it is not on this machine")
        return source.text

    def instructions(self, address: int, start: int, count: int) -> Sequence[Instruction]:
        """Exactly so many, from one on that is counted from the one at an address."""
        raise DebuggerError("this program has no instructions to show", hint="only compiled ones have")

    # ---- also while the program runs

    @abstractmethod
    def signal(self, number: Signals) -> None:
        """Send the program a signal, as its terminal would. Another thread may call this while it runs."""

    # ---- points; while the program runs it is held for a moment

    @abstractmethod
    def set_breakpoints(self, path: str, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        """These, and no others, in a file."""

    @abstractmethod
    def set_function_breakpoints(self, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        """These, and no others, at functions."""

    @abstractmethod
    def set_filters(self, filters: Sequence[Filtered]) -> Sequence[Placed]:
        """Stop at these exceptions, and at no others."""

    @abstractmethod
    def set_data_breakpoints(self, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        """These, and no others, at data."""

    @abstractmethod
    def data(self, name: str, inside: Inside | None, frame: Frame | None) -> Data:
        """Can the program be stopped at this, something inside of another or an expression? The program stands."""
