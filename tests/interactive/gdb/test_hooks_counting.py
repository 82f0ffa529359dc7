"""Properties whose guards and blocks count and compare: hooks step them as Python does, whatever the prompt changes."""

from __future__ import annotations

import os
from random import Random

import pytest
from interactive.counting import VARIABLES, random_property
from interactive.gdb.hooked.runs import Case, Watched, differences, run_cases
from interactive.gdb.hooked.specs import Property
from interactive.gdb.programs import build

pytestmark = pytest.mark.gdb

BATCHES = max(1, int(os.environ.get("MOPSUS_CASES", "5000")) // 5000)
BATCH = 30
PROGRAM = """
    #include <stdio.h>
    #include <stdlib.h>
    volatile long sum;
    __attribute__((noinline)) void f(long x, long y) { sum += x; sum -= y; }
    __attribute__((noinline)) void g(int x) { sum += x; sum *= 3; }
    __attribute__((noinline)) void h(unsigned char x) { sum -= x; sum += 2; }
    int main(int count, char **words) {
        for (int i = 1; i + 2 < count; i += 3) {
            long x = atol(words[i + 1]), y = atol(words[i + 2]);
            if (*words[i] == 'f') f(x, y);
            else if (*words[i] == 'g') g((int) x);
            else h((unsigned char) x);
        }
        printf("%ld\\n", sum);
        return 0;
    }
"""
ENDS = (str((1 << 63) - 1), str(-(1 << 63)))


def random_calls(random: Random) -> str:
    return " ".join(
        f"{random.choice('fffgh')} {random.choice(('0', '1', '1', '2'))} "
        f"{random.choice(('0', '1', '2', '-1', *(ENDS if random.random() < 0.1 else ())))}"
        for _ in range(random.randint(5, 60))
    )


def random_commands(random: Random) -> tuple[str, ...]:
    """What a developer may do at a stop."""
    slice_, name, number = random.randrange(3), random.choice(VARIABLES), random.choice((0, 1, 5, 1 << 62, 1 << 70))
    monitor = "python session.watches[0].interface"
    return random.choice(
        (
            (),
            (f"{monitor}.set_env_value({slice_}, '{name}', {number})",),
            (f"{monitor}.set_env_value({slice_}, '{name}', 'text')",),
            (f"{monitor}.set_env_dict({slice_}, {{'{name}': {number}}})",),
            (f"python lent = session.watches[0].interface.get_env({slice_}); lent['{name}'] = {number}",),
            (f"python lent['{name}'] = {number}",),
        )
    )


def random_case(random: Random, program) -> Case:
    keyed = random.random() < 0.7
    watched = Watched(Property(random_property(random, keyed), ".prop"))
    commands = tuple((*random_commands(random), "continue") for _ in range(3))
    return Case(program, random_calls(random), (watched,), commands)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_hooks_and_traps_count_alike(seed):
    random = Random(seed)
    program = build(PROGRAM, "-g", random.choice(("-O0", "-O1")), "-w")
    cases = [random_case(random, program) for _ in range(BATCH)]
    hooked, trapped = (run_cases(cases, hooks=hooks) for hooks in (True, False))
    for case, one, other in zip(cases, hooked, trapped, strict=True):
        text = case.properties[0].property.text
        assert differences(one, other) == "", f"{text}\n{case.arguments}\n{case.commands}"
    assert sum(run.arrivals for run in hooked) < sum(run.arrivals for run in trapped) / 2
