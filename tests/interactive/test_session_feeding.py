"""Events that a debugger sends by itself do what they do when the session is told of each: verdicts with their
witnesses, reactions with their states and bindings, checkpoints, whatever the developer does meanwhile."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.feeding import CallingToy, SteppingToy
from interactive.sessions import make
from interactive.test_rules import FUEL, random_developer, random_program
from interactive.toy import STOP, Toy, ToyDebugger

import mopsus
from mopsus.interactive.scenario.syntax import parse_scenario
from mopsus.interactive.session import Session

STATES = ("init", "one", "two")
EVENTS = ("a", "b", "c")
FORMULAS = (
    "fsm : p [a -> q b -> p] q [b -> p a -> r] r [c -> p]\n@fail {}\n@r {}",
    "ere : (a b* c)+\n@match {}\n@fail {}",
    "ltl : [](a => (*)b)\n@violation {}",
    "ltl : <>(a and o b)\n@validation {}",
)


SUMS = ("{ return n < 3 }", "{ return n - 1 != 2 }", "{ if n > 4: return n < 6 }", "")
GUARDS = ("{ return n % 2 == 0 }", "{ n = 5 }", *SUMS)
BLOCKS = ("{ n += 1 }", "{ n += 1 }", "{ n = n * 2 + 1 }", '{ if n > 2: return "one"; n += 1 }')


def random_property(draw: random.Random, program: Toy, number: int) -> str:
    """With or without a parameter, with fields, guards or none, in some logic."""
    parameters = draw.choice(["", "v"])
    lines = [f"P{number}({parameters}) {{"]
    for event in EVENTS:
        place = f'line("{draw.randrange(len(program.code))}")'
        names = [f"v = {draw.choice('xyz')}"] if parameters else []
        fields = draw.choice(["", "; w"])
        names += [f"w = {draw.choice('xyz')}"] if fields else []
        values = f" && value({', '.join(names)})" if names else ""
        lines.append(f"    event {event} before({parameters}{fields}) : {place}{values}")
    if draw.random() < 0.4:
        return "\n".join([*lines, draw.choice(FORMULAS), "}"])
    lines.append("    efsm:")
    if code := draw.random() < 0.5:
        lines.append(f"        initialization {{ n = {draw.choice(['0', '0', '(1 << 63) - 3'])} }}")
    guards = GUARDS if draw.random() < 0.2 else (*SUMS, *(["{ return n < v }"] if parameters else []))
    for state in STATES:
        lines.append(f"        state {state} {draw.choice(['accepting', 'non-accepting', ''])} {{")
        for event in EVENTS:
            if draw.random() < 0.7:
                guard = draw.choice(guards) if code else ""
                failure = f"failure {draw.choice(STATES)}" if guard and draw.random() < 0.5 else ""
                block = draw.choice(BLOCKS) if code and draw.random() < 0.5 else ""
                success = f"success {block} {draw.choice(STATES)}"
                lines.append(f"            transition {{ event {event} {guard} {success} {failure} }}")
        lines.append("        }")
    return "\n".join([*lines, "}"])


ACTIONS = (
    'print("@", old_state, new_state, sorted(binding.items()))',
    'print("@states", sorted(monitor.get_current_states()))',
    'after_breakpoint(lambda: print("@later", new_state))',
    "suspend_execution()",
    'kept = checkpoint()\n    print("@kept", checkpoint_get_id(kept))',
    "if turns < 3 and checkpoints(): restore_checkpoint(max(checkpoints()))",
    "monitor.set_quiet(turns % 2 == 0)",
    "monitor.set_current_state('two')",
    "monitor.set_env_value(None, 'n', turns)",
    "monitor.set_env_dict(len(monitor.get_slice_bindings()) - 1, {'n': 2 * turns})",
    "lent = monitor.get_env()",
    "if turns > 1: lent['n'] = turns",
    "monitor.step_by_step(turns % 3 == 0)",
    'monitor.register_event("state_changed", lambda states: print("@changed", sorted(states)))',
    'if turns == 1: set_breakpoint("1", lambda: print("@point"))',
)


def random_scenario(draw: random.Random) -> str:
    targets = [*(f"state {name}" for name in (*STATES, "fail", "match")), "accepting state", "non-accepting state"]
    lines = ["initialization { turns = 0; lent = None }"]
    for _ in range(draw.randint(0, 3)):
        lines.append(f"on {draw.choice(['entering', 'leaving'])} {draw.choice(targets)} {{")
        lines += ["    turns += 1", *(f"    {draw.choice(ACTIONS)}" for _ in range(draw.randint(0, 2))), "}"]
    return "\n".join(lines)


Seen = list[Any]


def play(
    kind: type[ToyDebugger], program: Toy, properties: list[str], scenarios: list[str | None], script: Any, places: bool
) -> Seen:
    """What can be seen of a session while a developer works through a script, and afterwards; `places`: also where the
    events of witnesses happened, which the toy does not know of events that it sends as calls."""
    debugger = kind(deepcopy(program), FUEL)
    session = Session(debugger)
    debugger.driver = session
    for text, scenario in zip(properties, scenarios, strict=True):
        (spec,) = mopsus.parse(text).values()
        session.add(spec, None if scenario is None else parse_scenario(scenario), quiet=True)
    session.start()
    seen: Seen = []
    for command, what in script:
        if debugger.ended or not debugger.fuel:
            break
        match command:
            case "cont":
                debugger.cont()
            case "step":
                debugger.step()
            case "break":
                (debugger.remove_break if what in debugger.breaks else debugger.set_break)(what)
            case "put":
                debugger.program.data[what] = 3
            case "pc":
                debugger.set_pc(what)
            case "ckpt":
                session.checkpoint()
            case "restore" if numbers := [each.number for each in session.checkpoints]:
                session.restore(numbers[what % len(numbers)])
        if isinstance(debugger, SteppingToy):
            debugger.drain()
        seen.append((debugger.program.pc, dict(debugger.program.data), debugger.ended))
        # Who is fed counts all events, also those that no state needed.
        seen.append([(each.number, each.states.rpartition("; ")[0]) for each in session.checkpoints])
        for watch in session.watches:
            seen.append(sorted((str(s.binding), s.state, str(s.environment)) for s in watch.monitor.slices()))
    seen.append([(debugger.executed, [line for line in debugger.lines if line.startswith("@")])])
    for verdict in session.verdicts:
        witness = [
            (event.event, event.binding, event.location) if places else (event.event, event.binding.get("v"))
            for event in verdict.witness
        ]
        seen.append((verdict.spec, verdict.category, verdict.binding, witness))
    return seen


@pytest.mark.parametrize("kind", [CallingToy, SteppingToy])
@settings(max_examples=400, deadline=None)
@given(draw=st.randoms(use_true_random=False))
def test_a_session_that_is_fed_does_what_one_does_that_is_told(kind, draw):
    program = random_program(draw)
    properties = [random_property(draw, program, number) for number in range(draw.randint(1, 2))]
    scenarios = [random_scenario(draw) if draw.random() < 0.8 else None for _ in properties]
    script = [random_developer(draw, program) for _ in range(draw.randint(1, 10))]
    given = program, properties, scenarios, script, kind is SteppingToy
    assert play(kind, *given) == play(ToyDebugger, *given)


LIMIT = """
Limit() {
    event turn before() : line("1")
    event over before() : line("3")
    efsm: state init { transition { event turn success on } }
          state on accepting { transition { event turn success on } transition { event over success done } }
          state done
}
"""
ROUNDS = 7
LOOP = [("put", "n", ROUNDS), ("put", "x", 0), ("loop", "n", 1), ("put", "x", 1), STOP]


@pytest.mark.parametrize("kind", [CallingToy, SteppingToy])
@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("", 0),
        ("on entering state done { print('@done') }", 1),
        ("on leaving initial state { print('@begun') }", 1),
        ("on entering accepting state { print('@on') }", ROUNDS),
    ],
)
def test_only_steps_that_a_reaction_is_about_stop_the_program(kind, scenario, told):
    session, debugger = make(Toy(list(LOOP), {"n": 0, "x": 0}), LIMIT, scenario=scenario, kind=kind)
    stops = 0

    def stop_soon() -> None:
        nonlocal stops
        stops += 1
        ToyDebugger.stop_soon(debugger)

    debugger.stop_soon = stop_soon
    session.start()
    debugger.cont()
    assert debugger.ended
    assert len([line for line in debugger.lines if line.startswith("@")]) == told
    assert (stops if kind is CallingToy else debugger.hits) == told
    assert debugger.fed == ROUNDS + 1 - (told if kind is SteppingToy else 0)


def test_who_must_see_every_event_is_not_fed():
    for ask in (
        lambda watch: watch.interface.set_quiet(False),
        lambda watch: watch.interface.step_by_step(),
        lambda watch: watch.interface.register_event("event_applied", print),
        lambda watch: watch.on_unmatched(print),
    ):
        session, debugger = make(Toy(list(LOOP), {"n": 0, "x": 0}), LIMIT, kind=CallingToy)
        session.start()
        debugger.step()
        (watch,) = session.watches
        assert watch.fed
        assert watch.why_not_fed is None
        ask(watch)
        debugger.cont()
        assert not watch.fed
        assert watch.why_not_fed
        assert debugger.hits > 0
