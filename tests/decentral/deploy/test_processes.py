"""Hosts as processes in networks of their own, over NATS and a relay that loses, doubles, delays and parts."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import socket
import subprocess
from dataclasses import replace

import msgspec
import pytest
from bus.servers import TOKEN, nats_server
from decentral.deploy.audit import Audit
from decentral.deploy.networks import ENVIRONMENT, MOPSUS, machine, relay, until
from decentral.deploy.support import ALGORITHMS, OWN, deployment, simulated, verdict_of

from mopsus._core import Memory, save_message
from mopsus.bus import NatsBus
from mopsus.decentral import DecentralError
from mopsus.decentral.deploy.client import Client
from mopsus.decentral.deploy.journal import Arrived, Turn, read_journal
from mopsus.decentral.deploy.messages import Post, Settings, decode_body, encode_body
from mopsus.decentral.traces import format_event, parse_trace, write_trace

SETTINGS = Settings(wait_s=0.005, probe_s=0.02, resend_s=0.05, timeout_s=60)
FORMULA = "G(a0 -> X(b0 U c0)) & G(a1 | b0)"
TRACES = {
    "A": parse_trace("a0:f,a1:t>a0:t,a1:t>a0:f,a1:t>a0:f,a1:t>a0:f,a1:f>a0:f,a1:t"),
    "B": parse_trace("b0:f>b0:f>b0:t>b0:t>b0:t>b0:f"),
    "C": parse_trace("c0:t>c0:f>c0:f>c0:f>c0:f>c0:f"),
}
"""Violated at 6, where neither b0 nor c0 holds while a0 waits for c0."""
PORT = 7000
BAD = ("--loss", "0.15", "--double", "0.15", "--delay", "0", "0.02")


@pytest.fixture(scope="module")
def bad_network(tmp_path_factory):
    """Three hosts behind two relays: a server, the machines by name, the relay before the last of them."""
    folder = tmp_path_factory.mktemp("hosts")
    with (
        nats_server() as server,
        relay(server, *BAD, "--seed", "1") as (_, port),
        relay(server, *BAD, "--seed", "2") as (parted, other),
        machine("a", folder, port) as a,
        machine("b", folder, port) as b,
        machine("c", folder, other) as c,
    ):
        yield server, {"a": a, "b": b, "c": c}, parted


def files(machines, traces):
    """A trace file on each machine, and the peripheries that read them."""
    for name, trace in traces.items():
        write_trace(machines[name.lower()].folder / "observed.trace", trace)
    return {name: ({"kind": "file", "path": "observed.trace"},) for name in traces}


def run(server, deployed, meanwhile=lambda session: None):
    """Deploy, and do something meanwhile: how it ended, and what the run was called."""

    async def client():
        bus = await NatsBus.connect(server.url, TOKEN)
        try:
            own = Client(bus, deployed)
            running = asyncio.ensure_future(own.run())
            await asyncio.to_thread(meanwhile, own.session)
            return await running, own.session
        finally:
            await bus.close()

    return asyncio.run(client())


def pids(machines):
    return {name: [each.process.pid] for name, each in machines.items()}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_processes_find_what_the_simulator_finds(bad_network, algorithm):
    server, machines, _ = bad_network
    outcome, session = run(server, deployment(algorithm, FORMULA, files(machines, TRACES), settings=SETTINGS))
    assert outcome.verdict is simulated(algorithm, FORMULA, TRACES).verdict is verdict_of(FORMULA, TRACES) is False
    assert {name: host.pids for name, host in outcome.hosts.items()} == pids(machines)
    Audit(machines, session).check(TRACES)


def test_the_command_that_deploys(bad_network, tmp_path):
    server, machines, _ = bad_network
    files(machines, TRACES)
    observe = [f"{name} = {list(own)}" for name, own in OWN.items()]
    (tmp_path / "spec.toml").write_text("\n".join(["[components]", *observe, "[monitors]", f'root = "{FORMULA}"']))
    placed = [
        f'[components.{name}]\nhost = "{name.lower()}"\nperipheries = [{{ kind = "file", path = "observed.trace" }}]'
        for name in OWN
    ]
    head = ['specification = "spec.toml"', 'algorithm = "migr"']
    (tmp_path / "deployment.toml").write_text("\n".join([*head, *placed, "[run]", "timeout_s = 60"]))
    command = [MOPSUS, "simulate", "deploy", "deployment.toml", "--bus", server.url, "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    told = json.loads(done.stdout)
    assert told["verdict"] == "false"
    assert {name: host["pids"] for name, host in told["hosts"].items()} == pids(machines)


def test_what_nobody_sent_is_noticed(bad_network):
    server, machines, _ = bad_network
    _, session = run(server, deployment("orch", FORMULA, files(machines, TRACES), settings=SETTINGS))
    forged = Audit(machines, session)
    own = forged.records["a"]
    first = next(each for each in own if isinstance(each, Arrived) and isinstance(decode_body(each.body), Post))
    post = decode_body(first.body)
    content = save_message(Memory([(3, 0, True)]))
    body = encode_body(msgspec.structs.replace(post, content=content))
    own.append(Arrived(first.sender, 1000, body))
    with pytest.raises(AssertionError, match="'a' was told what nobody sent"):
        forged.check(TRACES)
    forged = Audit(machines, session)
    forged.records["b"].append(Turn("B", {"a0": True}))
    with pytest.raises(AssertionError, match="'B' observed what did not happen"):
        forged.check(TRACES)


class Feed:
    """A program that is observed: it says one line after the other, from where it is told to go on."""

    def __init__(self, machine, trace):
        self._address = (machine.address, PORT)
        self._lines = [format_event(event) for event in trace]
        self._said = 0
        self._connection = None

    @property
    def periphery(self):
        return ({"kind": "tcp", "port": PORT, "address": self._address[0]},)

    def connect(self):
        def attempt():
            try:
                return socket.create_connection(self._address)
            except ConnectionRefusedError:
                return None

        self._connection = until(attempt)

    def go_on(self):
        """Connect again, and say where that will go on."""
        self._connection.close()
        self.connect()
        with self._connection.makefile() as answer:
            words = answer.readline()
        self._said = int(words.split()[1]) - 1
        self._connection.sendall(words.encode())
        return self._said

    def say(self, upto):
        lines = self._lines[self._said : upto]
        self._connection.sendall("".join(f"{line}\n" for line in lines).encode())
        self._said = upto

    def end(self):
        self.say(len(self._lines))
        self._connection.close()


def observed(machine, session, count):
    """Wait until a host has taken so many events."""

    def enough():
        paths = list((machine.folder / "journals").glob(f"{session}.*"))
        return (
            paths and sum(isinstance(each, Turn) and each.event is not None for each in read_journal(paths[0])) >= count
        )

    until(enough)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_host_that_is_killed_goes_on(bad_network, algorithm):
    server, machines, _ = bad_network
    feed = Feed(machines["a"], TRACES["A"])
    old = machines["a"].process.pid

    def meanwhile(session):
        # Until the host has begun this run, the port may still be that of the run before.
        until(lambda: any((machines["a"].folder / "journals").glob(f"{session}.*")))
        feed.connect()
        feed.say(3)
        observed(machines["a"], session, 3)
        machines["a"].process.kill()
        machines["a"].start()
        assert feed.go_on() == 3
        feed.end()

    peripheries = {**files(machines, TRACES), "A": feed.periphery}
    outcome, session = run(server, deployment(algorithm, FORMULA, peripheries, settings=SETTINGS), meanwhile)
    assert outcome.verdict is False
    new = machines["a"].process.pid
    assert new != old
    assert {new} <= set(outcome.hosts["a"].pids) <= {old, new}
    Audit(machines, session).check(TRACES)


def test_hosts_that_are_killed_again_and_again(bad_network):
    server, machines, _ = bad_network
    draw = random.Random(5)
    length = 2000
    long = {name: [{each: draw.random() < 0.5 for each in own} for _ in range(length)] for name, own in OWN.items()}
    for time, event in enumerate(long["A"], 1):
        event["a1"] = time < length
    long["B"][-1], long["C"][-1] = {"b0": False}, {"c0": False}

    def meanwhile(session):
        for _ in range(4):
            killed = machines[draw.choice("abc")]
            killed.process.kill()
            killed.start()

    formula = "G(a1 | b0 | c0)"
    outcome, session = run(server, deployment("orch", formula, files(machines, long), settings=SETTINGS), meanwhile)
    assert (outcome.verdict, outcome.timestamp) == (False, length)
    Audit(machines, session).check(long)


def test_a_partition_that_heals(bad_network):
    server, machines, parted = bad_network
    feeds = {name: Feed(machines[name.lower()], trace) for name, trace in TRACES.items()}

    def meanwhile(session):
        for feed in feeds.values():
            feed.connect()
            feed.say(2)
        parted.signal(signal.SIGUSR1)
        for feed in feeds.values():
            feed.end()
        for name, each in machines.items():  # nobody waits for those on the other side
            observed(each, session, len(TRACES[name.upper()]))
        parted.signal(signal.SIGUSR1)

    peripheries = {name: feed.periphery for name, feed in feeds.items()}
    outcome, session = run(server, deployment("orch", FORMULA, peripheries, settings=SETTINGS), meanwhile)
    assert outcome.verdict is False
    Audit(machines, session).check(TRACES)


def test_the_server_counts_what_two_processes_and_the_client_send(tmp_path):
    own = {name: OWN[name] for name in "AB"}
    traces = {name: TRACES[name] for name in own}
    formula = "G(a0 -> X(b0 U !a1))"
    with (
        nats_server() as server,
        relay(server) as (_, port),
        machine("a", tmp_path, port) as a,
        machine("b", tmp_path, port) as b,
    ):
        machines = {"a": a, "b": b}
        deployed = deployment("migr", formula, files(machines, traces), own, SETTINGS)

        async def client():
            bus = await NatsBus.connect(server.url, TOKEN)
            outcome = await Client(bus, deployed).run()
            await bus.close()
            return outcome, bus.sent_messages, bus.sent_bytes

        outcome, messages, size = asyncio.run(client())
        for each in machines.values():
            found = re.search(r"sent (\d+) messages of (\d+) bytes", each.process.end())
            messages, size = messages + int(found[1]), size + int(found[2])
        counted = server.counted()
        assert (counted["in_msgs"], counted["in_bytes"]) == (messages, size)
        assert size > outcome.measures["msg_bytes"] > 0
        assert outcome.verdict is verdict_of(formula, traces)


def test_hosts_that_do_not_answer(bad_network):
    server, machines, _ = bad_network
    deployed = deployment(
        "orch", FORMULA, files(machines, TRACES), settings=msgspec.structs.replace(SETTINGS, timeout_s=0.5)
    )
    nowhere = replace(deployed, components={f"no {name}": each for name, each in deployed.components.items()})
    with pytest.raises(DecentralError, match=r"no answer from host 'no a', 'no b', 'no c' for 0.5 s") as caught:
        run(server, nowhere)
    assert caught.value.code == "DECENTRAL-073"


def test_what_goes_wrong_on_a_host_is_said(bad_network):
    server, machines, _ = bad_network
    peripheries = {**files(machines, TRACES), "B": ({"kind": "file", "path": "missing.trace"},)}
    with pytest.raises(DecentralError, match=r"host 'b' has failed: cannot read the trace missing.trace") as caught:
        run(server, deployment("orch", FORMULA, peripheries, settings=SETTINGS))
    assert caught.value.code == "DECENTRAL-040"
