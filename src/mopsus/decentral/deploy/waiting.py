"""How client and hosts wait: for whatever comes first."""

from __future__ import annotations

import asyncio
import contextlib


async def wait_at_most(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer."""
    # Not asyncio.wait_for: up to Python 3.11, a task that is cancelled when its time is over would go on.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
