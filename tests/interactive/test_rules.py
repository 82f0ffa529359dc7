"""Sessions do what the rules say: on random programs, properties, scenarios and commands of the developer."""

from __future__ import annotations

import random
from copy import deepcopy
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.feeding import CallingToy, SteppingToy
from interactive.model import MODES, Command, Machine, Model, Scenario
from interactive.toy import STOP, Toy, ToyDebugger

import mopsus
from mopsus.interactive.scenario.syntax import parse_scenario
from mopsus.interactive.session import Session
from mopsus.model import Place, PlaceKind

VARIABLES = ("x", "y", "z")
STATES = ("init", "s1", "s2")
EVENTS = ("a", "b", "c")
OBSERVING = ("log", "after", "set", "unset")
FUEL = 60


def random_program(draw: random.Random) -> Toy:
    length = draw.randint(2, 7)
    code = []
    for _ in range(length):
        x, y, z = (draw.choice(VARIABLES) for _ in range(3))
        target = draw.randrange(length + 1)
        code.append(
            draw.choice([("put", x, draw.randint(0, 4)), ("add", x, y, z), ("jump", target), ("loop", x, target)])
        )
    return Toy([*code, STOP], dict.fromkeys(VARIABLES, 1))


def random_place(draw: random.Random, program: Toy, lines: float = 0.6) -> Place:
    if draw.random() < lines:
        return Place(PlaceKind.LINE, str(draw.randrange(len(program.code))))
    return Place(draw.choice([PlaceKind.READ, PlaceKind.WRITE, PlaceKind.ACCESS]), draw.choice(VARIABLES))


def random_machine(draw: random.Random, program: Toy, kind: type[ToyDebugger] = ToyDebugger) -> Machine:
    """For a debugger that feeds, of lines only: no two of its points come to one instruction one after the other, where
    it matters which are set meanwhile."""
    lines = 0.6 if kind is ToyDebugger else 1.0
    places = {event: [random_place(draw, program, lines)] for event in EVENTS}
    transitions = {state: {event: draw.choice(STATES) for event in EVENTS if draw.random() < 0.6} for state in STATES}
    acceptance = {state: draw.choice(["accepting", "non-accepting", ""]) for state in STATES}
    return Machine(transitions, places, acceptance)


def random_scenario(draw: random.Random, program: Toy, kinds: tuple[str, ...]) -> Scenario:
    reactions = []
    for number in range(draw.randint(0, 4)):
        commands = [random_command(draw, program, f"r{number}", kinds) for _ in range(draw.randint(0, 3))]
        target = draw.choice([*STATES, "accepting", "non-accepting", "initial"])
        reactions.append((draw.choice(["entering", "leaving"]), target, commands))
    return Scenario(reactions)


def random_command(draw: random.Random, program: Toy, name: str, kinds: tuple[str, ...]) -> Command:
    place = random_place(draw, program)
    match draw.choice(kinds):
        case "log" | "after" as kind:
            return kind, name
        case "set":
            return "set", place, f"at {place.what}{draw.choice(['', '!'] if 'suspend' in kinds else [''])}"
        case "unset":
            return "unset", place
        case "put":
            return "put", draw.choice(VARIABLES), draw.randint(0, 4)
        case kind:
            return (kind,)


def as_spec(machine: Machine, number: int) -> str:
    """The property as text."""
    lines = [f"P{number}() {{"]
    for event, (place, *_) in machine.places.items():
        advice = "before" if place.kind is PlaceKind.LINE else "after"
        lines.append(f'    event {event} {advice}() : {place.kind.value}("{place.what}")')
    lines.append("    efsm:")
    for state, transitions in machine.transitions.items():
        lines.append(f"        state {state} {machine.acceptance[state]} {{")
        lines += [f"            transition {{ event {e} success {target} }}" for e, target in transitions.items()]
        lines.append("        }")
    return "\n".join([*lines, "}"])


def as_text(scenario: Scenario, number: int) -> str:
    """The scenario as text."""
    lines = ["initialization {", "    points, restored = {}, 0", "}"]
    for moment, target, commands in scenario.reactions:
        states = f"state {target}" if target in STATES else f"{target} state"
        lines.append(f"on {moment} {states} {{")
        lines += [f"    {line}" for command in commands for line in as_code(command, number)]
        lines += ["    pass", "}"]
    return "\n".join(lines)


def as_code(command: Command, number: int) -> list[str]:
    said = f'"@{number}'
    match command:
        case ("suspend",):
            return ["suspend_execution()"]
        case ("log", text):
            return [f'print({said} {text}", old_state, new_state)']
        case ("after", text):
            return [f'after_breakpoint(lambda: print({said} {text}", old_state, new_state))']
        case ("put", x, value):
            return [f'set("{x}", {value})']
        case ("ckpt",):
            done = f'print({said} checkpoint", checkpoint_get_id(handle))'
            return ["handle = checkpoint()", f"after_breakpoint(lambda handle=handle: {done})"]
        case ("restore",):
            return [
                "def go_back():",
                "    global restored",
                "    if checkpoints() and restored < 2:",
                "        restored += 1",
                "        restore_checkpoint(max(checkpoints()))",
                "after_breakpoint(go_back)",
            ]
        case ("set", Place() as place, str(text)):
            done = f'print({said} {text}")' + (", suspend_execution()" if text.endswith("!") else "")
            where = f'"{place.what}"'
            if place.kind is PlaceKind.LINE:
                made = f"set_breakpoint({where}, lambda: ({done}))"
            else:
                made = f'set_watchpoint({where}, "{"".join(sorted(MODES[place.kind]))}", lambda: ({done}))'
            return [f'points.setdefault("{place.kind} {place.what}", []).append({made})']
        case ("unset", Place() as place):
            return [f'for point in points.pop("{place.kind} {place.what}", []):', "    unset_breakpoint(point)"]
    raise AssertionError(command)


class Pair:
    """The model and a session, given the same commands. With a debugger that feeds, nobody hears of single events."""

    def __init__(
        self,
        program: Toy,
        machines: list[Machine],
        scenarios: list[Scenario | None],
        kind: type[ToyDebugger] = ToyDebugger,
    ) -> None:
        self.model = Model(deepcopy(program), machines, scenarios, FUEL)
        self.feeds = kind is not ToyDebugger
        self.debugger = kind(deepcopy(program), FUEL)
        self.session = Session(self.debugger)
        self.debugger.driver = self.session
        for k, (machine, scenario) in enumerate(zip(machines, scenarios, strict=True)):
            spec = mopsus.parse(as_spec(machine, k))[f"P{k}"]
            reactions = None if scenario is None else parse_scenario(as_text(scenario, k))
            watch = self.session.add(spec, reactions, quiet=True)
            if not self.feeds:
                watch.interface.register_event("event_applied", partial(self._applied, k))
        self.model.init()
        self.session.start()
        self.compare()

    def _applied(self, number: int, event: str) -> None:
        self.debugger.lines.append(f"@event {number} {event}")

    def command(self, kind: str, what: object) -> None:
        """One command of the developer."""
        model, debugger, session = self.model, self.debugger, self.session
        match kind:
            case "cont":
                model.cont()
                debugger.cont()
            case "step":
                model.step()
                debugger.step()
            case "break":
                (model.remove_point if what in model.developer else model.set_point)(what)
                (debugger.remove_break if what in debugger.breaks else debugger.set_break)(what)
            case "watch":
                variable, modes = what
                key = (variable, frozenset(modes))
                (model.remove_point if key in model.developer else model.set_point)(key)
                debugger.watches ^= {what}
            case "put":
                model.program.data[what] = debugger.program.data[what] = 3
            case "pc":
                model.set_pc(what)
                debugger.set_pc(what)
            case "ckpt":
                assert model.checkpoint() == session.checkpoint()
            case "restore":
                if model.saved:
                    number = sorted(model.saved)[what % len(model.saved)]
                    model.restore(number)
                    session.restore(number)
        self.compare()

    def compare(self) -> None:
        model, debugger, session = self.model, self.debugger, self.session
        if isinstance(debugger, SteppingToy):
            debugger.drain()  # it may have run out of fuel
        assert debugger.executed == model.executed
        assert (debugger.program.data, debugger.program.pc) == (model.program.data, model.program.pc)
        assert debugger.program.code == model.program.code or self.feeds  # who is fed needs all points
        assert debugger.ended == model.ended
        log = [line for line in model.log if not (self.feeds and line.startswith("event"))]
        assert [line[1:] for line in debugger.lines if line.startswith("@")] == log
        assert [each.number for each in session.checkpoints] == sorted(model.saved)
        assert [watch.interface.get_current_states() for watch in session.watches] == [{each} for each in model.states]
        assert not session.warnings


def random_developer(draw: random.Random, program: Toy) -> tuple[str, object]:
    match draw.choice(["cont", "cont", "step", "step", "break", "watch", "put", "pc", "ckpt", "restore"]):
        case "break" | "pc" as kind:
            return kind, draw.randrange(len(program.code))
        case "watch":
            return "watch", (draw.choice(VARIABLES), draw.choice(["r", "rw", "w"]))
        case "put":
            return "put", draw.choice(VARIABLES)
        case "restore":
            return "restore", draw.randrange(3)
        case kind:
            return kind, None


ALL = ("log", "after", "set", "unset", "put", "ckpt", "restore", "suspend")
DEBUGGERS = pytest.mark.parametrize("kind", [ToyDebugger, CallingToy, SteppingToy])


@DEBUGGERS
@settings(max_examples=300, deadline=None)
@given(draw=st.randoms(use_true_random=False))
def test_a_session_follows_the_rules(kind, draw):
    program = random_program(draw)
    machines = [random_machine(draw, program, kind) for _ in range(draw.randint(1, 2))]
    scenarios = [random_scenario(draw, program, ALL) if draw.random() < 0.8 else None for _ in machines]
    pair = Pair(program, machines, scenarios, kind)
    for _ in range(draw.randint(1, 12)):
        if pair.model.ended or not pair.model.fuel:
            break
        pair.command(*random_developer(draw, program))


def plain_run(program: Toy, fuel: int) -> list[tuple[int, tuple[tuple[str, int], ...]]]:
    """What the program does without any debugger."""
    executed = []
    while program.code[program.pc] != STOP and len(executed) < fuel:
        executed.append((program.pc, tuple(sorted(program.data.items()))))
        program.run_instruction()
    return executed


@DEBUGGERS
@settings(max_examples=300, deadline=None)
@given(draw=st.randoms(use_true_random=False))
def test_who_only_observes_changes_nothing(kind, draw):
    """The program and the program under monitors do the same, whatever points come and go, and no trap is left."""
    program = random_program(draw)
    plain = plain_run(deepcopy(program), FUEL)
    machines = [random_machine(draw, program, kind) for _ in range(draw.randint(1, 2))]
    scenarios = [random_scenario(draw, program, OBSERVING) if draw.random() < 0.8 else None for _ in machines]
    pair = Pair(program, machines, scenarios, kind)
    while not pair.debugger.ended and pair.debugger.fuel:
        pair.command("cont", None)
    assert pair.debugger.executed == plain
    pair.session.close()
    assert pair.debugger.program.code == program.code


# What the papers get wrong, as it is decided here.

LOOP = [("put", "n", 3), ("add", "x", "n", "n"), ("loop", "n", 1), STOP]


def watched(*places: Place) -> Pair:
    """A monitor that needs all of these places, always."""
    events = {f"e{number}": [place] for number, place in enumerate(places)}
    machine = Machine({"init": dict.fromkeys(events, "init")}, events, {"init": ""})
    return Pair(Toy(list(LOOP), {"n": 0, "x": 0}), [machine], [None])


def test_an_access_fits_a_watchpoint_if_they_have_a_mode_in_common():
    pair = watched(Place(PlaceKind.READ, "x"), Place(PlaceKind.WRITE, "x"))
    pair.command("cont", None)
    assert pair.model.log == ["event 0 e1"] * 3


def test_a_trap_stays_while_anybody_has_a_point_there():
    pair = watched(Place(PlaceKind.LINE, "1"))
    pair.command("break", 1)
    pair.command("break", 1)
    assert pair.debugger.traps == {1}
    pair.session.close()
    assert pair.debugger.traps == set()


def test_a_point_fires_again_at_every_arrival():
    pair = watched(Place(PlaceKind.LINE, "1"))
    pair.command("cont", None)
    assert pair.model.log == ["event 0 e0"] * 3


def test_checkpoints_are_counted_from_0():
    pair = watched(Place(PlaceKind.LINE, "1"))
    for _ in range(2):
        pair.command("ckpt", None)
    assert sorted(pair.model.saved) == [0, 1]
    pair.session.discard(0)
    assert pair.session.checkpoint() == 0
