"""Points at what the kernel and the C++ library do: system calls, signals, exceptions that are thrown or caught.

GDB has catchpoints for the first two, but lets Python make none that it could ask whether to stop. So they are made by
command, with a condition that calls us. The developer sees them among the breakpoints, with that condition.

Exceptions pass through two functions of the C++ library, which have probes for debuggers.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

import gdb

from mopsus.interactive.gdb import ptrace
from mopsus.interactive.gdb.exceptions import Thrown, is_known
from mopsus.interactive.gdb.places import has_symbols, may_come
from mopsus.interactive.gdb.points import Tell
from mopsus.interactive.gdb.readings import Hit
from mopsus.interactive.gdb.trap import Trap
from mopsus.interactive.gdb.values import Word
from mopsus.model import Place, PlaceKind, Reading, ReadingKind, Unavailable

CAUGHT = {PlaceKind.SYSCALL, PlaceKind.SIGNAL, PlaceKind.THROW, PlaceKind.CATCH}
_NUMBER = re.compile(r"Catchpoint (\d+)")
THROWN = {PlaceKind.THROW: ("throw", "rethrow"), PlaceKind.CATCH: ("catch",)}
"""The probes of the C++ library by kind of place."""


def catch_point(place: Place, tell: Tell) -> SyscallPoint | SignalPoint | ExceptionPoint:
    """The point for such a place; `gdb.error` if there is no such system call or signal."""
    if place.kind is PlaceKind.SYSCALL:
        return SyscallPoint(place, tell)
    if place.kind is PlaceKind.SIGNAL:
        return SignalPoint(place, tell)
    return ExceptionPoint(place, tell)


def wrong_with_caught(place: Place) -> str | None:
    """What is wrong with such a place, and what to do; None if it may be reached."""
    if place.kind in THROWN:
        return _wrong_with_type(place)
    names = _completions(f"catch {place.kind} ", place.what[:1])
    if place.what in names:
        return None
    what = "system call" if place.kind is PlaceKind.SYSCALL else "signal"
    near = " or ".join(difflib.get_close_matches(place.what, names, 3))
    return f"there is no {what} {place.what}" + (f"; did you mean {near}?" if near else "")


def _wrong_with_type(place: Place) -> str | None:
    if not place.what or may_come() or not gdb.selected_inferior().pid or not has_symbols() or is_known(place.what):
        return None
    return f"no exception can be thrown of a type {place.what}; names of types are whole, with their namespaces"


class SyscallPoint:
    """A system call that is entered, or that returns. Its arguments are numbers or addresses, whatever it takes."""

    def __init__(self, place: Place, tell: Tell) -> None:
        self._place = place
        self._tell = tell
        self._readings: tuple[Reading, ...] = ()
        self._entered: dict[int, _Caught] = {}
        self._catchpoint = catchpoint(f"syscall {place.what}", self._hit)

    def enable(self, readings: Sequence[Reading]) -> None:
        self._readings = tuple(readings)
        self._catchpoint.enabled = True

    def disable(self) -> None:
        self._catchpoint.enabled = False
        self._entered.clear()

    def _hit(self) -> bool:
        thread = gdb.selected_thread().ptid[1]
        call = ptrace.system_call(thread)
        if call is None:
            return False
        if not call.leaving:
            hit = _Caught(call.arguments)
            if not self._place.after:
                return self._tell(self._place, hit, None)
            hit.keep(self._readings)
            self._entered[thread] = hit
            return False
        entered = self._entered.pop(thread, None)
        if entered is None or call.result is None:
            return False
        result = Word(call.result)
        entered.returned(lambda: result)
        return self._tell(self._place, entered, None)


class SignalPoint:
    """A signal that the program gets. Its only argument is the signal's number; `$_siginfo` has the rest."""

    def __init__(self, place: Place, tell: Tell) -> None:
        self._place = place
        self._tell = tell
        self._catchpoint = catchpoint(f"signal {place.what}", self._hit)

    def enable(self, readings: Sequence[Reading]) -> None:
        self._catchpoint.enabled = True

    def disable(self) -> None:
        self._catchpoint.enabled = False

    def _hit(self) -> bool:
        return self._tell(self._place, _Caught((int(gdb.parse_and_eval("$_siginfo.si_signo")),)), None)


class ExceptionPoint:
    """A C++ exception, of a type or one derived from it, that is thrown or caught. Names stand for what they do where
    that happens. Its result: the exception. Its arguments: the exception, and the name of its type."""

    def __init__(self, place: Place, tell: Tell) -> None:
        self._place = place
        self._tell = tell
        self._traps = [Trap(f"-probe-stap libstdcxx:{name}", self._hit) for name in THROWN[place.kind]]

    def enable(self, readings: Sequence[Reading]) -> None:
        for trap in self._traps:
            trap.enabled = True

    def disable(self) -> None:
        for trap in self._traps:
            trap.enabled = False

    def _hit(self) -> bool:
        thrown = Thrown.at_probe()
        if self._place.what and not thrown.is_a(self._place.what):
            return False
        library = gdb.selected_frame()
        program = library.older()
        if program is not None:
            program.select()
        try:
            exception = thrown.value(whole=self._place.kind is PlaceKind.THROW)
            hit = _Caught((exception, thrown.names[0]))
            hit.returned(lambda: exception)
            return self._tell(self._place, hit, None)
        finally:
            library.select()


class _Caught(Hit):
    """Has arguments that no function has."""

    __slots__ = ("_arguments",)

    def __init__(self, arguments: Sequence[object]) -> None:
        super().__init__()
        self._arguments = arguments

    def _raw(self, reading: Reading) -> object:
        if reading.kind is not ReadingKind.ARGUMENT:
            return super()._raw(reading)
        if not 1 <= reading.index <= len(self._arguments):
            return Unavailable(f"there are {len(self._arguments)} arguments here")
        value = self._arguments[reading.index - 1]
        return Word(value) if isinstance(value, int) else value


class _Condition(gdb.Function):
    """The function that the condition of a catchpoint calls: 1 to stop, 0 to go on."""

    def __init__(self) -> None:
        super().__init__("_mopsus_caught")
        self.actions: list[Callable[[], bool]] = []

    def invoke(self, *arguments: gdb.Value) -> int:
        return int(self.actions[int(arguments[0])]())


_condition = _Condition()


def _completions(command: str, start: str) -> list[str]:
    """The words that GDB would take next and that begin so."""
    text = gdb.execute(f"with max-completions unlimited -- complete {command}{start}", to_string=True)
    return [line.removeprefix(command) for line in text.splitlines()]


def catchpoint(what: str, action: Callable[[], bool]) -> gdb.Breakpoint:
    """Calls `action` whenever it is hit, which may stop the program, silently."""
    found = _NUMBER.search(gdb.execute(f"catch {what}", to_string=True))
    if found is None:
        raise gdb.error(f"there is no {what}")
    number = int(found[1])
    _condition.actions.append(action)
    catchpoint = next(each for each in gdb.breakpoints() if each.number == number)
    catchpoint.condition = f"$_mopsus_caught({len(_condition.actions) - 1})"
    catchpoint.silent = True
    return catchpoint
