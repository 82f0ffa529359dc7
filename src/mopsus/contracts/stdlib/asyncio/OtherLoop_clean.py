"""Each run has a lock of its own."""

import asyncio


async def work(lock):
    async with lock:
        await asyncio.sleep(0)


async def both():
    lock = asyncio.Lock()
    await asyncio.gather(work(lock), work(lock))


asyncio.run(both())
asyncio.run(both())
