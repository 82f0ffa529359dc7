"""Machines that can be stepped without us: by an agent in the program, which sees events that nobody else sees.

An agent knows of a step only where the instance goes, and whether we must know of it: at once, because somebody
reacts, or some time, because a witness has it or an instance began or ended. All else, most events of most programs, it
keeps to itself. So a machine is a table here, of whatever kind it was, with code for cells that depend on variables or
values; a monitor that is no such table has no stepper.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from mopsus.interactive.arithmetic import Instruction, Operation, is_word, run
from mopsus.interactive.cells import CODE, KEEP, ROW, STOP, NoStepperError
from mopsus.interactive.guarded import cells_of
from mopsus.logics import CompiledSpec
from mopsus.model import GuardedMachine, Machine, TableMachine
from mopsus.monitor.listener import Heeded

_MOST_CELLS = 1 << 16
_MORE = "it needs more than tables with one parameter"

States = tuple[int, ...]
"""Of an instance: by property, the number of its state."""


@dataclass(frozen=True, slots=True)
class Stepper:
    """`cells[row + letter]` is the next row, with `STOP` and `KEEP`. Row 0 is that of a value that was never seen; a
    letter is the number of an event."""

    letters: int
    keyed: bool
    """Does the first value of each event say which instance it is about? Otherwise there is one."""
    cells: array[int]
    rows: Mapping[States, int]
    code: tuple[Instruction, ...] = ()
    """Of cells that are not the same for all instances in a row: see `mopsus.interactive.guarded`."""
    variables: tuple[str, ...] = ()

    def tables(self) -> tuple[bytes, bytes, tuple[str, ...]]:
        """Cells, code and variables as the core knows them."""
        return self.cells.tobytes(), b"".join(map(bytes, self.code)), self.variables

    def check(self, environment: Mapping[str, object]) -> None:
        """`NoStepperError` if the code looks at a variable that it could not hold: it would always be given up."""
        for name in {self.variables[each.operand] for each in self.code if each.operation is Operation.VARIABLE}:
            if name in environment and not is_word(environment[name]):
                raise NoStepperError(f"its variable `{name}` is no integer")

    def step(
        self, row: int, letter: int, values: Sequence[object], variables: Sequence[int | None]
    ) -> tuple[int, list[int | None]] | None:
        """The row and the variables after a step; None if only the monitor itself can tell."""
        cell, after = self.cells[row + letter], list(variables)
        if cell & CODE:
            words = [int(value) if isinstance(value, int) and is_word(value) else None for value in values]
            result = run(self.code, cell & ROW, words, variables)
            if result is None:
                return None
            cell, after = result
        return cell & ROW, after


@dataclass(frozen=True, slots=True)
class Records:
    """Events as an agent notes them, one behind the other: of each, its number, the address where the function returns
    to, when by the processor's clock, and the words of its values, with room for so many."""

    data: bytes
    values: int

    HEAD: ClassVar = 3
    """Words before the values."""

    @property
    def width(self) -> int:
        """Of a record, in words."""
        return self.HEAD + self.values

    def numbers(self) -> list[int]:
        return self._words[:: self.width].tolist()

    def words(self, at: int) -> list[int]:
        """The values of one of them."""
        return self._words[at * self.width + self.HEAD : (at + 1) * self.width].tolist()

    @property
    def _words(self) -> memoryview[int]:
        return memoryview(self.data).cast("Q")


def signed(word: int) -> int:
    """The number with a sign that a word is."""
    return word - (1 << 64) if word >> 63 else word


@dataclass(frozen=True, slots=True)
class Kind:
    """What the records of a number are: an event of the monitor, what makes its values of words, and where it happens,
    if that is always the same line; "" if nobody knows."""

    event: int
    values: tuple[Callable[[int], int], ...]
    location: str | None

    @property
    def words(self) -> str:
        """What the words are, as the core knows it."""
        return "".join({bool: "b", signed: "s"}.get(made, "u") for made in self.values)


class Follower(Protocol):
    """Whoever steps a monitor elsewhere: it must know of what it does not see."""

    def step(self, value: object, letter: int, values: Sequence[object]) -> None:
        """The monitor got this event from us, with these values, of the instance with this one; None without a
        parameter."""

    def renew(self) -> None:
        """Its instances are in other states now, or have other variables, by no event."""

    def rows(self) -> Sequence[tuple[int | None, int]]:
        """The values and rows of the instances as they are this very moment, while the program runs; none if there are
        too many to look through."""


class Clock(NamedTuple):
    """What the processor's clock shows at some moment, how many seconds after the start of the program that is, and how
    long a tick takes."""

    ticks: int
    seconds: float
    tick: float


class Stepped(Protocol):
    """A monitor that somebody else steps, too."""

    stepper: Stepper
    follow: Follower | None

    @property
    def lent(self) -> bool:
        """Has somebody its variables, who may assign them whenever the program stands?"""

    def rows(self) -> Sequence[tuple[object, int, Sequence[int | None]]]:
        """The values that it has instances for, None without a parameter, and the rows that these are in, with their
        variables. With a parameter, row 0 is there, too: that is how an instance begins."""

    def happened(
        self, records: Records, kinds: Sequence[Kind | None], line: Callable[[int], str | None], clock: Clock
    ) -> None:
        """Take the events that were noted: those of a number that has a kind. `line` gives the line of an address."""

    def passed(self, event: int, count: int) -> None:
        """So many events were stepped that need not be told."""


def stepper_of(compiled: CompiledSpec, creation: Sequence[bool], heeded: Heeded) -> Stepper:
    """The stepper of a spec's monitor, whose events begin an instance or not; `NoStepperError` if it needs more than
    tables of moderate size with one parameter at the most, and sums. Somebody reacts to what it says, and to steps that
    leave or enter states that are heeded."""
    spec = compiled.spec
    if len(spec.parameters) > 1 or any(
        len(event.parameters) != len(spec.parameters) or event.condition is not None or event.action is not None
        for event in spec.events
    ):
        raise NoStepperError(_MORE)
    keyed = bool(spec.parameters)
    match compiled.machines:
        case [GuardedMachine() as machine]:
            values = {event.name: event.names for event in spec.events}
            return Stepper(
                len(values), keyed, *cells_of(machine, values, heeded.get(spec.properties[0].name, ((), ())))
            )
        case machines:
            tables = [machine for machine in machines if isinstance(machine, TableMachine)]
            if not tables or len(tables) != len(machines):
                raise NoStepperError(_MORE)
            return _Product(tables, [event.name for event in spec.events], creation).stepper(keyed)


class _Product:
    """All machines of a spec as one, with what is to be told of each step."""

    def __init__(self, machines: Sequence[TableMachine], events: Sequence[str], creation: Sequence[bool]) -> None:
        self._machines = machines
        self._letters = [[_letter(machine, event) for machine in machines] for event in events]
        self._creation = creation
        self._initial: States = tuple(machine.initial for machine in machines)

    def stepper(self, keyed: bool) -> Stepper:
        count = len(self._letters)
        rows: dict[States, int] = {}
        order: list[States] = []
        cells = array("I", [0] * count)  # of a value that was never seen

        def row_of(states: States) -> int:
            if states not in rows:
                rows[states] = (len(order) + 1) * count
                order.append(states)
            return rows[states]

        for letter, begins in enumerate(self._creation):
            if begins:
                target, told = self._step(self._initial, letter)
                cells[letter] = row_of(target) | told | KEEP
        row_of(self._initial)
        for states in order:  # grows meanwhile
            if len(cells) > _MOST_CELLS:
                raise NoStepperError("its tables are too large")
            for letter in range(count):
                target, told = self._step(states, letter)
                cells.append(row_of(target) | told)
        return Stepper(count, keyed, cells, rows)

    def _step(self, states: States, letter: int) -> tuple[States, int]:
        if not self._alive(states):  # it is forgotten
            return states, 0
        target = tuple(
            state if column is None else machine.table[state][column]
            for machine, state, column in zip(self._machines, states, self._letters[letter], strict=True)
        )
        if any(map(_speaks, self._machines, states, target)):
            return target, STOP
        return target, KEEP if target != states else 0

    def _alive(self, states: States) -> bool:
        return any(machine.alive[state] for machine, state in zip(self._machines, states, strict=True))


def _speaks(machine: Machine, before: int, after: int) -> bool:
    """Does the step report something that was not said for good before?"""
    assert isinstance(machine, TableMachine)
    return bool(machine.reports(before, after))


def _letter(machine: TableMachine, event: str) -> int | None:
    """The column of an event; None if the machine does not know it."""
    return machine.alphabet.index(event) if event in machine.alphabet else None
