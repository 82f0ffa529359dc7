"""Who may see a page: whoever was given its address, and so its token.

Other users of this machine, and pages of other servers in the same browser, can reach a port, too. So the token is
nowhere that either of them is given it. It is no cookie: a browser gives those to every port of a host. The page
takes it out of the address, keeps it for its own origin (this host and this port) and this tab, and sends it with its
socket. Whoever comes without it finds a doorstep: a page that knows nothing, and leads back a tab that has the token.

Whatever comes with another `Host`, or from a page of another origin, is refused even with the token: a name that leads
here does not make another site ours, and what another page starts comes to nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

Message: TypeAlias = "MutableMapping[str, Any]"
Receive: TypeAlias = "Callable[[], Awaitable[Message]]"
Send: TypeAlias = "Callable[[Message], Awaitable[None]]"
Application: TypeAlias = "Callable[[Message, Receive, Send], Awaitable[None]]"

PARAMETER = "token"
LIBRARY = ("/_nicegui/", "/favicon.ico")
"""What is the same in every page: scripts, styles, fonts."""
REFUSED = "This page needs the whole address that was printed when it was started, with its token."
_FOREIGN = "This page is not for other pages, nor under another name."
_FRAMES = frozenset({b"iframe", b"frame", b"object", b"embed", b"fencedframe"})
_HEADERS = (
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"frame-ancestors 'none'; form-action 'none'; base-uri 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_UNCACHED = (b"cache-control", b"no-store")

_KEPT = "mopsus"
TAKE_TOKEN = f"""\
<script>
const token = new URLSearchParams(location.search).get({json.dumps(PARAMETER)});
if (token !== null) {{
  sessionStorage.setItem({json.dumps(_KEPT)}, token);
  history.replaceState(null, "", "/");
}}
</script>
"""
"""What a page must have in its head."""
_DOORSTEP = f"""\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Mopsus</title></head>
<body>
<p id="words">{REFUSED}</p>
<script>
const token = sessionStorage.getItem({json.dumps(_KEPT)});
sessionStorage.removeItem({json.dumps(_KEPT)});
if (token !== null) location.replace("/?{PARAMETER}=" + encodeURIComponent(token));
</script>
</body>
</html>
""".encode()


class Guard:
    """An ASGI application that passes on only what comes with the token, to the right host, from its own page."""

    def __init__(self, application: Application, token: str, host: str, port: int) -> None:
        self._application = application
        self._token = token
        self._host = f"{host}:{port}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        is_socket, path = scope["type"] == "websocket", str(scope["path"])
        if not self._is_own(scope, headers):
            await _refuse(is_socket, receive, send, _FOREIGN)
        elif self._may_pass(scope, path):
            await self._application(scope, receive, send if is_socket else _with_headers(send, path))
        elif not is_socket and path == "/" and not scope["query_string"] and scope["method"] in ("GET", "HEAD"):
            await _answer(send, 200, _DOORSTEP, b"text/html; charset=utf-8")
        else:
            await _refuse(is_socket, receive, send, REFUSED)

    def _is_own(self, scope: Message, headers: dict[bytes, bytes]) -> bool:
        """Does it come to this host and port, and from no page but ours? A browser says the latter of all but what its
        user has typed, and of links on pages that may well be elsewhere."""
        if [value for name, value in scope["headers"] if name == b"host"] != [self._host]:
            return False
        if headers.get(b"origin", b"http://" + self._host) != b"http://" + self._host:
            return False
        site, destination = headers.get(b"sec-fetch-site", b"none"), headers.get(b"sec-fetch-dest")
        if destination in _FRAMES:
            return False
        return site in (b"same-origin", b"none") or (
            destination == b"document" and headers.get(b"sec-fetch-mode") == b"navigate" and scope["path"] == "/"
        )

    def _may_pass(self, scope: Message, path: str) -> bool:
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get(PARAMETER, "")
        if secrets.compare_digest(given.encode(), self._token.encode()):
            return scope.get("method", "GET") in ("GET", "HEAD") if path == "/" else True
        return scope["type"] == "http" and path.startswith(LIBRARY)


def _with_headers(send: Send, path: str) -> Send:
    """What tells a browser to keep an answer to itself."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            more = _HEADERS if path.startswith(LIBRARY) else (*_HEADERS, _UNCACHED)
            ours = {name for name, _ in more}
            theirs = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in ours]
            message = {**message, "headers": [*theirs, *more]}
        await send(message)

    return answer


async def _refuse(is_socket: bool, receive: Receive, send: Send, why: str) -> None:
    if is_socket:
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, 403, f"{why}\n".encode(), b"text/plain; charset=utf-8")


async def _answer(send: Send, status: int, body: bytes, kind: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *_HEADERS, _UNCACHED]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
