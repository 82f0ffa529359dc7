"""The task is awaited, whatever comes."""

import asyncio


async def fail():
    raise ValueError


async def main():
    task = asyncio.create_task(fail())
    await asyncio.gather(task, return_exceptions=True)


asyncio.run(main())
