"""What is still to be written may get lost."""

import asyncio
import socket


async def talk(end):
    reader, writer = await asyncio.open_connection(sock=end)
    writer.write(b"hello")
    writer.close()  # violation


async def main():
    ours, theirs = socket.socketpair()
    await talk(ours)
    theirs.close()


asyncio.run(main())
