"""A guarded machine as a table with code goes where the monitor goes, with the same variables."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interactive.counting import STATES, random_property

from mopsus.interactive.arithmetic import of_environment, run
from mopsus.interactive.cells import CODE, KEEP, ROW, STOP, NoStepperError
from mopsus.interactive.stepper import Stepper, stepper_of
from mopsus.logics import compile_spec
from mopsus.monitor import Monitor
from mopsus.spec import parse_file


def compiled(text):
    (spec,) = parse_file(text, "random.prop").specs.values()
    return compile_spec(spec)


def stepper_for(text) -> Stepper:
    made = compiled(text)
    return stepper_of(made, [True] * len(made.spec.events), {})


class Followed:
    """Instances as an agent has them."""

    def __init__(self, stepper: Stepper, monitor: Monitor) -> None:
        self.stepper = stepper
        self.numbers = {name: number for number, name in enumerate(STATES)}
        self.given_up = 0
        self.renew(monitor)

    def renew(self, monitor: Monitor) -> None:
        self.instances, self.beginning = self.read(monitor)

    def read(self, monitor: Monitor):
        found, beginning = {}, None
        for each in monitor.slices():
            variables = of_environment(self.stepper.variables, each.environment)
            if each.binding or not self.stepper.keyed:
                found[each.binding.get("x")] = self.stepper.rows[self.numbers[each.state],], variables
            else:
                beginning = 0, variables
        return found, beginning

    def step(self, letter: int, values: tuple[int, ...]) -> int | None:
        """The cell, if it can be told."""
        key = values[0] if self.stepper.keyed else None
        row, variables = self.instances.get(key, self.beginning)
        after = self.stepper.step(row, letter, values, variables)
        if after is None:
            self.given_up += 1
            return None
        if after[0]:
            self.instances[key] = after
        cell = self.stepper.cells[row + letter]
        return run(self.stepper.code, cell & ROW, values, variables)[0] if cell & CODE else cell


def random_monitor(random: Random, keyed: bool, history: int):
    """A property, its stepper, what it was compiled to, what its monitor says, and that; None if it has no stepper."""
    text = random_property(random, keyed)
    try:
        stepper = stepper_for(text)
    except NoStepperError:
        return None
    made = compiled(text)
    told: list[object] = []
    monitor = Monitor(made, told.append, history=history)
    monitor.on_fault = lambda error, fault: None  # code that reads a variable without a value
    return text, stepper, made, told, monitor


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1 << 32), st.booleans())
def test_tables_go_where_monitors_go(seed, keyed):
    random = Random(seed)
    found = random_monitor(random, keyed, history=4)
    if found is None:
        return
    text, stepper, made, told, monitor = found
    changes: list[object] = []
    monitor.on_change = changes.append
    followed = Followed(stepper, monitor)
    for _ in range(12):
        letter = random.randrange(len(made.spec.events))
        event = made.spec.events[letter]
        values = tuple(random.choice((0, 1, 2, -1, (1 << 63) - 1)) for _ in event.names)
        told.clear()
        changes.clear()
        before = followed.read(monitor)
        cell = followed.step(letter, values)
        monitor.event(event.name)(*values)
        if cell is None:
            followed.renew(monitor)
            continue
        assert (followed.instances, followed.beginning) == followed.read(monitor), text
        assert bool(cell & STOP) == bool(told), text
        if not cell & (STOP | KEEP):
            assert not changes
            assert followed.read(monitor) == before


def test_code_for_cells_is_only_where_code_decides():
    stepper = stepper_for("""
        slice on q
        initialization { pushed = 0 }
        state init accepting { transition { event new(q, size) success { room = size } ready } }
        state ready accepting {
            transition { event push(q) { return pushed < room } success { pushed += 1 } failure full }
            transition { event close(q) success init }
        }
        state full non-accepting
    """)
    assert [bool(cell & CODE) for cell in stepper.cells] == [
        *(True, False, False),  # nothing was seen yet
        *(True, False, False),
        *(False, True, False),
        *(False, False, False),
    ]
    assert stepper.step(0, 0, (9, 2), (0, None)) == (6, [0, 2])
    assert stepper.step(6, 1, (9,), (0, 2)) == (6, [1, 2])
    assert stepper.step(6, 1, (9,), (2, 2)) == (9, [2, 2])
    assert stepper.step(6, 1, (9,), (2, None)) is None


@pytest.mark.parametrize(
    ("transition", "reason"),
    [
        ("event f() success { print(1) } s1", "`print(1)` in its code is no arithmetic of integers"),
        ("event f() success g() s1", "it calls `g`"),
        ("event f() { return len(n) } success s1", "`len(n)` in its code is no arithmetic of integers"),
        ("event f() success { return n } s1", "a block computes the state that it leads to"),
        ("event f() success over", "it has a final state"),
    ],
)
def test_machines_that_do_more_are_refused_in_words(transition, reason):
    text = f"initialization {{ n = 0 }}\nstate init {{ transition {{ {transition} }} }}\nstate s1\n"
    with pytest.raises(NoStepperError) as caught:
        stepper_for(text + ("state over final" if "over" in transition else ""))
    assert str(caught.value) == reason


def test_whatever_runs_only_when_somebody_reacts_is_left_to_python():
    text = """
        state init { transition { event f() success { print(1) } bad } transition { event g() success h() bad } }
        state bad non-accepting
    """
    stepper = stepper_for(text)
    assert stepper.step(2, 0, (), ()) is None
    assert stepper.step(2, 1, (), ()) is None
