"""The rules of interactive runtime verification as a small interpreter: what a session must do, step by step.

Owners of points are the developer, scenarios and monitors; a point is an address or a variable with modes of access.
What the papers leave open or get wrong is decided here as in the documentation:

* one hit delivers all events at its place that monitors need, then the points follow the new states, then reactions
  run;
* points at a place that is being told of wait for the next arrival;
* a checkpoint knows what was told at its instruction, and is taken when the hit is done, as it is restored;
  breakpoints that came later wait there until the program comes anew;
* a program that was moved elsewhere has arrived there: nothing was told at that instruction yet;
* the points of scenarios stay when a checkpoint is restored, as the developer's do;
* removing a breakpoint uncovers the instruction if there is *no* other one; an access matches a watchpoint if they have
  a mode in common; running an instruction empties the set of handled points and puts the traps back.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, field

from interactive.toy import BREAK, STOP, Toy

from mopsus.model import Place, PlaceKind

MODES = {PlaceKind.READ: frozenset("r"), PlaceKind.WRITE: frozenset("w"), PlaceKind.ACCESS: frozenset("rw")}
Command = tuple[object, ...]
"""Of a scenario: `("suspend",)`, `("log", text)`, `("after", text)`, `("ckpt",)`, `("restore",)`, `("put", x, 3)`,
`("set", place, text)`, `("unset", place)`."""


@dataclass
class Machine:
    """A monitor: the transitions of each state, where its events happen, which states are bad."""

    transitions: dict[str, dict[str, str]]
    places: dict[str, list[Place]]
    acceptance: dict[str, str]

    def needed(self, state: str) -> set[str]:
        return set(self.transitions[state])


@dataclass
class Scenario:
    """Reactions in order: the moment, the state or acceptance, and commands."""

    reactions: list[tuple[str, str, list[Command]]]


@dataclass
class Saved:
    """A checkpoint."""

    code: list[tuple[object, ...]]
    data: dict[str, int]
    pc: int
    states: list[str]
    handled: set[tuple[object, str]]
    only: set[object]
    """Where somebody still had a point to fire."""


@dataclass
class Model:
    """An interactively verified program. It is run by the developer's commands."""

    program: Toy
    machines: list[Machine]
    scenarios: list[Scenario | None]
    fuel: int = 200
    interactive: bool = True
    ended: bool = False
    handled: set[tuple[object, str]] = field(default_factory=set)
    """Points that have fired for this instruction: (address or variable and modes, owner)."""
    original: dict[int, tuple[object, ...]] = field(default_factory=dict)
    developer: set[object] = field(default_factory=set)
    actions: list[tuple[int, Place, str]] = field(default_factory=list)
    """The points of scenarios: whose, where, what they do."""
    log: list[str] = field(default_factory=list)
    executed: list[tuple[int, tuple[tuple[str, int], ...]]] = field(default_factory=list)
    saved: dict[int, Saved] = field(default_factory=dict)
    restored: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.states = ["init"] * len(self.machines)
        self.restored = [0] * len(self.machines)
        self.later: deque[tuple[int, Command, str | None, str]] = deque()
        self.suspended = False
        self.arrived = self.program.pc
        self.only: set[object] | None = None

    # ---- Irv.Init

    def init(self) -> bool:
        self.instrument()
        for k in range(len(self.machines)):
            self.react(k, None, "init")
        self.work_off()
        return self.suspended

    # ---- EC

    def points(self) -> list[tuple[object, str]]:
        """All logical points: where and whose."""
        found: list[tuple[object, str]] = [(where, "dev") for where in self.developer]
        found += [(_key(place), "scn") for _, place, _ in self.actions]
        for k, machine in enumerate(self.machines):
            for event in machine.needed(self.states[k]):
                found += [(_key(place), "evt") for place in machine.places[event]]
        return found

    def instrument(self) -> None:
        """Instrument, SetBreak, RmBreak: traps exactly where somebody has a breakpoint."""
        wanted = {where for where, _ in self.points() if isinstance(where, int)}
        code = self.program.code
        for address in set(self.original) - wanted:
            code[address] = self.original.pop(address)
        for address in wanted - set(self.original):
            self.original[address] = code[address]
            code[address] = BREAK

    def accesses(self) -> list[tuple[str, str]]:
        bare = deepcopy(self.program)
        for address, instruction in self.original.items():
            bare.code[address] = instruction
        return bare.accesses()

    def arrive(self) -> None:
        """Whoever was moved elsewhere, and not back, has arrived there."""
        if self.arrived != self.program.pc:
            self.arrived, self.only = self.program.pc, None
            self.handled.clear()

    def may_fire(self, point: tuple[object, str]) -> bool:
        """At the instruction of a checkpoint, breakpoints that came later wait until the program comes anew."""
        return point[1] == "dev" or isinstance(point[0], tuple) or self.only is None or point[0] in self.only

    def candidates(self) -> list[tuple[object, str]]:
        """The points that fire at this instruction, in their order: breakpoints, then watchpoints."""
        self.arrive()
        here = [point for point in self.points() if point not in self.handled and self.may_fire(point)]
        breaks = [point for point in here if point[0] == self.program.pc]
        if breaks:
            return sorted(breaks, key=lambda point: ("dev", "scn", "evt").index(point[1]))
        found: list[tuple[object, str]] = []
        for variable, mode in self.accesses():
            matching = [
                point
                for point in here
                if isinstance(point[0], tuple) and point[0][0] == variable and mode in point[0][1]
            ]
            matching.sort(key=lambda point: (sorted(point[0][1]), point[1] != "scn"))
            found += [point for point in matching if point not in found]
        return [point for point in found if point[1] == "dev"] + [point for point in found if point[1] != "dev"]

    def execute(self, stepping: bool) -> bool:
        """One turn of the execution controller; True: an instruction has run."""
        points = self.candidates()
        if points:
            first = points[0]
            self.handled.add(first)
            if first[1] == "dev":
                self.interactive = not stepping
                return False
            # Whoever has no point at this place by now waits for the next arrival.
            present = self.points()
            self.handled |= {(first[0], owner) for owner in ("scn", "evt") if (first[0], owner) not in present}
            if first[1] == "scn":
                self.scenario_point(first[0])
            else:
                self.event(first[0])
            return False
        program = self.program
        bare = program.code[program.pc] if program.pc not in self.original else self.original[program.pc]
        if bare == STOP:
            self.ended = True
            return False
        self.executed.append((program.pc, tuple(sorted(program.data.items()))))
        for address, instruction in self.original.items():
            program.code[address] = instruction
        program.run_instruction()
        for address in self.original:
            program.code[address] = BREAK
        self.fuel -= 1
        self.handled.clear()
        self.arrived, self.only = program.pc, None
        return True

    # ---- Irv.ExecPoint, Irv.ExecEvent

    def scenario_point(self, where: object) -> None:
        self.suspended = False
        for k, place, text in sorted(self.actions, key=lambda action: action[0]):
            if _key(place) == where:
                self.log.append(f"{k} {text}")
                if text.endswith("!"):
                    self.suspended = True
        self.finish_hit()

    def event(self, where: object) -> None:
        self.suspended = False
        happening = [
            (k, event)
            for k, machine in enumerate(self.machines)
            for event in machine.places
            if event in machine.needed(self.states[k]) and where in map(_key, machine.places[event])
        ]
        moves: list[list[tuple[str, str]]] = [[] for _ in self.machines]
        for k, event in happening:
            old = self.states[k]
            new = self.machines[k].transitions[old].get(event)
            self.log.append(f"event {k} {event}")
            if new is not None:
                self.states[k] = new
                moves[k].append((old, new))
        self.instrument()
        for k, changed in enumerate(moves):
            for old, new in changed:
                self.react(k, old, new)
        self.finish_hit()

    def react(self, k: int, old: str | None, new: str) -> None:
        scenario, machine = self.scenarios[k], self.machines[k]
        if scenario is None:
            if old is not None and machine.acceptance[new] == "non-accepting":
                self.suspended = True
            return
        for moment, target, commands in scenario.reactions:
            state = new if moment == "entering" else old
            if state is not None and target in (state, machine.acceptance[state], "initial" if state == "init" else ""):
                for command in commands:
                    self.command(k, command, old, new)

    def command(self, k: int, command: Command, old: str | None, new: str) -> None:
        match command:
            case ("suspend",):
                self.suspended = True
            case ("log", str(text)):
                self.log.append(f"{k} {text} {old} {new}")
            case ("put", str(x), int(value)):
                self.program.data[x] = value
            case ("set", Place() as place, str(text)):
                self.actions.append((k, place, text))
                self.instrument()
            case ("unset", Place() as place):
                self.actions = [each for each in self.actions if (each[0], each[1]) != (k, place)]
                self.instrument()
            case _:
                self.later.append((k, command, old, new))

    def finish_hit(self) -> None:
        self.work_off()
        self.interactive = self.interactive or self.suspended

    def work_off(self) -> None:
        """What cannot be done within a hit, in the order in which it was asked for."""
        while self.later:
            k, command, old, new = self.later.popleft()
            match command:
                case ("after", str(text)):
                    self.log.append(f"{k} {text} {old} {new}")
                case ("ckpt",):
                    self.log.append(f"{k} checkpoint {self.checkpoint()}")
                case ("restore",):
                    if self.saved and self.restored[k] < 2:
                        self.restored[k] += 1
                        self.restore(max(self.saved))
                case other:
                    raise AssertionError(other)

    # ---- Ckpt, Restore

    def checkpoint(self) -> int:
        self.arrive()
        number = next(n for n in range(len(self.saved) + 1) if n not in self.saved)
        code = list(self.program.code)
        for address, instruction in self.original.items():
            code[address] = instruction
        only = {point[0] for point in self.points() if point not in self.handled and self.may_fire(point)}
        program = self.program
        saved = Saved(code, dict(program.data), program.pc, list(self.states), set(self.handled), only)
        self.saved[number] = saved
        return number

    def restore(self, number: int) -> None:
        saved = self.saved[number]
        self.original.clear()
        self.program.code[:] = saved.code
        self.program.data = dict(saved.data)
        self.program.pc = saved.pc
        self.states = list(saved.states)
        self.handled, self.arrived, self.only = set(saved.handled), saved.pc, set(saved.only)
        self.ended = False
        self.instrument()

    # ---- the developer

    def cont(self) -> None:
        self.interactive = False
        while not (self.interactive or self.ended) and self.fuel:
            self.execute(stepping=False)
        self.interactive = True

    def step(self) -> None:
        self.interactive = False
        while not (self.interactive or self.ended) and self.fuel and not self.execute(stepping=True):
            pass
        self.interactive = True

    def set_pc(self, address: int) -> None:
        self.program.pc = address

    def set_point(self, where: object) -> None:
        self.developer.add(where)
        self.instrument()

    def remove_point(self, where: object) -> None:
        self.developer.discard(where)
        self.instrument()


def _key(place: Place) -> object:
    """Where a point is: an address, or a variable with modes of access."""
    if place.kind is PlaceKind.LINE:
        return int(place.what)
    return place.what, MODES[place.kind]
