"""A coroutine begins anew instead of awaiting."""

import asyncio


async def save():
    pass


async def main():
    saving = save()
    try:
        asyncio.run(saving)  # violation
    except RuntimeError:
        saving.close()


asyncio.run(main())
