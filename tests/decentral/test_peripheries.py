"""Where observations come from: all kinds, from the beginning and from where a host was killed."""

from __future__ import annotations

import asyncio
import socket
from importlib.metadata import EntryPoint

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.decentral import DecentralError, peripheries
from mopsus.decentral.component import Component
from mopsus.decentral.peripheries import PeripheryError, Replay, Source, TcpSource, source_of
from mopsus.decentral.traces import format_event


async def all_of(periphery):
    events = []
    while (event := await periphery.next()) is not None:
        events.append(event)
    await periphery.stop()
    return events


def read(settings, after=0):
    async def run():
        return await all_of(await source_of(settings).open(after))

    return asyncio.run(run())


EVENTS = st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.booleans(), max_size=2), max_size=6)


@settings(deadline=None)
@given(trace=EVENTS, after=st.integers(0, 8))
def test_text_and_files_go_on_behind_any_event(tmp_path_factory, trace, after):
    lines = [format_event(event) for event in trace]
    path = tmp_path_factory.getbasetemp() / "component.trace"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert read({"kind": "file", "path": str(path)}, after) == trace[after:]
    if trace and (len(trace) > 1 or trace[0]):  # one empty event cannot be told from none
        assert read({"kind": "text", "trace": ">".join(lines)}, after) == trace[after:]


def test_sensors(tmp_path):
    switch = tmp_path / "door.csv"
    switch.write_text("time,value\n10,OPEN\n12,CLOSED\n")
    power = tmp_path / "power.csv"
    power.write_text("10,3\n11,80.5\n13,2\n")
    polled = {"kind": "sensor", "start": 9, "step": 1, "count": 5}
    door = {**polled, "path": str(switch), "proposition": "door"}
    assert [event["door"] for event in read(door)] == [False, True, True, False, False]
    assert [event["door"] for event in read(door, after=2)] == [True, False, False]
    high = {**polled, "path": str(power), "proposition": "on", "threshold": 50}
    assert [event["on"] for event in read(high)] == [False, False, True, True, False]
    low = {**high, "direction": "below", "default": True}
    assert [event["on"] for event in read(low)] == [True, True, False, False, True]


async def said_over(port, *lines):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(line.encode() + b"\n" for line in lines))
    writer.write_eof()
    return reader, writer


def test_a_program_that_connects_like_cat():
    async def run():
        periphery = await TcpSource(port=0).open(0)
        _, writer = await said_over(periphery.port, "a:t,b:f", "", "a:f")
        events = await all_of(periphery)
        writer.close()
        return events

    assert asyncio.run(run()) == [{"a": True, "b": False}, {}, {"a": False}]


def test_a_token_and_control_signals():
    async def run():
        periphery = await TcpSource(port=0, token="secret").open(0)
        _, intruder = await said_over(periphery.port, "guess", "a:t")
        reader, writer = await said_over(periphery.port, "secret", "a:f")
        events = [await periphery.next()]
        periphery.notify("brighter")
        said = await reader.readline()
        assert await periphery.next() is None
        await periphery.stop()
        intruder.close()
        writer.close()
        return events, said

    assert asyncio.run(run()) == ([{"a": False}], b"brighter\n")


def test_after_a_loss_a_program_must_know_where_to_go_on():
    async def run():
        periphery = await TcpSource(port=0).open(after=3)
        reader, ignorant = await said_over(periphery.port, "a:t", "a:t")
        taken = asyncio.ensure_future(periphery.next())
        assert await reader.readline() == b"next 4\n"
        _, knowing = await said_over(periphery.port, "next 4", "a:f")
        event = await taken
        await periphery.stop()
        ignorant.close()
        knowing.close()
        return event

    assert asyncio.run(run()) == {"a": False}


def test_what_a_program_says_wrong():
    async def run():
        periphery = await TcpSource(port=0).open(0)
        _, writer = await said_over(periphery.port, "a:t", "nonsense")
        try:
            await all_of(periphery)
        finally:
            await periphery.stop()
            writer.close()

    with pytest.raises(PeripheryError, match=r"line 2 at 127.0.0.1:[0-9]+: 'nonsense' is no observation"):
        asyncio.run(run())


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PeripheryError, match="cannot listen at"):
        read({"kind": "tcp", "port": taken.getsockname()[1]})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"path": "x"}, "a periphery needs a kind"),
        ({"kind": "fil", "path": "x"}, "there is no 'fil'"),
        ({"kind": "evil.py:run"}, "a periphery needs a kind"),
        ({"kind": "file", "pat": "x"}, "the periphery 'file' is not described well: .*pat"),
        ({"kind": "file", "path": "/nowhere/x.trace"}, "cannot read the trace /nowhere/x.trace"),
        (
            {"kind": "sensor", "path": "x", "proposition": "p", "start": "soon", "step": 1, "count": 1},
            "'soon' is no time",
        ),
        ({"kind": "sensor", "path": "x", "proposition": "p", "start": 0, "step": 0, "count": 1}, "cannot be polled"),
        ({"kind": "text", "trace": "a:t>a"}, "'a' is no observation"),
    ],
)
def test_what_is_no_periphery(settings, said):
    with pytest.raises(DecentralError, match=said):
        read(settings)


class Counting(Source, frozen=True):
    """A user's own: a proposition that is true every so many timestamps."""

    every: int
    count: int

    async def open(self, after):
        return Replay(iter([{"due": number % self.every == 0} for number in range(1, self.count + 1)]), after)


def test_others_can_be_installed(monkeypatch):
    point = EntryPoint("counting", f"{__name__}:Counting", peripheries.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Counting)
    monkeypatch.setattr("mopsus.decentral.extensions.entry_points", lambda group: [point])
    assert read({"kind": "counting", "every": 2, "count": 4}, after=1) == [{"due": v} for v in (True, False, True)]
    monkeypatch.setattr(EntryPoint, "load", lambda self: msgspec.Struct)
    with pytest.raises(PeripheryError, match="is no source of events"):
        source_of({"kind": "counting"})


def component(*traces, propositions=("a", "b")):
    async def run():
        sources = [source_of({"kind": "text", "trace": trace}) for trace in traces]
        return await all_of(await Component.open("hall", propositions, sources, 0))

    return asyncio.run(run())


def test_a_component_merges_what_its_peripheries_observe():
    assert component("a:t>a:f", "b:t>b:t>b:f") == [{"a": True, "b": True}, {"a": False, "b": True}, {"b": False}]
    assert component() == []


def test_what_a_component_cannot_observe():
    with pytest.raises(DecentralError, match="'hall' observes 'c', which is not its own"):
        component("c:t")
    with pytest.raises(DecentralError, match="two peripheries of component 'hall' observe 'a', and differently"):
        component("a:t", "a:f")
