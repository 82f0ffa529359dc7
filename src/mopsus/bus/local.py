"""A bus within one process: the default, which needs nothing installed."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from mopsus.bus.subjects import Bus, Receive


class LocalBus(Bus):
    """Carries everything, in order, to followers in the same event loop. All of them share the object."""

    def __init__(self) -> None:
        self._followers: defaultdict[str, list[Receive]] = defaultdict(list)

    async def _publish(self, subject: str, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        for receive in self._followers[subject]:
            loop.call_soon(receive, data)  # not at once: whoever publishes is in the middle of something

    async def follow(self, subject: str, receive: Receive) -> None:
        self._followers[subject].append(receive)

    async def close(self) -> None:
        self._followers.clear()
