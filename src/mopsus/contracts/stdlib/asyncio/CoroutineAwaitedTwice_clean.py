"""A coroutine for every round; a task may be awaited twice."""

import asyncio


async def save():
    pass


async def main():
    for _ in range(2):
        await save()
    saving = asyncio.create_task(save())
    await saving
    await saving


asyncio.run(main())
