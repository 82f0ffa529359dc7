"""Tasks are kept, and awaited."""

import asyncio


async def main():
    task = asyncio.create_task(asyncio.sleep(0))
    await task


asyncio.run(main())
