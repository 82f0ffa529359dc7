"""A thread sets a timer in the loop of another one."""

import asyncio


async def main():
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(lambda: loop.call_later(0, dict))  # violation


asyncio.run(main())
