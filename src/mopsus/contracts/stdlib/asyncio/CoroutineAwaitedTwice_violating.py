"""The same coroutine for two rounds."""

import asyncio


async def save():
    pass


async def main():
    saving = save()
    await saving
    try:
        await saving  # violation
    except RuntimeError:
        pass


asyncio.run(main())
