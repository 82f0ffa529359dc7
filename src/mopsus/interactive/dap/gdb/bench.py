"""A program under GDB, as an editor sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING

import gdb
from gdb.frames import execute_frame_filters  # type: ignore[import-not-found]  # the stubs lack it

from mopsus.interactive.dap.gdb.data import Watching
from mopsus.interactive.dap.gdb.instructions import instructions
from mopsus.interactive.dap.gdb.points import Points
from mopsus.interactive.dap.gdb.program import Program
from mopsus.interactive.dap.gdb.variables import Holder, Origin, evaluated, set_value, shown
from mopsus.interactive.dap.workbench import (
    Answer,
    Completion,
    Data,
    Filtered,
    Frame,
    Inside,
    Instruction,
    Placed,
    Scope,
    Source,
    Thread,
    Variable,
    Wanted,
    Workbench,
)
from mopsus.interactive.debugger import DebuggerError

if TYPE_CHECKING:
    from mopsus.interactive.session import Session

_UNKNOWN_COMMAND = re.compile(r'Undefined (\w+ )?command: "|Ambiguous command')
_QUIT = re.compile(r"q(u(it?)?)?(\s.*)?|exit(\s.*)?")
_GLOBALS_MOST = 1000


class GdbBench(Workbench):
    """The workbench of the GDB that we run in."""

    def __init__(self, session: Session, program: Program, points: Points, watching: Watching) -> None:
        self.session = session
        self.points, self.watching = points, watching
        self._program = program
        self.returned: Returned | None = None
        """What the function has given that the developer has just stepped out of."""

    # ---- looking

    def threads(self) -> Sequence[Thread]:
        found = sorted(gdb.selected_inferior().threads(), key=lambda each: each.global_num)
        return [Thread(each.global_num, f"{each.name or 'thread'} ({each.ptid[1]})") for each in found]

    def stack(self, thread: int, start: int, count: int | None) -> tuple[Sequence[Frame], int | None]:
        with self._kept():
            _switch_to(thread)
            found = list(islice(_frames(), start, None if count is None else start + count))
            last = count is None or len(found) < count
            return [_shown_frame(each) for each in found], start + len(found) if last else None

    def scopes(self, frame: Frame) -> Sequence[Scope]:
        with self.at(frame) as here:
            return [
                Scope("Arguments", _Symbols(self, frame, arguments=True), "arguments"),
                Scope("Locals", _Symbols(self, frame, arguments=False), "locals"),
                Scope("Globals", _Globals(self, frame), expensive=True),
                Scope("Registers", _Registers(self, frame, here.architecture()), "registers", expensive=True),
                *([Scope("Returned", self.returned)] if self.returned is not None else ()),
            ]

    def evaluate(self, text: str, frame: Frame | None) -> Variable:
        with self.at(frame):
            return shown(text, evaluated(text), self.origin(frame, text))

    def assign(self, text: str, value: str, frame: Frame | None) -> Variable:
        origin = self.origin(frame, text)
        with self.at(frame):
            set_value(evaluated(text), value, origin)
            return shown(text, evaluated(text), origin)

    def command(self, text: str, frame: Frame | None) -> Answer:
        """What GDB would do with it at its prompt; what is no command is an expression."""
        if _QUIT.fullmatch(text.strip()):
            raise DebuggerError("the editor ends the session", hint="stop debugging there")
        before = self._moves()
        try:
            with self.at(frame):
                printed = self._program.execute(text, runs=False)
        except gdb.error as error:
            if self._moves() != before:
                return Answer(Variable("", str(error)), ran=True)
            if _UNKNOWN_COMMAND.match(str(error)):
                return Answer(self.evaluate(text, frame))
            raise DebuggerError(str(error)) from error
        return Answer(Variable("", printed.rstrip("\n")), self._moves() != before)

    def completions(self, text: str, frame: Frame | None) -> Sequence[Completion]:
        start = text.rfind(" ") + 1
        with self.at(frame):
            found = gdb.execute(f"complete {text}", to_string=True).splitlines()
        lines = [line for line in found if line.startswith(text[:start]) and "***" not in line]
        return [Completion(line[start:], start, len(text) - start) for line in lines]

    def instructions(self, address: int, start: int, count: int) -> Sequence[Instruction]:
        return instructions(address, start, count)

    def signal(self, number: Signals) -> None:
        self._program.signal(number)

    # ---- points

    def set_breakpoints(self, path: str, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        return self.points.set(path, wanted)

    def set_function_breakpoints(self, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        return self.points.set_functions(wanted)

    def set_filters(self, filters: Sequence[Filtered]) -> Sequence[Placed]:
        return self.points.set_filters(filters)

    def data(self, name: str, inside: Inside | None, frame: Frame | None) -> Data:
        try:
            if inside is None:
                with self.at(frame):
                    return self.watching.data(name, evaluated(name), name)
            if not isinstance(inside, Holder):
                return Data(None, f"{name} is no variable of the program")
            value, origin = inside.find(name)
            with origin.frame():
                return self.watching.data(name, value, origin.expression)
        except DebuggerError as error:
            return Data(None, error.message)

    def set_data_breakpoints(self, wanted: Sequence[Wanted]) -> Sequence[Placed]:
        return self.watching.set(wanted)

    # ---- where in the program something is asked

    def origin(self, frame: Frame | None, expression: str) -> Origin:
        return Origin(lambda: self.at(frame), expression)

    @contextmanager
    def at(self, frame: Frame | None) -> Iterator[gdb.Frame]:
        """Meanwhile GDB has selected that frame."""
        if frame is None:
            if gdb.selected_thread() is None:
                raise DebuggerError("the program does not run", hint="let it begin first")
            yield gdb.selected_frame()
            return
        assert isinstance(frame.handle, _Handle)
        before = self._moves()
        thread, selected = gdb.selected_thread(), gdb.selected_frame()
        try:
            _switch_to(frame.handle.thread)
            if not frame.handle.frame.is_valid():
                raise DebuggerError("this call has returned")
            frame.handle.frame.select()
            yield frame.handle.frame
        finally:
            if self._moves() == before and thread is not None and thread.is_valid():
                thread.switch()
                if selected.is_valid():
                    selected.select()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        thread = gdb.selected_thread()
        if thread is None:
            raise DebuggerError("the program does not run", hint="let it begin first")
        selected = gdb.selected_frame()
        try:
            yield
        finally:
            thread.switch()
            selected.select()

    def _moves(self) -> tuple[int, int, bool]:
        """Changes when the program has run, was brought back to a checkpoint, or is gone."""
        return self._program.stops, self.session.returns, self._program.over


@dataclass(frozen=True, slots=True)
class _Handle:
    thread: int
    frame: gdb.Frame


@dataclass(frozen=True, slots=True)
class Returned(Inside):
    """The result of a call."""

    function: str
    value: gdb.Value

    def members(self) -> Sequence[Variable]:
        return [shown(self.function, self.value, Origin(nullcontext))]


class _Named(Holder):
    """Variables that a frame knows by name."""

    def __init__(self, bench: GdbBench, frame: Frame) -> None:
        self._bench, self._frame = bench, frame

    def _found(self, frame: gdb.Frame) -> Iterator[tuple[str, gdb.Value, str]]:
        """Each with its name and the expression for it."""
        raise NotImplementedError

    def members(self) -> Sequence[Variable]:
        with self._bench.at(self._frame) as frame:
            return [shown(name, value, self._origin(text)) for name, value, text in self._found(frame)]

    def find(self, name: str) -> tuple[gdb.Value, Origin]:
        with self._bench.at(self._frame) as frame:
            for found, value, expression in self._found(frame):
                if found == name:
                    return value, self._origin(expression)
        raise DebuggerError(f"there is no variable {name} here")

    def _origin(self, expression: str) -> Origin:
        return self._bench.origin(self._frame, expression)


class _Symbols(_Named):
    """Of the function that a frame is in; those of inner blocks first, which hide those of outer ones."""

    def __init__(self, bench: GdbBench, frame: Frame, *, arguments: bool) -> None:
        super().__init__(bench, frame)
        self._arguments = arguments

    def _found(self, frame: gdb.Frame) -> Iterator[tuple[str, gdb.Value, str]]:
        names: set[str] = set()
        block = _block(frame)
        while block is not None and not block.is_global and not block.is_static:
            for symbol in block:
                wanted = symbol.is_argument if self._arguments else symbol.is_variable and not symbol.is_argument
                if wanted and symbol.name not in names:
                    names.add(symbol.name)
                    try:
                        yield symbol.name, symbol.value(frame), symbol.name
                    except gdb.error:
                        continue  # it is nowhere yet
            if block.function is not None:
                return
            block = block.superblock


class _Globals(_Named):
    """Of the file that a frame is in."""

    def _found(self, frame: gdb.Frame) -> Iterator[tuple[str, gdb.Value, str]]:
        block = _block(frame)
        if block is None:
            return
        parts = [part for part in (block.static_block, block.global_block) if part is not None]
        found = [each for part in parts for each in part if each.is_variable and not each.needs_frame]
        for symbol in found[:_GLOBALS_MOST]:
            try:
                yield symbol.name, symbol.value(), symbol.name
            except gdb.error:
                continue


class _Registers(_Named):
    def __init__(self, bench: GdbBench, frame: Frame, architecture: gdb.Architecture) -> None:
        super().__init__(bench, frame)
        self._names = [each.name for each in architecture.registers("general")]

    def _found(self, frame: gdb.Frame) -> Iterator[tuple[str, gdb.Value, str]]:
        for name in self._names:
            yield name, frame.read_register(name), f"${name}"


def _switch_to(number: int) -> None:
    for thread in gdb.selected_inferior().threads():
        if thread.global_num == number:
            thread.switch()
            return
    raise DebuggerError(f"there is no thread {number}", hint="it may have ended")


def _frames() -> Iterator[gdb.Frame]:
    """Of the selected thread, innermost first: those that GDB shows to people."""
    filtered = execute_frame_filters(gdb.newest_frame(), 0, -1)
    if filtered is not None:
        yield from (each.inferior_frame() for each in filtered)
        return
    frame: gdb.Frame | None = gdb.newest_frame()
    while frame is not None:
        yield frame
        try:
            frame = frame.older()
        except gdb.error:
            return  # what is further out cannot be made sense of


def _block(frame: gdb.Frame) -> gdb.Block | None:
    try:
        return frame.block()
    except RuntimeError:  # without debug information there is none
        return None


def _shown_frame(frame: gdb.Frame) -> Frame:
    place = frame.find_sal()
    thread = gdb.selected_thread()
    handle = _Handle(thread.global_num if thread is not None else 0, frame)
    name = frame.name() or f"0x{frame.pc():x}"
    if frame.type() == gdb.SIGTRAMP_FRAME:
        name = "<signal handler called>"
    path = None if place.symtab is None else Path(place.symtab.fullname())
    if path is None or not path.exists():
        text, line = _disassembled(frame)
        source = Source(f"{name} (assembly)", text=text) if text else None
        return Frame(handle, name, source, line, address=frame.pc(), subtle=True)
    return Frame(handle, name, Source(path.name, str(path)), place.line, address=frame.pc())


def _disassembled(frame: gdb.Frame) -> tuple[str, int]:
    """The instructions of a function without source, and in which of these lines the program is."""
    try:
        text = gdb.execute(f"disassemble {frame.pc():#x}", to_string=True)
    except gdb.error:
        return "", 0
    lines = text.splitlines()[1:-1]
    here = next((at for at, line in enumerate(lines, 1) if int(line.replace("=>", "").split()[0], 16) == frame.pc()), 0)
    return "\n".join(line.replace("=>", "  ") for line in lines) + "\n", here
