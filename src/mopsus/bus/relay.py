"""A relay that makes a bus worse, for tests: it stands between hosts and a NATS server, and knows what a message is.

Hosts connect to the relay as if it were the server. Messages to a host are lost, doubled, late and out of order as
chance decides, which begins with a seed. In a partition everything, in both directions, waits until it is over.
"""

from __future__ import annotations

import asyncio
import random

import msgspec

from mopsus.bus.messages import BusError

PIECE = 1 << 16


class Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to messages: chances from 0 to 1, times in seconds."""

    loss: float = 0.0
    double: float = 0.0
    delay: tuple[float, float] = (0.0, 0.0)
    """A message is late by a time between these; so one may overtake another."""
    seed: int = 0

    def __post_init__(self) -> None:
        for what, chance in (("loss", self.loss), ("double", self.double)):
            if not 0 <= chance <= 1:
                raise BusError(f"{chance} is no chance of {what}", hint="from 0 to 1", code="BUS-005")
        if self.loss == 1:
            raise BusError("a relay that loses everything is none", code="BUS-005")
        least, most = self.delay
        if not 0 <= least <= most < float("inf"):
            raise BusError(f"a message cannot be late by {least} to {most} s", code="BUS-005")


class Relay:
    """Connects whoever comes to the server."""

    def __init__(self, server: tuple[str, int], faults: Faults) -> None:
        self._server = server
        self._faults = faults
        self._chance = random.Random(faults.seed)
        self._joined = asyncio.Event()
        self._joined.set()
        self._listening: asyncio.Server | None = None
        self._late: set[asyncio.Task[None]] = set()

    async def listen(self, address: str, port: int) -> int:
        """Begin; which port it is, as 0 means any."""
        self._listening = await asyncio.start_server(self._connect, address, port)
        return int(self._listening.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Let nobody connect any more."""
        if self._listening is not None:
            self._listening.close()

    def toggle(self) -> None:
        """Begin a partition, or end it."""
        if self._joined.is_set():
            self._joined.clear()
        else:
            self._joined.set()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_server, to_server = await asyncio.open_connection(*self._server)
        except OSError:
            writer.close()
            return
        both = (
            asyncio.ensure_future(self._pass_on(reader, to_server)),
            asyncio.ensure_future(self._spoil(from_server, writer)),
        )
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)  # a broken connection is nothing that a relay should mend
        for end in (writer, to_server):
            end.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """From a host to the server, as it is."""
        while data := await reader.read(PIECE):
            await self._joined.wait()
            writer.write(data)
            await writer.drain()

    async def _spoil(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """From the server to a host: messages are spoilt, everything else is as it is."""
        while line := await reader.readline():
            words = line.split()
            if words[:1] != [b"MSG"]:
                await self._joined.wait()
                writer.write(line)
                continue
            message = line + await reader.readexactly(int(words[-1]) + 2)
            for _ in range(self._copies()):
                delay = self._chance.uniform(*self._faults.delay)
                self._late.add(task := asyncio.create_task(self._send(message, writer, delay)))
                task.add_done_callback(self._late.discard)

    def _copies(self) -> int:
        """How often a message comes."""
        lost = self._chance.random() < self._faults.loss
        doubled = self._chance.random() < self._faults.double
        return 0 if lost else 2 if doubled else 1

    async def _send(self, message: bytes, writer: asyncio.StreamWriter, delay: float) -> None:
        await asyncio.sleep(delay)
        await self._joined.wait()
        if not writer.is_closing():
            writer.write(message)
