"""One run after the other; within, coroutines are awaited."""

import asyncio


async def save():
    pass


async def main():
    await save()


asyncio.run(main())
asyncio.run(main())
