"""A task fails, and nobody hears of it."""

import asyncio


async def fail():
    raise ValueError


async def main():
    task = asyncio.create_task(fail())
    await asyncio.sleep(0.01)
    del task  # violation
    await asyncio.sleep(0)


asyncio.run(main())
