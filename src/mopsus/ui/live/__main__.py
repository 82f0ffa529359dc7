"""`python -m mopsus.ui.live FD`: the live view of the debugger at the other end of a socket.

It is a process of its own, and ends by itself: soon after the debugger is gone, but not as long as somebody still looks
at how everything stood last.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import threading
import time
import webbrowser
from contextlib import suppress

from mopsus.interactive.live.wire import Failed, Ready
from mopsus.model import MopsusError
from mopsus.ui.live.connection import Connection
from mopsus.ui.server import serve

LOOK_S = 0.5
"""How often it is seen whether somebody looks at the page of a debugger that has ended."""
ARRIVE_S = 20
"""How long a browser that was opened may take to come."""
LEAVE_S = 2
"""How long nobody looks before all have left: a page that is loaded anew comes back."""
LINGER_S = 600
"""How long one may look at most."""


def main() -> int:
    """Serve the page of one session."""
    parser = argparse.ArgumentParser(prog="mopsus.ui.live", description="The live view of a debugging session.")
    parser.add_argument("fd", type=int, help="the number of the socket that the debugger has left open")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    given = parser.parse_args()
    with suppress(OSError):
        os.setsid()  # a Ctrl-C in the terminal is for the debugger
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # a debugger keeps it from what it starts
    signal.signal(signal.SIGTERM, _leave)  # the server raises it again when it has ended
    with socket.socket(fileno=given.fd) as line:
        connection = Connection(line)

        def ready(address: str) -> None:
            connection.send(Ready(address))
            if given.open:
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            threading.Thread(target=_end_after, args=(connection, given.open), daemon=True).start()

        def page() -> None:
            from mopsus.ui.live.page import LivePage

            LivePage(connection)

        try:
            serve(page, title="live", ready=ready)
        except MopsusError as error:
            connection.send(Failed(error.message + (f" ({error.hint})" if error.hint else "")))
            return 2
    return 0


def _leave(*_: object) -> None:
    raise SystemExit(0)


def _end_after(connection: Connection, expected: bool) -> None:
    """End this process when the debugger is gone and nobody looks; somebody who is expected may still come."""
    from nicegui import Client

    connection.gone.wait()
    gone_at = time.monotonic()
    seen_at = gone_at + (ARRIVE_S - LEAVE_S if expected else 0)
    while gone_at + LINGER_S > time.monotonic() < seen_at + LEAVE_S:
        time.sleep(LOOK_S)
        if any(client.has_socket_connection for client in list(Client.instances.values())):
            seen_at = time.monotonic()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    raise SystemExit(main())
