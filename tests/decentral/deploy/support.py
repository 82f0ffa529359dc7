"""Deployments for tests."""

from __future__ import annotations

from mopsus.decentral import System, specification_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.algorithms.split import split_formula
from mopsus.decentral.deploy.client import Deployment
from mopsus.decentral.deploy.messages import Placed, Settings
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.traces import format_event
from mopsus.logics.ltl.syntax import parse_over_propositions

ALGORITHMS = ["orch", "migr", "migrr", "chor", "general"]
SURE = {"orch", "migr", "migrr"}
"""Those that find whatever can be known; the others may say that they do not know."""
OWN = {"A": ("a0", "a1"), "B": ("b0",), "C": ("c0",)}
QUICK = Settings(wait_s=0.002, probe_s=0.005, resend_s=0.02, timeout_s=60)


def texts(traces):
    """A periphery for each component that has its trace."""
    return {
        name: ({"kind": "text", "trace": ">".join(map(format_event, trace))},) if trace else ()
        for name, trace in traces.items()
    }


def task_of(algorithm, formula, own=OWN, options=()):
    """What an algorithm is to set up: for the general one, the formula as a choreography would split it."""
    system = System(own)
    if algorithm == "general":
        formula = parse_over_propositions(formula) if isinstance(formula, str) else formula
        return Task(split_formula(formula, system).specification, system, dict(options))
    return Task(specification_of({"root": formula}), system, dict(options))


def deployment(algorithm, formula, peripheries, own=OWN, settings=QUICK, options=()):
    """Every component on a host of its own, which has its name in lower case."""
    parts = set_up(load_algorithm(algorithm), task_of(algorithm, formula, own, options))
    components = {name.lower(): (Placed(name, own[name], tuple(peripheries[name])),) for name in own}
    return Deployment(algorithm, parts, components, settings)


def simulated(algorithm, formula, traces, own=OWN, options=()):
    """What the simulator finds."""
    task, chosen = task_of(algorithm, formula, own, options), load_algorithm(algorithm)
    return simulate(set_up(chosen, task), task, traces, algorithm=chosen)


def verdict_of(formula, traces):
    """What whoever sees everything says in the end."""
    automaton = specification_of({"root": formula}).monitors["root"].automaton
    state = 0
    for events in zip(*traces.values(), strict=True):
        state = automaton.step(state, {name for event in events for name, value in event.items() if value})
    return automaton.verdicts[state]
