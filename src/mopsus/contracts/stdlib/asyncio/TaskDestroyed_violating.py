"""Nobody but itself knows a task that waits."""

import asyncio
import gc


async def wait():
    await asyncio.get_running_loop().create_future()


async def main():
    asyncio.create_task(wait())
    await asyncio.sleep(0)
    gc.collect()  # violation


asyncio.run(main())
