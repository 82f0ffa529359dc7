"""asyncio has a sleep of its own; other functions run in a thread."""

import asyncio
import time


async def main():
    await asyncio.sleep(0.001)
    await asyncio.to_thread(time.sleep, 0.001)


asyncio.run(main())
time.sleep(0.001)
