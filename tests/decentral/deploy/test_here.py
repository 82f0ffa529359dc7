"""Deployments in one process: hosts without rounds find what whoever sees everything finds, even if they are killed."""

from __future__ import annotations

import asyncio
import random

import pytest
from decentral.deploy.support import ALGORITHMS, OWN, SURE, deployment, simulated, texts, verdict_of
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.temporal_formulas import formulas

from mopsus.bus import LocalBus
from mopsus.decentral.deploy.client import Client
from mopsus.decentral.deploy.here import deploy_here
from mopsus.decentral.deploy.host import Host
from mopsus.decentral.deploy.messages import subject_of_host
from mopsus.logics.temporal.syntax import FUTURE

PROPOSITIONS = tuple(name for names in OWN.values() for name in names)


@st.composite
def runs(draw, most=6):
    length = draw(st.integers(0, most))
    return {name: [{each: draw(st.booleans()) for each in own} for _ in range(length)] for name, own in OWN.items()}


def check(outcome, algorithm, formula, traces):
    """The verdict is what can be known; or, if the algorithm need not find it, what it finds in the simulator."""
    expected = verdict_of(formula, traces)
    assert outcome.verdict is expected or (outcome.verdict is None and algorithm not in SURE)
    assert outcome.verdict is simulated(algorithm, formula, traces).verdict


def nothing(text):
    pass


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=15, deadline=None)
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), traces=runs())
def test_the_verdict_is_that_of_whoever_sees_everything(algorithm, formula, traces):
    outcome = asyncio.run(deploy_here(deployment(algorithm, formula, texts(traces)), nothing))
    check(outcome, algorithm, formula, traces)
    assert outcome.end == ("quiet" if outcome.verdict is None else "over")


class BadBus(LocalBus):
    """Loses, doubles and reorders."""

    def __init__(self, seed):
        super().__init__()
        self._draw = random.Random(seed)

    def cut(self, name):
        """What is sent to a host goes nowhere."""
        self._followers[subject_of_host(name)].clear()

    async def _publish(self, subject, data):
        for _ in range(self._draw.choice([0, 1, 1, 2])):
            delay = self._draw.choice([0, 0, 0.003])
            asyncio.get_running_loop().call_later(delay, self._deliver, subject, data)

    def _deliver(self, subject, data):
        for receive in self._followers[subject]:
            receive(data)


async def killed_at_random(deployed, folder, bus, seed, kills):
    """Run a deployment in which hosts die at any point where they wait, and are started again."""
    draw = random.Random(seed)

    def start(name):
        journals = folder / name
        journals.mkdir(exist_ok=True)
        return asyncio.ensure_future(Host(name, bus, journals, nothing).serve())

    serving = {name: start(name) for name in deployed.components}
    running = asyncio.ensure_future(Client(bus, deployed).run())
    try:
        for _ in range(kills):
            for _ in range(draw.randrange(60)):
                await asyncio.sleep(0)
            name = draw.choice(list(serving))
            bus.cut(name)
            serving[name].cancel()
            await asyncio.wait([serving[name]])
            serving[name] = start(name)
        return await running
    finally:
        for each in (*serving.values(), running):
            each.cancel()
        await asyncio.wait([*serving.values(), running])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=10, deadline=None)
@given(
    formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6),
    traces=runs(),
    seed=st.integers(0, 2**32),
    kills=st.integers(0, 4),
)
def test_a_bad_bus_and_hosts_that_die(tmp_path_factory, algorithm, formula, traces, seed, kills):
    deployed = deployment(algorithm, formula, texts(traces))
    folder = tmp_path_factory.mktemp("journals")
    outcome = asyncio.run(killed_at_random(deployed, folder, BadBus(seed), seed, kills))
    check(outcome, algorithm, formula, traces)


@settings(max_examples=10, deadline=None)
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), traces=runs())
def test_verdicts_at_all_timestamps(formula, traces):
    watched = {"watch": "all"}
    outcome = asyncio.run(deploy_here(deployment("general", formula, texts(traces), options=watched), nothing))
    expected = simulated("general", formula, traces, options=watched)
    assert outcome.verdict is expected.verdict
    assert by_timestamp(outcome.monitor_verdicts) == by_timestamp(expected.monitor_verdicts)


def by_timestamp(verdicts):
    found = {}
    for name, runs in verdicts.items():
        for first, last, value in runs:
            found |= dict.fromkeys([(name, time) for time in range(first, last + 1)], value)
    return found
