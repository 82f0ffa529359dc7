"""A lock outlives the loop that it was first contended in."""

import asyncio

lock = asyncio.Lock()


async def work():
    async with lock:  # violation
        await asyncio.sleep(0)


async def both():
    await asyncio.gather(work(), work())


asyncio.run(both())
try:
    asyncio.run(both())
except RuntimeError:
    pass
