"""A host: the process in which components are observed and monitors run.

It waits for clients to deploy something. What it is given in a run goes to a journal first, then to the run, and only
then does anybody hear what came of it; so a host that is killed at any moment can take the journal and go on.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from mopsus.bus import Bus, BusError, Frame, frame_of
from mopsus.bus.mail import LOOSE, WINDOW
from mopsus.bus.office import Office
from mopsus.decentral.component import Component
from mopsus.decentral.deploy.journal import Arrived, Broken, Exhausted, Journal, Record, Turn
from mopsus.decentral.deploy.messages import (
    Deploy,
    Failed,
    Lost,
    Placed,
    Probe,
    Settings,
    decode_body,
    encode_body,
    subject_of_host,
)
from mopsus.decentral.deploy.run import Run
from mopsus.decentral.deploy.waiting import Clock, wait_at_most
from mopsus.decentral.peripheries import source_of
from mopsus.model import MopsusError

SESSION = re.compile("[0-9a-f]{32}")
"""What a session may be called; a journal is called after it."""
JOURNAL, DONE = ".journal", ".done"
"""How the files of journals end, before and after their runs do."""
BATCH = 64
"""How many events are taken at once."""


class Session:
    """A run on this host, with all that it touches: the bus, the journal, peripheries, time."""

    def __init__(self, run: Run, client: str, bus: Bus, journal: Journal | None, say: Callable[[str], None]) -> None:
        self._run = run
        self._client = client
        self._bus = bus
        self._journal = journal
        self._say = say
        self._settings = Settings()
        self._arrived: deque[Frame] = deque()
        self._observed: asyncio.Queue[Record] = asyncio.Queue(BATCH)
        self._wake = asyncio.Event()
        self._components: dict[str, Component] = {}
        self._watching: list[asyncio.Task[None]] = []
        self._waiting_since: dict[str, float] = {}
        self._clock = Clock()
        self._heard = 0.0
        self._probe: int | None = None

    def receive(self, frame: Frame) -> None:
        """Something came for this run."""
        self._arrived.append(frame)
        self._wake.set()

    async def live(self) -> None:
        """Go on until the run is over and everybody concerned knows."""
        try:
            while not self._over():
                self._clock.tick()
                self._check_client()
                self._commit(self._arrivals())
                self._begin()
                self._commit(self._turns())
                if self._run.stopped:
                    await self._release()
                await self._tell()
                await self._rest()
        finally:
            await self._release()
            if self._journal is not None:
                self._journal.close()

    async def give_up(self, failed: Failed) -> None:
        """Tell the client that this host cannot go on, not even so far as to keep what it says."""
        await self._run.office.send(self._bus, self._client, encode_body(failed))

    async def _release(self) -> None:
        """Let go of all peripheries: another run may want their ports."""
        for task in self._watching:
            task.cancel()
        for component in self._components.values():
            await component.stop()
        self._components.clear()
        await asyncio.gather(*self._watching, return_exceptions=True)

    @property
    def _deserted(self) -> bool:
        return self._clock.now - self._heard > self._settings.timeout_s

    def _over(self) -> bool:
        return self._run.stopped and (self._deserted or not self._run.office.unacknowledged)

    def _check_client(self) -> None:
        """Give the run up if nobody asks any more how it goes."""
        if self._deserted and not self._run.stopped:
            gone = f"the client has not been heard of for {self._settings.timeout_s:g} s"
            self._commit([Broken("DECENTRAL-073", gone, "")])
            self._say(f"{self._run.office.session} is given up: {gone}")

    def _commit(self, records: list[Record]) -> None:
        if records and self._journal is not None:
            self._journal.write(records)
        for record in records:
            self._run.take(record)

    def _arrivals(self) -> list[Record]:
        found: dict[tuple[str, int], Record] = {}
        now = self._clock.now
        while self._arrived:
            frame = self._arrived.popleft()
            if not self._run.belongs(frame.sender):
                continue
            mail = self._run.office.to(frame.sender)
            mail.acknowledged(frame, now)
            if frame.number != LOOSE and mail.is_new(frame.number):
                found[frame.sender, frame.number] = Arrived(frame.sender, frame.number, frame.body)
            elif frame.number == LOOSE and frame.body:
                self._hear(frame.body)
        return list(found.values())

    def _hear(self, body: bytes) -> None:
        """A message that is not kept, and with which a run does not stand or fall."""
        try:
            message = decode_body(body)
        except BusError as error:
            self._say(error.message)
            return
        match message:
            case Probe(number):
                self._probe = number
                self._heard = self._clock.now

    def _begin(self) -> None:
        """Observe the components, once the run has started."""
        deployed = self._run.deployed
        if deployed is not None:
            self._settings = deployed.settings
        if deployed is None or self._watching or not self._run.running:
            return
        for placed in deployed.components:
            if placed.name not in self._run.ended:
                self._watching.append(asyncio.create_task(self._watch(placed)))

    async def _watch(self, placed: Placed) -> None:
        count = self._run.times[placed.name]
        limit = self._settings.limit
        try:
            sources = [source_of(settings) for settings in placed.peripheries]
            component = await Component.open(placed.name, placed.propositions, sources, count)
            self._components[placed.name] = component
            while limit is None or count < limit:
                event = await component.next()
                if event is None:
                    break
                count += 1
                await self._observe(Turn(placed.name, dict(event)))
            await self._observe(Exhausted(placed.name))
        except MopsusError as error:
            await self._observe(Broken(error.code, error.message, error.hint))
        except Exception as error:  # a periphery may be anybody's
            said = f"a periphery of '{placed.name}' failed: {type(error).__name__}: {error}"
            await self._observe(Broken("DECENTRAL-074", said, ""))

    async def _observe(self, record: Record) -> None:
        await self._observed.put(record)
        self._wake.set()

    def _turns(self) -> list[Record]:
        """Events that have come, unless too much is on its way already; and turns for messages that have waited."""
        if not self._run.running:
            return []
        found: list[Record] = []
        while not self._observed.empty() and len(found) < BATCH and self._run.office.unacknowledged < WINDOW:
            found.append(self._observed.get_nowait())
        now = self._clock.now
        taken = {record.component for record in found if isinstance(record, Turn)}
        waiting = set(self._run.waiting) - taken
        self._waiting_since = {name: self._waiting_since.get(name, now) for name in waiting}
        for name, since in self._waiting_since.items():
            if self._run.all_ended or now - since >= self._settings.wait_s:
                found.append(Turn(name, None))
        return found

    async def _tell(self) -> None:
        run = self._run
        for signal in run.signals:
            if signal.component in self._components:
                self._components[signal.component].notify(signal.signal)
        run.signals.clear()
        try:
            await run.office.flush(self._bus, self._clock.now, self._settings.resend_s)
        except BusError as error:
            self._commit([Broken(error.code, error.message, error.hint)])
        if self._probe is not None:
            answer = encode_body(run.status(self._probe))
            self._probe = None
            await run.office.send(self._bus, self._client, answer)

    async def _rest(self) -> None:
        """Until there is something to do."""
        await asyncio.sleep(0)
        run = self._run
        full = run.office.unacknowledged >= WINDOW
        if self._arrived or (run.running and not self._observed.empty() and not full):
            return
        if run.running and run.all_ended and any(run.waiting):
            return
        patience = self._settings.wait_s if any(run.waiting) else self._settings.resend_s
        self._wake.clear()
        await wait_at_most(self._wake, min(patience, self._settings.resend_s))


class Host:
    """All runs on this host. `journals` is where they keep theirs; without, a run does not survive the process."""

    def __init__(self, name: str, bus: Bus, journals: Path | None, say: Callable[[str], None]) -> None:
        self.name = name
        self._bus = bus
        self._journals = journals
        self._say = say
        self._sessions: dict[str, Session] = {}
        self._known: set[str] = set()
        """All sessions that there ever were: what comes late begins none of them again."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def join(self) -> None:
        """Go on with runs that have a journal, and hear of new ones."""
        if self._journals is not None:
            self._known.update(path.stem for path in self._journals.glob(f"*{DONE}"))
            for path in sorted(self._journals.glob(f"*{JOURNAL}")):
                self._rejoin(path)
        await self._bus.follow(subject_of_host(self.name), self._receive)

    async def serve(self) -> None:
        """Run what clients deploy, until this is cancelled."""
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _rejoin(self, path: Path) -> None:
        journal = Journal(path)
        run = Run(path.stem, self.name)
        for record in journal.records:
            run.take(record)
        if run.deployed is None:  # killed before it had taken anything
            journal.close()
            return
        self._say(f"goes on with {path.stem} after {len(journal.records)} records")
        self._open(run, run.deployed.client, journal)

    def _receive(self, data: bytes) -> None:
        try:
            frame = frame_of(data)
            if frame.session in self._sessions:
                self._sessions[frame.session].receive(frame)
            elif frame.session not in self._known and frame.body and SESSION.fullmatch(frame.session):
                self._begin(frame)
        except MopsusError as error:
            self._say(f"{error.message}" + (f" ({error.hint})" if error.hint else ""))

    def _begin(self, frame: Frame) -> None:
        """A first message of a run; or a later one of a run that this host has lost."""
        match decode_body(frame.body):
            case Deploy() if frame.number != LOOSE:
                journal = None if self._journals is None else Journal(self._journals / (frame.session + JOURNAL))
                self._open(Run(frame.session, self.name), frame.sender, journal).receive(frame)
            case Probe(number):
                office = Office(frame.session, subject_of_host(self.name))
                self._keep(office.send(self._bus, frame.sender, encode_body(Lost(number))))

    def _open(self, run: Run, client: str, journal: Journal | None) -> Session:
        session = run.office.session
        opened = self._sessions[session] = Session(run, client, self._bus, journal, self._say)
        self._known.add(session)
        self._keep(self._live(session, opened))
        return opened

    async def _live(self, name: str, session: Session) -> None:
        try:
            await session.live()
        except MopsusError as error:
            self._say(error.message)
            await session.give_up(Failed(error.code, error.message, error.hint))
        except Exception as error:  # a fault of ours, of which other runs know nothing
            said = f"internal error: {type(error).__name__}: {error}"
            self._say(said)
            await session.give_up(Failed("DECENTRAL-074", said, ""))
        del self._sessions[name]
        if self._journals is not None:
            (self._journals / (name + JOURNAL)).rename(self._journals / (name + DONE))

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
