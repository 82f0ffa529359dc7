"""The answer is given to those who still wait."""

import asyncio


async def main():
    for impatient in (True, False):
        answer = asyncio.get_running_loop().create_future()
        if impatient:
            answer.cancel()
        if not answer.done():
            answer.set_result(42)


asyncio.run(main())
