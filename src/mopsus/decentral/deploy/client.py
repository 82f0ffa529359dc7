"""The client of a deployment: gives hosts their monitors and components, asks how they do, and says when it is over.

A run is over when a monitor has found the verdict; or when nothing can happen any more: all components have ended, no
monitor has anything to do, and as many messages have come as were sent, in two rounds of questions of which the second
began when the first was answered (so nothing can have been on its way around the questions).
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mopsus.bus import Bus, Frame, frame_of
from mopsus.bus.mail import LOOSE
from mopsus.bus.office import Office
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.deploy.messages import (
    Answers,
    Body,
    Control,
    Deploy,
    Ended,
    Failed,
    Finished,
    Found,
    Lost,
    Over,
    Placed,
    Probe,
    Ready,
    Settings,
    Start,
    Status,
    Stop,
    decode_body,
    encode_body,
    subject_of_client,
    subject_of_host,
)
from mopsus.decentral.deploy.waiting import Clock, wait_at_most
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.simulate.explain import Reason


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is to run, and where."""

    algorithm: str
    parts: tuple[Part, ...]
    components: Mapping[str, Sequence[Placed]]
    """By host."""
    settings: Settings

    @property
    def hosts(self) -> dict[str, str]:
        """Of each part, the host of its component."""
        homes = {placed.name: host for host, all_placed in self.components.items() for placed in all_placed}
        return {part.name: homes[part.place] for part in self.parts}


@dataclass(slots=True)
class HostReport:
    """What is known of a host in the end."""

    pids: list[int] = field(default_factory=list)
    """Of all processes that it was; more than one if it was started again."""
    machine: str = ""
    turns: int = 0
    times: dict[str, int] = field(default_factory=dict)
    """By component, how many events it has observed."""


@dataclass(slots=True)
class Deployed:
    """How a run ended."""

    end: Literal["over", "quiet"] = "quiet"
    """Did a monitor say that it is over, or could nothing more happen?"""
    verdict: bool | None = None
    timestamp: int | None = None
    """The timestamp that the verdict is about."""
    monitor: str | None = None
    """Who found it, or said that the run is over."""
    reasons: list[Reason] = field(default_factory=list)
    """What the verdict follows from."""
    missing: list[Reason] = field(default_factory=list)
    """What would have had to be known, as far as monitors say so."""
    monitor_verdicts: dict[str, list[tuple[int, int, bool]]] = field(default_factory=dict)
    """Of monitors that give a verdict for each timestamp: runs (first, last, value)."""
    measures: dict[str, int] = field(default_factory=dict)
    hosts: dict[str, HostReport] = field(default_factory=dict)


class Client:
    """One run of a deployment."""

    def __init__(self, bus: Bus, deployment: Deployment) -> None:
        self._bus = bus
        self._deployment = deployment
        self._settings = deployment.settings
        self.session = secrets.token_hex(16)
        """What the run is called, and the journals that hosts keep of it."""
        self._office = Office(self.session, subject_of_client(self.session))
        self._names = {subject_of_host(name): name for name in deployment.components}
        self._owners = {
            proposition: placed.name
            for all_placed in deployment.components.values()
            for placed in all_placed
            for proposition in placed.propositions
        } | {part.name: part.place for part in deployment.parts}
        self._arrived: deque[bytes] = deque()
        self._clock = Clock()
        self._wake = asyncio.Event()
        self._heard = dict.fromkeys(deployment.components, 0.0)
        self._held: defaultdict[str, dict[int, bytes]] = defaultdict(dict)
        self._read_upto: Counter[str] = Counter()
        self._ready: set[str] = set()
        self._started = False
        self._all_ended = False
        self._stopping = False
        self._finished: set[str] = set()
        self._probe = 0
        self._answers: dict[str, Status] = {}
        self._before: tuple[int, int] | None = None
        self.outcome = Deployed(hosts={name: HostReport() for name in deployment.components})
        """What is known so far."""

    async def run(self) -> Deployed:
        """Deploy, start, and wait for the end. `DecentralError` if a host fails or does not answer."""
        await self._bus.follow(self._office.subject, self._receive)
        for name, components in self._deployment.components.items():
            self._write(name, self._deploy(name, components))
        next_probe = 0.0
        try:
            while len(self._finished) < len(self._names):
                now = self._clock.tick()
                self._read_all(now)
                self._check_silence(now)
                await self._office.flush(self._bus, now, self._settings.resend_s)
                if self._started and now >= next_probe:
                    next_probe = now + self._settings.probe_s
                    await self._ask()
                self._wake.clear()
                if not self._arrived:
                    await wait_at_most(self._wake, min(self._settings.probe_s, self._settings.resend_s))
        finally:
            if not self._stopping:  # by an error: nobody shall go on for nothing
                self._stop()
            await self._office.flush(self._bus, self._clock.now, 0)
        return self.outcome

    def signal(self, component: str, signal: str) -> None:
        """Pass a control signal to the peripheries of a component."""
        for name, components in self._deployment.components.items():
            if any(placed.name == component for placed in components):
                self._write(name, Control(component, signal))
                self._wake.set()

    def _deploy(self, name: str, components: Sequence[Placed]) -> Deploy:
        hosts = self._deployment.hosts
        return Deploy(
            client=self._office.subject,
            algorithm=self._deployment.algorithm,
            components=tuple(components),
            parts=tuple(part for part in self._deployment.parts if hosts[part.name] == name),
            hosts=hosts,
            settings=self._settings,
        )

    def _receive(self, data: bytes) -> None:
        self._arrived.append(data)
        self._wake.set()

    def _write(self, name: str, message: Body) -> None:
        self._office.to(subject_of_host(name)).write(encode_body(message))

    def _write_all(self, message: Body) -> None:
        for name in self._deployment.components:
            self._write(name, message)

    def _read_all(self, now: float) -> None:
        while self._arrived:
            frame = frame_of(self._arrived.popleft())
            name = self._names.get(frame.sender)
            if name is None:
                continue
            self._heard[name] = now
            mail = self._office.to(frame.sender)
            mail.acknowledged(frame, now)
            if frame.number == LOOSE:
                if frame.body:
                    self._read(name, decode_body(frame.body))
            elif mail.is_new(frame.number):
                mail.received(frame.number)
                self._read_in_order(name, frame)

    def _read_in_order(self, name: str, frame: Frame) -> None:
        """What a host found is read before that it has finished, whatever comes first."""
        held = self._held[name]
        held[frame.number] = frame.body
        while (number := self._read_upto[name] + 1) in held:
            self._read_upto[name] = number
            self._read(name, decode_body(held.pop(number)))

    def _read(self, name: str, message: Body) -> None:
        outcome = self.outcome
        match message:
            case Ready():
                self._ready.add(name)
                if len(self._ready) == len(self._names):
                    self._started = True
                    self._write_all(Start())
            case Status():
                self._note(name, message)
            case Answers(monitor, runs):
                outcome.monitor_verdicts.setdefault(monitor, []).extend(runs)
            case Found(monitor, time, verdict, reasons) if outcome.verdict is None:
                outcome.monitor, outcome.timestamp, outcome.verdict = monitor, time, verdict
                outcome.reasons = [self._reason(*each) for each in reasons]
            case Over(monitor) if not self._stopping:
                outcome.end = "over"
                outcome.monitor = outcome.monitor or monitor
                self._stop()
            case Finished(pid, missing, turns, times, measures):
                all_missing = {*outcome.missing, *(self._reason(*each) for each in missing)}
                outcome.missing = sorted(all_missing, key=lambda each: (each.time, each.component, each.name))
                self._finished.add(name)
                self._note_process(name, pid)
                outcome.hosts[name].turns = turns
                outcome.hosts[name].times = times
                outcome.measures = dict(Counter(outcome.measures) + Counter(measures))
            case Failed(code, text, hint):
                raise DecentralError(f"host '{name}' has failed: {text}", hint=hint, code=code)
            case Lost() if name not in self._finished:
                raise DecentralError(
                    f"host '{name}' has lost what it knew of the run",
                    hint="let it keep a journal (--journal), so that it can be started again",
                    code="DECENTRAL-073",
                )

    def _note(self, name: str, status: Status) -> None:
        """An answer to a question; when all have answered, draw the conclusion."""
        self.outcome.hosts[name].machine = status.machine
        self._note_process(name, status.pid)
        if status.number != self._probe or self._stopping:
            return
        self._answers[name] = status
        if len(self._answers) < len(self._names):
            return
        answers = self._answers.values()
        if not self._all_ended:
            if all(each.ended for each in answers):
                self._all_ended = True
                self._write_all(Ended())
            return
        sent, received = sum(each.sent for each in answers), sum(each.received for each in answers)
        quiet = sent == received and all(each.idle for each in answers)
        if quiet and self._before == (sent, received):
            self._stop()
        self._before = (sent, received) if quiet else None

    def _note_process(self, name: str, pid: int) -> None:
        if pid not in self.outcome.hosts[name].pids:
            self.outcome.hosts[name].pids.append(pid)

    async def _ask(self) -> None:
        """Ask all who have not answered the last question; if all have, the next one."""
        if len(self._answers) == len(self._names) or not self._probe:
            self._probe += 1
            self._answers = {}
        question = encode_body(Probe(self._probe))
        for name in self._names.values():
            if name not in self._answers and name not in self._finished:
                await self._office.send(self._bus, subject_of_host(name), question)

    def _reason(self, time: int, name: str, value: bool | None = None) -> Reason:
        return Reason(time, name, self._owners.get(name.removeprefix("@"), ""), value)

    def _stop(self) -> None:
        self._stopping = True
        self._write_all(Stop())

    def _check_silence(self, now: float) -> None:
        silent = [name for name, heard in self._heard.items() if now - heard > self._settings.timeout_s]
        silent = [name for name in silent if name not in self._finished]
        if silent:
            names = ", ".join(f"'{name}'" for name in silent)
            raise DecentralError(
                f"no answer from host {names} for {self._settings.timeout_s:g} s",
                hint=f"start it with: mopsus simulate host {silent[0]} --bus URL",
                code="DECENTRAL-073",
            )
