"""First await, then ask."""

import asyncio


async def main():
    task = asyncio.create_task(asyncio.sleep(0, "done"))
    await task
    task.result()


asyncio.run(main())
