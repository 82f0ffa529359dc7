"""All tasks are added in the block, also by other tasks."""

import asyncio


async def main():
    async with asyncio.TaskGroup() as group:

        async def more():
            group.create_task(asyncio.sleep(0))

        group.create_task(more())


asyncio.run(main())
