"""Awaited, made a task, or closed."""

import asyncio


async def save():
    pass


async def main():
    await save()
    await asyncio.create_task(save())
    save().close()


asyncio.run(main())
