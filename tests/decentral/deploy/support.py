"""Deployments for tests."""

from __future__ import annotations

from mopsus.decentral import System, specification_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.deploy.client import Deployment
from mopsus.decentral.deploy.messages import Placed, Settings
from mopsus.decentral.traces import format_event

OWN = {"A": ("a0", "a1"), "B": ("b0",), "C": ("c0",)}
QUICK = Settings(wait_s=0.002, probe_s=0.005, resend_s=0.02)


def texts(traces):
    """A periphery for each component that has its trace."""
    return {
        name: ({"kind": "text", "trace": ">".join(map(format_event, trace))},) if trace else ()
        for name, trace in traces.items()
    }


def deployment(algorithm, formula, peripheries, own=OWN, settings=QUICK, options=()):
    """Every component on a host of its own, which has its name in lower case."""
    task = Task(specification_of({"root": formula}), System(own), dict(options))
    parts = set_up(load_algorithm(algorithm), task)
    components = {name.lower(): (Placed(name, own[name], tuple(peripheries[name])),) for name in own}
    return Deployment(algorithm, parts, components, settings)


def verdict_of(formula, traces):
    """What whoever sees everything says in the end."""
    automaton = specification_of({"root": formula}).monitors["root"].automaton
    state = 0
    for events in zip(*traces.values(), strict=True):
        state = automaton.step(state, {name for event in events for name, value in event.items() if value})
    return automaton.verdicts[state]
