"""The server of pages: on the loopback interface, with a token in the address, until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from types import FrameType

from mopsus.stopping import STOPPING
from mopsus.ui.guard import PARAMETER, TAKE_TOKEN, Guard
from mopsus.ui.messages import PageError

HOST = "127.0.0.1"


def serve(page: Callable[[], None], *, title: str, port: int = 0, ready: Callable[[str], None]) -> None:
    """Serve a page until the process is interrupted or told to end.

    `page` builds it, anew for each browser that asks. `port` 0 takes any that is free. `ready` is told the address once
    it is answered. `PageError` if the extra is not installed or the port is taken. One server to a process.
    """
    try:
        import uvicorn
        from fastapi import FastAPI
        from nicegui import core, ui
    except ImportError as error:
        raise PageError(
            f"a page in the browser needs the package '{error.name}'", hint="pip install 'mopsus[ui]'"
        ) from None
    door = _bound(port)
    port = door.getsockname()[1]
    token = secrets.token_urlsafe(24)
    application = FastAPI(openapi_url=None)

    def root() -> None:
        ui.add_head_html(TAKE_TOKEN)
        page()

    ui.run_with(application, root=root, title=f"{title} · Mopsus", dark=None, show_welcome_message=False)
    core.app.config.socket_io_js_query_params[PARAMETER] = token
    guarded = Guard(application, token, HOST, port)

    failures: list[Exception] = []

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            self.force_exit = False  # what a second signal cuts off would be shown as an error

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                try:
                    ready(f"http://{HOST}:{port}/?{PARAMETER}={token}")
                except Exception as error:  # ours, not one of the server's, which would show it
                    failures.append(error)
                    self.should_exit = True

    # A browser keeps its connection open, for which nobody wants to wait.
    settings = uvicorn.Config(guarded, log_level="warning", timeout_graceful_shutdown=1)
    server = Server(settings)

    def leave(number: int) -> None:
        server.should_exit = True

    with door, STOPPING.telling(leave):
        server.run([door])
    for failure in failures:
        raise failure


def _bound(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
    except (OSError, OverflowError) as error:
        door.close()
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise PageError(f"cannot use port {port}: {reason}", hint="leave it out to take any", code="UI-002") from None
    return door
