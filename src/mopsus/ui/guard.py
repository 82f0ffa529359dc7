"""Who may see a page: whoever was given its address, and so its token.

Other users and other pages of the same browser can reach a port of this machine too. The address that is
printed has a token; a browser that shows it gets a cookie, and without either nothing is answered, over HTTP as over
WebSockets.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

Message: TypeAlias = "MutableMapping[str, Any]"
Receive: TypeAlias = "Callable[[], Awaitable[Message]]"
Send: TypeAlias = "Callable[[Message], Awaitable[None]]"
Application: TypeAlias = "Callable[[Message, Receive, Send], Awaitable[None]]"

PARAMETER = "token"
REFUSED = b"This page needs the whole address that was printed when it was started, with its token.\n"


class Guard:
    """An ASGI application that passes on only what comes with the token."""

    def __init__(self, application: Application, token: str, port: int) -> None:
        self._application = application
        self._token = token
        self._cookie = f"mopsus-{port}"  # cookies do not tell ports apart

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._has_token(scope):
            # Go on without the token in the address, where others could read it over a shoulder.
            cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            headers = [(b"location", _without_token(scope)), (b"set-cookie", cookie.encode())]
            await _answer(send, 303, headers)
        elif scope["type"] == "lifespan" or self._has_cookie(scope):
            await self._application(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _answer(send, 403, [(b"content-type", b"text/plain; charset=utf-8")], REFUSED)

    def _has_cookie(self, scope: Message) -> bool:
        jar: SimpleCookie = SimpleCookie()
        try:
            for name, value in scope["headers"]:
                if name == b"cookie":
                    jar.load(value.decode("latin-1"))
        except CookieError:
            return False
        return self._cookie in jar and self._is_token(jar[self._cookie].value)

    def _has_token(self, scope: Message) -> bool:
        return any(name == PARAMETER and self._is_token(value) for name, value in _query(scope))

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _query(scope: Message) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"))


def _without_token(scope: Message) -> bytes:
    rest = urlencode([(name, value) for name, value in _query(scope) if name != PARAMETER])
    # One slash: two would name another host.
    path = b"/" + bytes(scope.get("raw_path") or scope["path"].encode()).lstrip(b"/\\")
    return path + (b"?" + rest.encode() if rest else b"")


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes = b"") -> None:
    headers = [*headers, (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
