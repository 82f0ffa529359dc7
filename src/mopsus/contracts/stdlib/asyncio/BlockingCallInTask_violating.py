"""While one task sleeps, no other one runs."""

import asyncio
import time


async def main():
    time.sleep(0.001)  # violation


asyncio.run(main())
