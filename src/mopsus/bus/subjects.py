"""What every bus does: it carries bytes to all who follow a subject."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

Receive: TypeAlias = "Callable[[bytes], None]"
"""Called in the event loop with each message; must not raise."""


class Bus(ABC):
    """A way to send bytes to whoever follows a subject. What it carries may be lost, doubled, late and out of order."""

    sent_messages = 0
    """How many were sent from here …"""
    sent_bytes = 0
    """… and how large they were together."""

    async def publish(self, subject: str, data: bytes) -> None:
        """Send to all who follow the subject now. `BusError` if the bus cannot carry so much."""
        await self._publish(subject, data)
        self.sent_messages += 1
        self.sent_bytes += len(data)

    @abstractmethod
    async def _publish(self, subject: str, data: bytes) -> None: ...

    @abstractmethod
    async def follow(self, subject: str, receive: Receive) -> None:
        """Give everything that is sent to the subject from now on to `receive`, until the bus is closed."""

    @abstractmethod
    async def close(self) -> None:
        """Send what is waiting to be sent, and nothing more."""


@lru_cache(maxsize=4096)
def subject_of(*words: str) -> str:
    """A subject made of words, whatever characters they have."""
    return ".".join(re.sub(rb"[^A-Za-z0-9_-]", _escaped, word.encode()).decode("ascii") for word in words)


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % found[0][0]
