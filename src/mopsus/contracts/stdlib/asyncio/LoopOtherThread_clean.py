"""The loop is told in the way that is meant for threads."""

import asyncio


async def main():
    loop = asyncio.get_running_loop()
    loop.call_later(0, dict)
    await asyncio.to_thread(lambda: loop.call_soon_threadsafe(dict))


asyncio.run(main())
