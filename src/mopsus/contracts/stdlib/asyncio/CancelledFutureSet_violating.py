"""Nobody waits for the answer any longer, and it comes all the same."""

import asyncio


async def main():
    answer = asyncio.get_running_loop().create_future()
    answer.cancel()
    try:
        answer.set_result(42)  # violation
    except asyncio.InvalidStateError:
        pass


asyncio.run(main())
