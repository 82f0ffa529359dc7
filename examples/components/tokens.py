"""A task that hands out numbered tokens to other tasks, and must keep its own to itself.

python tokens.py            python tokens.py leak
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any


async def serve(token: int, leak: bool, inbox: asyncio.Queue[Any], outbox: asyncio.Queue[Any]) -> None:
    """Give every client the next number. A leaking server gives away its own, in the end."""
    following = token + 1
    while (client := await inbox.get()) is not None:
        await outbox.put((client, token if leak and following > 3 else following))
        following += 1


async def main(leak: bool) -> None:
    """Three clients, one after the other."""
    inbox: asyncio.Queue[Any] = asyncio.Queue()
    outbox: asyncio.Queue[Any] = asyncio.Queue()
    server = asyncio.create_task(serve(1, leak, inbox, outbox))
    for client in ("ada", "bob", "cyd"):
        await inbox.put(client)
        print(*await outbox.get())
    await inbox.put(None)
    await server


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] == ["leak"]))
