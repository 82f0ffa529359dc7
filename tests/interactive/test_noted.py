"""Steps that an agent has made are made again by the core as events would have made them, and guards and blocks as
Python would have run them: the same states and variables, be these numbers or truth values, the same slices in the same
order, the same witnesses."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.feeding import VALUES, record
from interactive.test_guarded import Followed, compiled, random_monitor, stepper_for

import mopsus
from mopsus.interactive.cells import KEEP, STOP
from mopsus.interactive.stepper import Clock, Records
from mopsus.logics import compile_spec
from mopsus.monitor import Monitor

NUMBERS = (0, 1, 2, -1, (1 << 63) - 1)
CLOCK = Clock(0, 0.0, 1e-6)
ALL = (1 << 64) - 1


class Noting:
    """A monitor that learns of its events by the log of an agent."""

    def __init__(self, made, tables) -> None:
        self.told: list[object] = []
        self.monitor = Monitor(made, self.told.append, history=8)
        self.monitor.on_fault = lambda error, fault: None
        self._tables = tables
        self._log: list[bytes] = []
        self._first = 1

    def note(self, letter, values) -> None:
        self._log.append(record(letter, [value & ALL for value in values]))

    def take(self, kinds) -> None:
        core, _ = self.monitor.inside()
        records = Records(b"".join(self._log), VALUES)
        self._first += core.take_noted(records.data, records.width, kinds, str, CLOCK, self._first, self._tables)
        self._log.clear()


def slices(monitor):
    return [
        (each.binding, each.state, [(name, type(value), value) for name, value in sorted(each.environment.items())])
        for each in monitor.slices()
    ]


def witnesses(told):
    return [
        (verdict.category, verdict.binding, [(item.event, item.binding) for item in verdict.witness])
        for verdict in told
    ]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 32), st.booleans())
def test_noted_steps_are_those_of_python(seed, keyed):
    random = Random(seed)
    found = random_monitor(random, keyed, history=8)
    if found is None:
        return
    text, stepper, made, told, python = found
    noting = Noting(made, stepper.tables())
    followed = Followed(stepper, python)
    truth = random.random() < 0.3  # the parameter or the field is one
    kinds = [(number, ("b" if truth else "s") * len(event.names), "") for number, event in enumerate(made.spec.events)]
    for _ in range(30):
        letter = random.randrange(len(made.spec.events))
        event = made.spec.events[letter]
        values = tuple(random.choice((False, True) if truth else NUMBERS) for _ in event.names)
        cell = followed.step(letter, values)
        python.event(event.name)(*values)
        if cell is None or cell & STOP:  # the agent would call the debugger
            noting.take(kinds)
            noting.monitor.event(event.name)(*values)
            followed.renew(python)
        elif cell & KEEP:
            noting.note(letter, values)
        if random.random() < 0.2:
            noting.take(kinds)
            assert slices(noting.monitor) == slices(python), text
    noting.take(kinds)
    assert slices(noting.monitor) == slices(python), text
    assert witnesses(noting.told) == witnesses(told), text


def test_what_no_word_can_hold_is_left_to_python():
    text = """
        slice on x
        initialization { sum = 0 }
        state init { transition { event f(x, y) success { sum += y } } }
    """
    stepper = stepper_for(text)
    noting = Noting(compiled(text), stepper.tables())
    for value in (ALL >> 1, 1, 5):
        noting.note(0, (7, value))
    noting.take([(0, "ss", "")])
    assert slices(noting.monitor)[-1] == ({"x": 7}, "init", [("sum", int, (1 << 63) + 5)])


def test_tables_of_another_machine_are_refused():
    text = "state init { transition { event f() success init } }"
    stepper = stepper_for(text)
    noting = Noting(compiled(text), (stepper.cells[1:].tobytes(), b"", ()))
    noting.note(0, ())
    with pytest.raises(ValueError, match="another machine"):
        noting.take([(0, "", "")])
    assert noting.monitor.stats().events == 0


MACHINES = (
    "fsm : a [ f -> b g -> a ] b [ f -> a g -> c ] c [ f -> a ] @fail { }",
    "ere : (f g | g f f)* @fail { }",
    "ere : f+ g g @match { }",
)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from(MACHINES), st.booleans())
def test_noted_steps_of_tables_are_those_of_events(seed, machine, keyed):
    random = Random(seed)
    parameters = "x" if keyed else ""
    text = f"P({parameters}) {{ event f({parameters}) event g({parameters}) {machine} }}"
    made = compile_spec(next(iter(mopsus.parse(text).values())))
    told: list[object] = []
    python = Monitor(made, told.append, history=8)
    noting = Noting(made, None)
    kinds = [(number, "s" if keyed else "", "") for number in range(2)]
    events = [
        (random.randrange(2), random.randrange(3)) for _ in range(80)
    ]  # few values: more events than are remembered
    for letter, value in events:
        values = (value,) if keyed else ()
        python.event("fg"[letter])(*values)
        noting.note(letter, values)
        if random.random() < 0.05:
            noting.take(kinds)
    noting.take(kinds)
    assert witnesses(noting.told) == witnesses(told)
    rows = [[item.row for item in verdict.witness] for verdict in noting.told]
    assert all(row == sorted(row) and verdict.row == row[-1] for row, verdict in zip(rows, noting.told, strict=True))
    assert noting.monitor.stats().events == python.stats().events == len(events)
