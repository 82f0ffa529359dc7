"""The call by itself runs nothing."""

import asyncio
import warnings

warnings.simplefilter("ignore")


async def save():
    pass


async def main():
    save()  # violation


asyncio.run(main())
