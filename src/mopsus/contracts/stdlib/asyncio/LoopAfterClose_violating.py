"""One more call when the loop is closed."""

import asyncio

loop = asyncio.new_event_loop()
loop.run_until_complete(asyncio.sleep(0))
loop.close()
try:
    loop.call_soon(dict)  # violation
except RuntimeError:
    pass
