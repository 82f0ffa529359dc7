"""Deployments in one process: hosts without rounds find what whoever sees everything finds, even if they are killed."""

from __future__ import annotations

import asyncio
import os
import random
import socket

import msgspec
import pytest
from decentral.deploy.support import ALGORITHMS, OWN, QUICK, SURE, deployment, simulated, texts, verdict_of
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.temporal_formulas import formulas

from mopsus.bus import Frame, LocalBus, frame_of
from mopsus.bus.mail import LOOSE, VERSION, bytes_of
from mopsus.decentral import DecentralError
from mopsus.decentral.algorithms.algorithm import Algorithm, Part
from mopsus.decentral.deploy.client import Client
from mopsus.decentral.deploy.here import deploy_here
from mopsus.decentral.deploy.host import Host
from mopsus.decentral.deploy.journal import Arrived, Journal, JournalError
from mopsus.decentral.deploy.messages import (
    Deploy,
    Probe,
    Settings,
    Status,
    Stop,
    decode_body,
    encode_body,
    subject_of_host,
)
from mopsus.decentral.deploy.run import Run
from mopsus.decentral.traces import parse_trace
from mopsus.logics.temporal.syntax import FUTURE

CASES = int(os.environ.get("MOPSUS_CASES", "0")) // 1000
"""How many of each kind are tried in `make test-all`."""
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
@settings(max_examples=max(8, CASES), deadline=None)
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


async def alive(host):
    await host.join()
    await host.serve()


async def killed_at_random(deployed, folder, bus, seed, kills):
    """Run a deployment in which hosts die at any point where they wait, and are started again."""
    draw = random.Random(seed)

    def start(name):
        journals = folder / name
        journals.mkdir(exist_ok=True)
        return asyncio.ensure_future(alive(Host(name, bus, journals, nothing)))

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
@settings(max_examples=max(6, CASES), deadline=None)
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


@settings(max_examples=max(6, CASES), deadline=None)
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


def test_why_there_is_a_verdict_or_none():
    switch, bulb = parse_trace("s:f>s:t>s:t>s:t>s:f"), parse_trace("l:f>l:f>l:t>l:f>l:t")
    own = {"switch": ("s",), "bulb": ("l",)}
    formula = "G(s -> X(l U !s))"
    outcome = asyncio.run(
        deploy_here(deployment("orch", formula, texts({"switch": switch, "bulb": bulb}), own), nothing)
    )
    assert (outcome.verdict, outcome.timestamp) == (False, 4)
    assert {(each.name, each.component, each.value) for each in outcome.reasons if each.time == 4} == {
        ("s", "switch", True),
        ("l", "bulb", False),
    }
    outcome = asyncio.run(
        deploy_here(deployment("orch", formula, texts({"switch": switch, "bulb": bulb[:3]}), own), nothing)
    )
    assert outcome.verdict is None
    assert ("l", "bulb", 4) in {(each.name, each.component, each.time) for each in outcome.missing}


def test_a_limit():
    traces = {name: [{own[0]: False}] * 9 for name, own in OWN.items()}
    limited = msgspec.structs.replace(QUICK, limit=4)
    outcome = asyncio.run(deploy_here(deployment("orch", "F a0", texts(traces), settings=limited), nothing))
    assert (outcome.verdict, outcome.end) == (None, "quiet")
    assert {name: host.times for name, host in outcome.hosts.items()} == {"a": {"A": 4}, "b": {"B": 4}, "c": {"C": 4}}


def test_control_signals_reach_what_is_observed():
    async def run():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        peripheries = {**texts({"B": [], "C": []}), "A": ({"kind": "tcp", "port": port},)}
        deployed = deployment("orch", "F a0", peripheries)
        bus = LocalBus()
        host_tasks = [asyncio.ensure_future(alive(Host(name, bus, None, nothing))) for name in deployed.components]
        client = Client(bus, deployed)
        running = asyncio.ensure_future(client.run())
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                break
            except ConnectionRefusedError:
                await asyncio.sleep(0.001)
        writer.write(b"a0:f\n")
        client.signal("A", "brighter")
        said = await reader.readline()
        writer.write(b"a0:t\n")
        outcome = await running
        writer.close()
        for task in host_tasks:
            task.cancel()
        await asyncio.gather(*host_tasks, return_exceptions=True)
        return said, outcome.verdict

    assert asyncio.run(run()) == (b"brighter\n", True)


async def with_a_host_that_forgets(deployed):
    """A run in which a host without a journal is killed in the middle."""
    bus = BadBus(0)
    serving = {name: asyncio.ensure_future(alive(Host(name, bus, None, nothing))) for name in deployed.components}
    started = asyncio.Event()

    def listen(data):
        body = frame_of(data).body
        if body and isinstance(decode_body(body), Probe):
            started.set()

    await bus.follow(subject_of_host("b"), listen)
    running = asyncio.ensure_future(Client(bus, deployed).run())
    try:
        await started.wait()
        bus.cut("b")
        serving["b"].cancel()
        serving["b"] = asyncio.ensure_future(alive(Host("b", bus, None, nothing)))
        return await running
    finally:
        for each in (*serving.values(), running):
            each.cancel()
        await asyncio.wait([*serving.values(), running])


def test_a_host_that_has_lost_what_it_knew(tmp_path):
    peripheries = {
        **texts({"A": [], "C": []}),
        "B": ({"kind": "tcp", "port": 0},),
    }  # nobody connects
    with pytest.raises(DecentralError, match="host 'b' has lost what it knew of the run") as caught:
        asyncio.run(with_a_host_that_forgets(deployment("orch", "F b0", peripheries)))
    assert caught.value.code == "DECENTRAL-073"


class Deserted(LocalBus):
    """A client that is killed: from some moment on, nothing comes from it."""

    deserted = False

    async def _publish(self, subject, data):
        if not (self.deserted and frame_of(data).sender.startswith("mopsus.client")):
            await super()._publish(subject, data)


def test_hosts_end_runs_that_nobody_asks_for(tmp_path):
    said = asyncio.Queue()

    async def run():
        bus = Deserted()
        peripheries = {name: ({"kind": "tcp", "port": 0},) for name in OWN}  # nobody connects
        deployed = deployment("orch", "F b0", peripheries, settings=msgspec.structs.replace(QUICK, timeout_s=0.3))
        for name in deployed.components:
            (tmp_path / name).mkdir()
        hosts = [Host(name, bus, tmp_path / name, said.put_nowait) for name in deployed.components]
        for host in hosts:
            await host.join()
        serving = [asyncio.ensure_future(host.serve()) for host in hosts]
        client = Client(bus, deployed)
        running = asyncio.ensure_future(client.run())
        while not any(status.pids for status in client.outcome.hosts.values()):
            await asyncio.sleep(0)
        bus.deserted = True
        running.cancel()
        told = [await said.get() for _ in hosts]
        while len(list(tmp_path.glob("*/*.done"))) < len(hosts):
            await asyncio.sleep(0)
        for each in serving:
            each.cancel()
        await asyncio.gather(running, *serving, return_exceptions=True)
        return told

    assert all("the client has not been heard of for 0.3 s" in each for each in asyncio.run(run()))


def test_messages_of_another_version_are_refused():
    async def run():
        bus, said = LocalBus(), []
        host = Host("a", bus, None, said.append)
        await host.join()
        await bus.publish(subject_of_host("a"), bytes_of(Frame(VERSION + 1, "0" * 32, "far", 1, b"x", 0)))
        await bus.publish(subject_of_host("a"), b"nonsense")
        while len(said) < 2:
            await asyncio.sleep(0)
        return said

    old, nonsense = asyncio.run(run())
    assert f"'far' has version {VERSION + 1}" in old
    assert "no message" in nonsense


def test_a_message_that_is_not_kept_begins_no_run():
    deployed = encode_body(Deploy("far", "orch", (), (), {}, Settings()))

    async def run():
        bus, said = LocalBus(), []
        host = Host("a", bus, None, said.append)
        await host.join()
        for number, body in ((LOOSE, deployed), (2, b"nonsense")):
            await bus.publish(subject_of_host("a"), bytes_of(Frame(VERSION, "0" * 32, "far", number, body, 0)))
        while not said:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        return said, host._sessions

    said, sessions = asyncio.run(run())
    assert len(said) == 1
    assert "no message of a deployment" in said[0]
    assert not sessions


def test_nonsense_that_is_not_kept_does_not_end_a_run():
    async def run():
        bus, said, heard = LocalBus(), [], []
        await bus.follow("far", heard.append)
        host = Host("a", bus, None, said.append)
        await host.join()
        deployed = encode_body(Deploy("far", "orch", (), (), {}, Settings()))
        probe = encode_body(Probe(7))
        for number, body in ((1, deployed), (LOOSE, b"nonsense"), (LOOSE, probe)):
            await bus.publish(subject_of_host("a"), bytes_of(Frame(VERSION, "0" * 32, "far", number, body, 0)))
        while not any(isinstance(each, Status) for each in map(body_of, heard)):
            await asyncio.sleep(0)
        return said

    def body_of(data):
        body = frame_of(data).body
        return decode_body(body) if body else None

    (told,) = asyncio.run(asyncio.wait_for(run(), 20))
    assert "no message of a deployment" in told


def test_what_comes_before_a_run_is_deployed_is_no_fault():
    run = Run("x", "h")
    run.take(Arrived("far", 1, b"nonsense"))
    run.take(Arrived("far", 2, encode_body(Stop())))
    assert run.deployed is None


def test_a_journal_that_cannot_be_written(tmp_path, monkeypatch):
    def full(self, records):
        raise JournalError("cannot write the journal: the disk is full")

    async def run():
        bus = LocalBus()
        deployed = deployment("orch", "F b0", texts({"A": [], "B": [], "C": []}))
        host_tasks = [asyncio.ensure_future(alive(Host(name, bus, tmp_path, nothing))) for name in deployed.components]
        try:
            await Client(bus, deployed).run()
        finally:
            for task in host_tasks:
                task.cancel()
            await asyncio.gather(*host_tasks, return_exceptions=True)

    monkeypatch.setattr(Journal, "write", full)
    with pytest.raises(DecentralError, match="the disk is full"):
        asyncio.run(run())


class Telling(Algorithm):
    """Written in Python: all tell the first what they see, as plain data."""

    def setup(self, task):
        automaton = task.whole().automaton
        return [
            Part(f"of {name}", name, "python", automaton if number == 0 else None, automaton.inputs)
            for number, name in enumerate(task.system.components)
        ]

    def step(self, me, turn):
        first = me.part.peers[0]
        if me.part.name != first:
            turn.send(first, [each for each in turn.seen.observations() if each[1] < len(me.part.inputs)])
            return
        for time, put, value in [*turn.seen.observations(), *(each for _, told in turn.inbox for each in told)]:
            if put < len(me.part.inputs):
                me.memory.add(time, put, value)
        while me.ehe.end < max((time for time, _, _ in me.memory.observations()), default=0):
            me.ehe.tick()
        me.ehe.update(me.memory)
        while me.ehe.resolve():
            pass
        if (verdict := me.ehe.verdict(me.ehe.resolved)) is not None:
            turn.found(verdict, me.ehe.resolved)
            turn.abort()


@settings(max_examples=max(6, CASES), deadline=None)
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), traces=runs())
def test_an_algorithm_in_python_runs_on_hosts_too(formula, traces):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mopsus.decentral.algorithms.load_object", lambda name, *others: Telling)
        outcome = asyncio.run(deploy_here(deployment("telling", formula, texts(traces)), nothing))
    assert outcome.verdict is verdict_of(formula, traces)
