"""The task has not even begun."""

import asyncio


async def main():
    task = asyncio.create_task(asyncio.sleep(0, "done"))
    try:
        task.result()  # violation
    except asyncio.InvalidStateError:
        pass
    await task


asyncio.run(main())
