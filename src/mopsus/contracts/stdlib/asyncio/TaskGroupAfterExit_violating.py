"""The group is complete, and another one comes."""

import asyncio


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0))
    late = asyncio.sleep(0)
    try:
        group.create_task(late)  # violation
    except RuntimeError:
        late.close()


asyncio.run(main())
