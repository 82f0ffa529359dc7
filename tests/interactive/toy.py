"""A toy machine and its debugger: a program is a list of instructions, and its variables are memory cells.

Small enough to be obviously right, it has every mechanism that a session needs: one trap for each place with points, a
developer with points of their own, checkpoints, steps. Watchpoints fire before the access. A place is told of once per
instruction, in the order: lines and functions, then accesses in the order in which the instruction makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mopsus.interactive.debugger import CheckpointError, Debugger, Driver, PlaceError, Where
from mopsus.model import Place, PlaceKind, Reading, ReadingKind, Unavailable

BREAK = ("break",)
STOP = ("stop",)
Instruction = tuple[object, ...]
"""`("put", x, 3)`, `("add", x, y, z)`, `("jump", 4)`, `("loop", x, 4)`: count x down and jump while it is not 0."""


@dataclass
class Toy:
    """A program and where it stands. Labels name functions: a label is reached at its instruction."""

    code: list[Instruction]
    data: dict[str, int]
    labels: dict[str, int] = field(default_factory=dict)
    pc: int = 0

    def accesses(self) -> list[tuple[str, str]]:
        """What the next instruction reads and writes, in order."""
        match self.code[self.pc]:
            case ("put", x, _):
                return [(str(x), "w")]
            case ("add", x, y, z):
                return [(str(y), "r"), (str(z), "r"), (str(x), "w")]
            case ("loop", x, _):
                return [(str(x), "r"), (str(x), "w")]
        return []

    def run_instruction(self) -> None:
        data = self.data
        after = self.pc + 1
        match self.code[self.pc]:
            case ("put", str(x), int(value)):
                data[x] = value
            case ("add", str(x), str(y), str(z)):
                data[x] = (data[y] + data[z]) % 8
            case ("jump", int(target)):
                after = target
            case ("loop", str(x), int(target)):
                data[x] = max(0, data[x] - 1)
                after = target if data[x] else after
            case other:
                raise AssertionError(other)
        self.pc = after


_MODES = {PlaceKind.READ: "r", PlaceKind.WRITE: "w", PlaceKind.ACCESS: "rw"}


class ToyDebugger(Debugger):
    """Drives a toy machine by hand: `cont`, `step`, `developer` points; what it did is in `log`."""

    language = "toy"

    def __init__(self, program: Toy, fuel: int = 10_000) -> None:
        self.program = program
        self.driver: Driver
        self.ended = False
        self.fuel = fuel
        self.lines: list[str] = []
        self.executed: list[tuple[int, tuple[tuple[str, int], ...]]] = []
        self.set_count = self.hits = 0
        self._points: dict[Place, tuple[Reading, ...]] = {}
        self._original: dict[int, Instruction] = {}
        self.breaks: set[int] = set()
        """The developer's."""
        self.watches: set[tuple[str, str]] = set()
        self._handled: set[object] = set()
        self._arrived = program.pc
        self._only: set[Place] | None = None
        """At the instruction of a restored checkpoint, the places that are still to be told of."""
        self._told: list[object] = []
        self._last_stage = 0
        self.going = self._soon = self._stepping = False
        self.commands: list[str] = []
        self.checkpoints_fail = False

    # ---- points

    def set_point(self, place: Place, readings: Sequence[Reading]) -> None:
        assert place not in self._points
        if (wrong := self.known(place)) is not None:
            raise PlaceError(wrong)
        self._points[place] = tuple(readings)
        self.set_count += 1
        self._insert()

    def clear_point(self, place: Place) -> None:
        del self._points[place]
        self._insert()

    def known(self, place: Place) -> str | None:
        if place.kind in _MODES:
            return None if place.what in self.program.data else f"there is no variable {place.what}"
        return None if self._address(place) is not None else f"there is no place {place.what}"

    def developer_stops_here(self) -> bool:
        return bool(self._told)

    @property
    def places(self) -> set[Place]:
        return set(self._points)

    @property
    def traps(self) -> set[int]:
        return {address for address, instruction in enumerate(self.program.code) if instruction == BREAK}

    def _insert(self) -> None:
        """Exactly those addresses have a trap that somebody has a breakpoint at."""
        wanted = {a for place in self._points if (a := self._address(place)) is not None} | self.breaks
        code = self.program.code
        for address in set(self._original) - wanted:
            code[address] = self._original.pop(address)
        for address in wanted - set(self._original):
            self._original[address] = code[address]
            code[address] = BREAK

    def _address(self, place: Place) -> int | None:
        if place.kind is PlaceKind.LINE:
            return int(place.what) if int(place.what) < len(self.program.code) else None
        if place.kind is PlaceKind.CALL:
            return self.program.labels.get(place.what)
        return None

    # ---- the program

    def where(self) -> Where:
        return Where(f"toy:{self.program.pc}", None, 1, float(len(self.executed)))

    def get(self, expression: str) -> object:
        return self.program.data[expression]

    def set(self, expression: str, value: object) -> None:
        assert isinstance(value, int)
        self.program.data[expression] = value

    def get_memory(self, address: int, length: int) -> bytes:
        return bytes(self.program.data[sorted(self.program.data)[address + at]] for at in range(length))

    def set_memory(self, address: int, data: bytes) -> None:
        for at, value in enumerate(data):
            self.program.data[sorted(self.program.data)[address + at]] = value

    def get_pc(self) -> int:
        return self.program.pc

    def set_pc(self, address: int) -> None:
        self.program.pc = address

    def backtrace(self, limit: int = 20) -> list[str]:
        return [f"#0 toy:{self.program.pc}"]

    # ---- its course

    def go_on(self) -> None:
        self.going = True

    def interrupt(self) -> None:
        self.going = False

    def stop_soon(self) -> None:
        self._soon = True

    def cont(self) -> None:
        """The developer says `continue`: one of their points that is here since comes first."""
        if developer := self._developer_points_before():
            self._handled.update(developer)
            return
        if self.driver.resuming():
            return
        self.going = True
        self._course()

    def step(self) -> None:
        """One instruction, with whatever monitors and scenarios do on the way to it; the developer's own points do not
        keep them from it."""
        while developer := self._developer_points_before():
            self._handled.update(developer)
        if self.driver.resuming():
            return
        self.going = self._stepping = True
        self._course(1)
        self._stepping = False

    def _course(self, most: int | None = None) -> None:
        done = 0
        while self.going and not self.ended:
            if self.fuel == 0:
                self.going = False
                return
            if self._instruction():
                done += 1
                if done == most:
                    self.going = False
                    self.driver.stopped()

    def _arrive(self) -> None:
        """Whoever was moved elsewhere, and not back, has arrived there."""
        if self._arrived != self.program.pc:
            self._arrived, self._only = self.program.pc, None
            self._handled.clear()

    def _instruction(self) -> bool:
        """Tell what is to be told at this instruction, one thing at a time; then run it. True: it has run."""
        developer = self._developer_points()
        if self._stepping and developer:
            self._handled.update(developer)
            return False
        place = next((place for place in self._here() if self._may_be_told(place)), None)
        if developer or place is not None:
            stay = self._tell(place, developer)
            if stay or self._soon:
                self._soon = self.going = False
                self.driver.stopped()
            return False
        program = self.program
        with self._bare():
            if program.code[program.pc] == STOP:
                self.ended = True
                self.driver.ended(0)
                return False
            self.executed.append((program.pc, tuple(sorted(program.data.items()))))
            program.run_instruction()
        self.fuel -= 1
        self._handled.clear()
        self._arrived, self._only = program.pc, None
        return True

    def _tell(self, place: Place | None, developer: list[object]) -> bool:
        self._last_stage = self._stage_of_developer(developer) if place is None else self._stage(place)
        if developer and (place is None or self._stage(place) != self._stage_of_developer(developer)):
            self._handled.update(developer)
            return True
        assert place is not None
        self._told = developer
        self._handled.update([place, *developer])
        try:
            return self._reach(place)
        finally:
            self._told = []

    def _reach(self, place: Place) -> bool:
        self.hits += 1
        return self.driver.reached(place, self._reader(place))

    def _reader(self, place: Place) -> Callable[[Reading], object]:
        known: dict[Reading, object] = {}
        allowed = self._points[place]

        def read(reading: Reading) -> object:
            assert reading in allowed, (reading, allowed)
            if reading not in known:
                if reading.kind is ReadingKind.NAME and reading.text in self.program.data:
                    known[reading] = self.program.data[reading.text]
                else:
                    known[reading] = Unavailable("the toy has no such variable")
            return known[reading]

        return read

    def _may_be_told(self, place: Place) -> bool:
        may = self._only is None or self._stage(place) == 1 or place in self._only
        return may and place not in self._handled

    def _here(self) -> Iterator[Place]:
        for place in self._points:
            if self._address(place) == self.program.pc:
                yield place
        with self._bare():
            accesses = self.program.accesses()
        for variable, mode in accesses:
            for place in sorted(self._points, key=lambda place: _MODES.get(place.kind, "")):
                if place.what == variable and mode in _MODES.get(place.kind, ""):
                    yield place

    def _developer_points(self) -> list[object]:
        """Those of the developer that stop the program now: first those at the address, then those of accesses."""
        self._arrive()
        pc = self.program.pc
        if pc in self.breaks and ("dev", pc) not in self._handled:
            return [("dev", pc)]
        if any(self._stage(place) == 0 and self._may_be_told(place) for place in self._here()):
            return []
        with self._bare():
            accesses = self.program.accesses()
        for variable, mode in accesses:
            for watch in sorted(self.watches):
                if watch[0] == variable and mode in watch[1] and ("dev", watch) not in self._handled:
                    return [("dev", watch)]
        return []

    def _developer_points_before(self) -> list[object]:
        """Those that come before what waits at this instruction."""
        developer = self._developer_points()
        return developer if developer and self._stage_of_developer(developer) <= self._last_stage else []

    def _stage(self, place: Place) -> int:
        return 1 if place.kind in _MODES else 0

    def _stage_of_developer(self, developer: list[object]) -> int:
        return 0 if developer == [("dev", self.program.pc)] else 1

    def _bare(self) -> _Bare:
        return _Bare(self)

    # ---- the developer

    def execute(self, command: str) -> str:
        self.commands.append(command)
        if command == "kill":
            self.ended = True
            self.driver.ended(-9)
        return f"did {command}"

    def write(self, text: str) -> None:
        self.lines.append(text)

    def ask(self, question: str) -> str:
        return f"no answer to {question}"

    def set_break(self, address: int) -> None:
        self.breaks.add(address)
        self._insert()

    def remove_break(self, address: int) -> None:
        self.breaks.discard(address)
        self._insert()

    # ---- checkpoints

    def checkpoint(self) -> object:
        if self.checkpoints_fail:
            raise CheckpointError("the toy is broken", hint="mend it")
        self._arrive()
        with self._bare():
            program = self.program
            only = {place for place in self._points if self._may_be_told(place)}
            return list(program.code), dict(program.data), program.pc, set(self._handled), self._last_stage, only

    def restore(self, saved: object) -> None:
        assert not self._points
        assert isinstance(saved, tuple)
        code, data, self.program.pc, handled, self._last_stage, only = saved
        self._original.clear()
        self.program.code[:] = code
        self.program.data = dict(data)
        self._handled, self._arrived, self._only = set(handled), self.program.pc, set(only)
        self.ended = False
        self._insert()

    def discard(self, saved: object) -> None:
        pass


class _Bare:
    """The program without traps, for as long as it lasts."""

    def __init__(self, debugger: ToyDebugger) -> None:
        self._debugger = debugger

    def __enter__(self) -> None:
        for address, instruction in self._debugger._original.items():
            self._debugger.program.code[address] = instruction

    def __exit__(self, *_: object) -> None:
        for address in self._debugger._original:
            self._debugger.program.code[address] = BREAK
