"""Random programs and properties: hooks and traps see, say and show the same."""

from __future__ import annotations

import os
from random import Random

import pytest
from interactive.gdb.hooked.code import random_program
from interactive.gdb.hooked.runs import LOOK, Case, Watched, differences, run_cases
from interactive.gdb.hooked.specs import random_property, random_scenario
from interactive.gdb.programs import build

pytestmark = pytest.mark.gdb

CASES = int(os.environ.get("MOPSUS_CASES", "5000")) // 100
BATCH = 12
# Where a call of a hook is in between, GDB does not find what an optimised function was entered with, nor the line that
# a tail call of another hook returns to: `docs/reference/gdb.md` says so.
OPTIMISED = ("-g", "-O2", "-fno-optimize-sibling-calls")
FLAGS = (
    ("-g", "-O0"),
    OPTIMISED,
    (*OPTIMISED, "-no-pie", "-fcf-protection=full"),
    ("-g", "-O1", "-fno-omit-frame-pointer", "-no-pie", "-fno-optimize-sibling-calls"),
)


def at_stops(look: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What a developer may do there."""
    return [
        ("continue",),
        (*look, "continue"),
        (*look, "finish", "backtrace", "continue"),
        ("next", *look, "continue"),
        ("stepi", *look, "continue"),
        ("python put('s1')", "continue"),
        ("python put('init')", "next", *look, "continue"),
    ]


def random_case(random: Random, flags: tuple[str, ...], program) -> Case:
    properties = [
        Watched(
            random_property(random, program.functions, f"Random{number}"),
            scenario=random_scenario(random) if random.random() < 0.2 else None,
            quiet=random.random() < 0.85,
        )
        for number in range(random.choice((1, 1, 1, 2, 3)))
    ]
    arguments = f"{random.randrange(program.scripts)}{' threaded' if random.random() < 0.2 else ''}"
    look = LOOK if "-O0" in flags else ("backtrace",)
    commands = tuple(random.choice(at_stops(look)) for _ in range(3))
    return Case(build(program.source, *flags, "-pthread", "-w"), arguments, tuple(properties), commands)


@pytest.mark.parametrize("seed", range(max(1, CASES // BATCH)))
def test_hooks_and_traps_agree(seed):
    random = Random(seed)
    program = random_program(random)
    cases = [random_case(random, FLAGS[seed % len(FLAGS)], program) for _ in range(BATCH)]
    hooked, trapped = (run_cases(cases, hooks=hooks) for hooks in (True, False))
    for case, one, other in zip(cases, hooked, trapped, strict=True):
        assert differences(one, other) == "", explained(case)


def explained(case: Case) -> str:
    texts = [f"{each.property.text}\n{each.scenario or ''} quiet: {each.quiet}" for each in case.properties]
    return "\n".join([f"{case.program} {case.arguments}", *texts, str(case.commands)])
