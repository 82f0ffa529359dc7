"""Keeps what happens in a run, for people to look at afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.algorithms.build import Running
from mopsus.decentral.automaton import VERDICT_NAMES
from mopsus.decentral.simulate.feed import Feed
from mopsus.decentral.simulate.network import Network
from mopsus.decentral.simulate.recording import Fault, Found, Observed, Recorded, Recording, Sent, Step
from mopsus.decentral.system import System


class Recorder:
    """Is told what happens, in order, and makes a recording of it."""

    def __init__(
        self, parts: Sequence[Part], running: Sequence[Running], system: System, feed: Feed, network: Network
    ) -> None:
        self._parts = parts
        self._running = running
        self._system = system
        self._feed = feed
        self._network = network
        self._steps: list[Step] = []
        self._messages: list[Sent] = []
        self._findings: list[Found] = []

    def stepped(self, round_: int, monitor: int, step: _core.Step) -> None:
        """A monitor has had its turn."""
        name = self._parts[monitor].name
        self._steps.append(_encoded(round_, self._running[monitor], step))
        if step.finding is not None:
            self._findings.append(Found(round_, name, *step.finding))

    def sent(
        self, round_: int, source: int, target: int, content: _core.Content, data: int, size: int, arrivals: list[int]
    ) -> None:
        """A message is sent, and arrives in these rounds."""
        sender = self._parts[source]
        names = (sender.name, self._parts[target].name)
        kind, text = _core.message_kind(content), _text(content, sender)
        rounds: Sequence[int | None] = arrivals or (None,)
        for arrival in rounds:
            self._messages.append(Sent(round_, arrival, *names, kind, data, size, text))

    def recording(self, algorithm: str, result: _core.SimulationOutcome) -> Recording:
        """All of it."""
        time, verdict = result.finding or (None, None)
        return Recording(
            title=algorithm,
            algorithm=algorithm,
            components={name: list(names) for name, names in self._system.components.items()},
            monitors=[Recorded(part.name, part.place, part.kind, part.automaton) for part in self._parts],
            rounds=result.rounds,
            length=self._feed.length,
            verdict=verdict,
            time=time,
            observations=[Observed(time, name, dict(event)) for time, name, event in self._feed.observations()],
            steps=self._steps,
            messages=[_until(message, result.rounds) for message in self._messages],
            findings=self._findings,
            faults=self._faults(result.rounds),
        )

    def _faults(self, rounds: int) -> list[Fault]:
        faults = []
        for partition in self._network.partitions:
            who = [name for group in partition.groups for name in group]
            faults += [Fault(partition.start, "partition", who), Fault(partition.end, "heal", who)]
        for crash in self._network.crashes:
            faults += [Fault(crash.start, "crash", [crash.monitor]), Fault(crash.end, "restart", [crash.monitor])]
        return sorted((fault for fault in faults if fault.round <= rounds), key=lambda fault: fault.round)


def _encoded(round_: int, running: Running, step: _core.Step) -> Step:
    """A turn with the encoding that a monitor sent away in it, else with the one that it has."""
    name, monitor = running.part.name, running.monitor
    sent = next((content.ehe for _, content in step.outbox if isinstance(content, _core.Encoding)), None)
    if ehe := sent or running.encoding:
        return Step(round_, name, ehe.start, ehe.end, ehe.entries(), ehe.nodes(), ehe.states(ehe.end))
    if not isinstance(monitor, _core.DecentralMonitor) or (isinstance(monitor, _core.Migrant) and not monitor.active):
        return Step(round_, name)
    extent = monitor.extent
    return Step(round_, name, extent.start, extent.end, extent.entries, extent.nodes, extent.states)


def _until(message: Sent, rounds: int) -> Sent:
    """What is still on its way at the end was not delivered."""
    if message.delivered is None or message.delivered <= rounds:
        return message
    return Sent(message.sent, None, *(getattr(message, name) for name in Sent.__struct_fields__[2:]))


def _text(content: _core.Content, sender: Part) -> str:
    if isinstance(content, _core.Memory):
        return _observations(content, sender)
    if isinstance(content, _core.Encoding):
        ehe = content.ehe
        nodes = ehe.nodes()
        return f"timestamps {ehe.start}..{ehe.end}, {nodes} node{'s' * (nodes != 1)}"
    if isinstance(content, _core.Verdict):
        span = str(content.first) if content.first == content.last else f"{content.first}..{content.last}"
        return f"{sender.name} at {span}: {VERDICT_NAMES[content.value]}"
    if isinstance(content, _core.Payload):
        return f"{len(content.data)} bytes"
    return "needs no more verdicts" if isinstance(content, _core.Kill) else f"has received {content.number}"


def _observations(memory: _core.Memory, sender: Part) -> str:
    by_time: dict[int, list[str]] = {}
    for time, number, value in memory.observations():
        if number < len(sender.inputs):
            by_time.setdefault(time, []).append(f"{'' if value else '!'}{sender.inputs[number]}")
    return "; ".join(f"{time}: {', '.join(names)}" for time, names in by_time.items())
