"""Where the observations of a component come from: text, files, sockets, recordings of sensors, or what others install.

A *source* is plain data that travels to the host of its component, and is opened there; a *periphery* is an open one.
Its events are counted: the k-th is what it observes at timestamp k. So a host that was killed opens it again after the
last event that it had taken.
"""

from __future__ import annotations

import asyncio
import hmac
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.extensions import load_object
from mopsus.decentral.sensors import Sensor, parse_time, poll, read_switch, read_threshold
from mopsus.decentral.traces import Event, parse_event, parse_trace, read_trace
from mopsus.logics.text import suggestion

GROUP = "mopsus.peripheries"
LOOPBACK = "127.0.0.1"
LONGEST_LINE = 1 << 20

Connection: TypeAlias = "tuple[asyncio.StreamReader, asyncio.StreamWriter]"


class PeripheryError(DecentralError):
    """A periphery cannot be opened, or what comes from it cannot be used."""

    code = "DECENTRAL-070"


class Periphery(ABC):
    """A stream of events that can be told something."""

    @abstractmethod
    async def next(self) -> Event | None:
        """The next event; None if there are no more. `DecentralError` if it makes no sense."""

    def notify(self, control: str) -> None:  # noqa: B027  # most have nobody to tell
        """Pass a control signal to whatever is observed; those that cannot, do not."""

    async def stop(self) -> None:  # noqa: B027  # most hold nothing
        """Nothing more will be asked for."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a periphery is opened from. Subclasses have fields of their own and are found by entry point, by kind."""

    async def open(self, after: int) -> Periphery:
        """Open it behind its first `after` events. `DecentralError` if that cannot be done."""
        raise NotImplementedError  # by a subclass; a struct cannot be abstract


class Replay(Periphery):
    """Events that are there already."""

    def __init__(self, events: Iterator[Event], after: int) -> None:
        self._events = islice(events, after, None)

    async def next(self) -> Event | None:
        return next(self._events, None)


class TextSource(Source, frozen=True):
    """A trace in one line: `a0:t>a0:f`."""

    trace: str

    async def open(self, after: int) -> Periphery:
        return Replay(iter(parse_trace(self.trace)), after)


class FileSource(Source, frozen=True):
    """A trace file."""

    path: str

    async def open(self, after: int) -> Periphery:
        return Replay(read_trace(Path(self.path)), after)


class SensorSource(Source, frozen=True):
    """The recording of a sensor, polled every `step` seconds from `start` (a time, or a date and time) on, `count`
    times. With a threshold, its numbers are compared; without, its words mean true or false."""

    path: str
    proposition: str
    start: str | float
    step: float
    count: int
    default: bool = False
    threshold: float | None = None
    direction: Literal["above", "below"] = "above"

    async def open(self, after: int) -> Periphery:
        try:
            start = parse_time(str(self.start))
        except (ValueError, OverflowError):
            raise PeripheryError(f"'{self.start}' is no time at which a recording starts") from None
        if not self.step > 0 or self.count < 0:
            raise PeripheryError(f"a sensor cannot be polled {self.count} times every {self.step} s")
        return Replay(poll([self._read()], start, self.step, self.count), after)

    def _read(self) -> Sensor:
        if self.threshold is None:
            return read_switch(Path(self.path), self.proposition, default=self.default)
        return read_threshold(
            Path(self.path), self.proposition, self.threshold, above=self.direction == "above", default=self.default
        )


class TcpSource(Source, frozen=True):
    """Lines of a program that connects to a port here, an event to a line; one program at a time. They end with the
    connection, as those of `cat` do.

    If there is a token, the first line is that. If a connection was lost before, whoever lost it, the program is told
    `next K`, where K is the timestamp to go on with, and shows that it knows by saying the same. Control signals are
    further lines for it.
    """

    port: int
    address: str = LOOPBACK
    token: str = ""

    async def open(self, after: int) -> Periphery:
        opened = Lines(self, after)
        await opened.listen()
        return opened


class Lines(Periphery):
    """What a `TcpSource` is when it is open."""

    def __init__(self, source: TcpSource, after: int) -> None:
        self.port = source.port
        self._source = source
        self._taken = after
        self._server: asyncio.Server | None = None
        self._connected: asyncio.Queue[Connection] = asyncio.Queue()
        self._connection: Connection | None = None

    async def listen(self) -> None:
        """Let programs connect."""

        async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._connected.put((reader, writer))

        source = self._source
        try:
            self._server = await asyncio.start_server(welcome, source.address, source.port, limit=LONGEST_LINE)
        except OSError as error:
            raise PeripheryError(
                f"cannot listen at {source.address}:{source.port}: {error.strerror or error}",
                hint="choose another port",
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]

    async def next(self) -> Event | None:
        line = await self._line()
        while line is None:
            self._hang_up()
            line = await self._line()
        if not line.endswith(b"\n"):  # the end; what was cut off is no event
            return None
        try:
            event = parse_event(line.decode().strip())
        except ValueError as error:
            raise PeripheryError(
                f"line {self._taken + 1} at {self._source.address}:{self.port}: {error}", code="DECENTRAL-041"
            ) from None
        self._taken += 1
        return event

    def notify(self, control: str) -> None:
        if self._connection is not None:
            self._connection[1].write(control.encode() + b"\n")

    async def stop(self) -> None:
        self._hang_up()
        if self._server is not None:
            self._server.close()

    async def _line(self) -> bytes | None:
        """The next line; None if the connection broke, or is not to be trusted."""
        try:
            if self._connection is None:
                self._connection = await self._connected.get()
                if not await self._greeted(self._connection[0]):
                    return None
            return await self._connection[0].readline()
        except (OSError, ValueError):  # a line may be longer than any event is
            return None

    async def _greeted(self, reader: asyncio.StreamReader) -> bool:
        if self._source.token:
            said = (await reader.readline()).strip()
            if not hmac.compare_digest(said, self._source.token.encode()):
                return False
        if not self._taken:
            return True
        words = f"next {self._taken + 1}"
        self.notify(words)
        return (await reader.readline()).strip() == words.encode()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
        self._connection = None


def source_of(settings: Mapping[str, object]) -> Source:
    """The source that a table describes, by its `kind`. `DecentralError` if there is none such, or its keys differ."""
    fields = dict(settings)
    kind = fields.pop("kind", "")
    if not isinstance(kind, str) or not kind.isidentifier():  # so it never names a file, whose code would be run
        raise PeripheryError("a periphery needs a kind", hint=suggestion("", _kinds()))
    found = load_object(kind, Path(), GROUP, ())
    if not (isinstance(found, type) and issubclass(found, Source)):
        raise PeripheryError(f"the periphery '{kind}' is no source of events", hint="derive it from Source")
    try:
        return msgspec.convert(fields, found)
    except msgspec.ValidationError as error:
        raise PeripheryError(f"the periphery '{kind}' is not described well: {error}") from None


def _kinds() -> list[str]:
    return [point.name for point in entry_points(group=GROUP)]
