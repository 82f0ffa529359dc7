"""The loop forgets a task that has not ended."""

import asyncio


async def work():
    while True:
        await asyncio.sleep(0)


loop = asyncio.new_event_loop()
loop.create_task(work())
loop.run_until_complete(asyncio.sleep(0))
loop.close()  # violation
