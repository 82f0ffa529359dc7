"""The loop is closed last."""

import asyncio

loop = asyncio.new_event_loop()
loop.call_soon(dict)
loop.run_until_complete(asyncio.sleep(0))
loop.close()
loop.close()
