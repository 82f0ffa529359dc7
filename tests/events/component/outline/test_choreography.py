"""Tracers that share the work (detecter §5.3, §7.8: T1 to T7), in every order of messages."""

from __future__ import annotations

import os
import random

import pytest
from oracle.choreography import Simulation, biased, every_order, flaws, pid, program_of, random_program

from mopsus.events.component.outline.choreography import Mode

CASES = max(300, int(os.environ.get("MOPSUS_CASES", "0")) // 20)

SMALL = {
    "one": program_of((False, [2]), (True, [None])),
    "chain": program_of((False, [2]), (True, [3]), (True, [])),
    "helper": program_of((False, [2]), (True, [3]), (False, [])),
    "worker of a helper": program_of((False, [2]), (False, [3]), (True, [])),
}


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("one", True),
        ("worker of a helper", True),
        ("worker of a helper", False),
        ("helper", True),
        pytest.param("helper", False, marks=pytest.mark.exhaustive),
        pytest.param("chain", True, marks=pytest.mark.exhaustive),
    ],
)
def test_every_order_of_small_systems(name, groups):
    runs = 0
    for simulation in every_order(SMALL[name], groups=groups):
        assert not flaws(simulation, SMALL[name], groups)
        runs += 1
    assert runs


@pytest.mark.parametrize("external", [False, True])
def test_random_systems_and_schedules(external):
    numbers = random.Random(5)
    dropped = tracers = 0
    for _ in range(CASES):
        program, groups = random_program(numbers, numbers.randint(2, 12)), numbers.random() < 0.5
        simulation = Simulation(program, biased(numbers), groups=groups, external=external)
        simulation.run()
        assert not flaws(simulation, program, groups), program
        dropped += simulation.dropped
        tracers += len(simulation.tracers)
    assert tracers > CASES
    assert dropped, "no message ever came to a tracer that was collected (T4)"


def test_without_the_count_some_runs_fail():
    numbers = random.Random(9)
    wrong = 0
    for _ in range(CASES):
        program = random_program(numbers, numbers.randint(3, 10))
        simulation = Simulation(program, biased(numbers), counted=False)
        try:
            simulation.run()
        except KeyError:
            wrong += 1
        else:
            wrong += bool(flaws(simulation, program, True))
    assert wrong > CASES // 50


def test_untargeted_children_reach_no_analyser_without_groups():
    program = program_of((False, [2]), (True, [3, None]), (False, [None, None]))
    for groups in (True, False):
        simulation = Simulation(program, lambda count: 0, groups=groups)
        simulation.run()
        subjects = {event.subject for event in simulation.seen[pid(2)].events}
        assert subjects == ({pid(2), pid(3)} if groups else {pid(2)})


def test_notices_have_counters():
    simulation = Simulation(SMALL["helper"], lambda count: 0)
    simulation.run()
    (notice,) = simulation.notices
    assert notice.leader == pid(2)
    assert dict(notice.events) == {"init": 2, "fork": 1, "exit": 2}
    assert simulation.tracers["root"].mode is Mode.DIRECT


def test_dead_tracer_leaves_the_others_alone():
    """A tracer that vanishes takes its own component's events with it, and nobody else's."""
    program = program_of((False, [2, 3]), (True, [None, None]), (True, [None, None]))
    for seed in range(200):
        numbers = random.Random(seed)
        simulation = Simulation(program, biased(numbers))
        victim = f"tracer of {pid(2)}"
        choose, left = biased(numbers), numbers.randrange(4, 30)
        while possible := simulation.possible():
            simulation.do(possible[choose(len(possible))])
            left -= 1
            if left == 0 and victim in simulation.tracers:
                simulation.tracers[victim].over = True
        mine = simulation.seen[pid(3)].events
        assert mine == program.events(3, 1)
        assert simulation.tracers[f"tracer of {pid(3)}"].over
