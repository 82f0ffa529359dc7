"""The bus between hosts: a NATS server, which the package `nats-py` (extra `bus`) talks to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mopsus.bus.messages import BusError
from mopsus.bus.subjects import Bus, Receive

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

STANDARD_PORT = 4222
RECONNECT_S = 0.1
CONNECT_S = 5
PING_S = 5


class NatsBus(Bus):
    """A connection to a server. When it breaks it is made anew; what was sent meanwhile may be lost."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @classmethod
    async def connect(cls, url: str, token: str | None = None) -> NatsBus:
        """Connect to `nats://host:port`. `BusError` if there is no server, or if it wants another token."""
        try:
            from nats.aio.client import Client
        except ImportError:
            raise BusError(
                "the package nats-py is not installed", hint="pip install 'mopsus[bus]'", code="BUS-002"
            ) from None
        server_address(url)
        client = Client()
        refused: asyncio.Future[object] = asyncio.get_running_loop().create_future()

        async def note(error: Exception) -> None:
            if not refused.done():
                refused.set_result(error)

        connecting: asyncio.Future[object] = asyncio.ensure_future(
            client.connect(
                url,
                token=token,
                error_cb=note,
                connect_timeout=CONNECT_S,
                ping_interval=PING_S,
                reconnect_time_wait=RECONNECT_S,  # type: ignore[arg-type]  # any number of seconds will do
                max_reconnect_attempts=-1,
            )
        )
        # The client would try for ever; the first time, people want to know.
        await asyncio.wait((connecting, refused), return_when=asyncio.FIRST_COMPLETED)
        if refused.done():
            connecting.cancel()
            await asyncio.wait([connecting])
            await client.close()
            raise BusError(
                f"cannot connect to {url}: {refused.result() or 'no answer'}",
                hint="start one with: nats-server -a 127.0.0.1 --auth TOKEN; the token is taken from MOPSUS_TOKEN",
            )
        await connecting
        return cls(client)

    async def _publish(self, subject: str, data: bytes) -> None:
        if len(data) > self._client.max_payload:
            raise BusError(
                f"a message of {len(data)} bytes is more than the {self._client.max_payload} that the server takes",
                hint="raise max_payload in the configuration of the server",
                code="BUS-003",
            )
        await self._client.publish(subject, data)

    async def follow(self, subject: str, receive: Receive) -> None:
        async def give(message: Msg) -> None:
            receive(message.data)

        await self._client.subscribe(subject, cb=give)
        await self._client.flush()  # the server knows of it before anybody is told to send

    async def close(self) -> None:
        if self._client.is_connected:
            await self._client.flush()
        await self._client.close()


def server_address(url: str) -> tuple[str, int]:
    """The address and the port in `nats://address:port`. `BusError` if it is not of that form."""
    try:
        parts = urlsplit(url)
        port = parts.port or STANDARD_PORT
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme != "nats" or not parts.hostname:
        raise BusError(f"'{url}' is no address of a NATS server", hint="such as nats://127.0.0.1:4222")
    return parts.hostname, port
