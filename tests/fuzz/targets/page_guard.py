"""Requests to a page in the browser: without the token only the library's files pass, and nothing from elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qsl

from fuzz.choices import Choices

from mopsus.ui.guard import LIBRARY, Guard

TOKEN, HOST, PORT = "0123456789abcdef", "127.0.0.1", 8765
OWN = b"127.0.0.1:8765"
NAMES = (b"host", b"origin", b"sec-fetch-site", b"sec-fetch-dest", b"sec-fetch-mode", b"cookie", b"x")
VALUES = (
    OWN,
    b"http://" + OWN,
    b"evil.example",
    b"http://evil.example",
    b"same-origin",
    b"none",
    b"cross-site",
    b"iframe",
)
VALUES += (b"document", b"navigate", b"null", b"", b"token=0123456789abcdef")
PATHS = ("/", "/_nicegui/x.js", "/_nicegui_ws/socket.io", "/favicon.ico", "/secret", "//", "", "/_NICEGUI/")
QUERIES = (
    b"",
    b"token=0123456789abcdef",
    b"token=0123456789abcdeg",
    b"a=b&token=0123456789abcdef",
    b"token=%ff",
    b"token",
)


def one(data: bytes) -> None:
    choices = Choices(data)
    scope: dict[str, Any] = {
        "type": choices.pick(("http", "http", "websocket")),
        "path": choices.pick(PATHS),
        "query_string": choices.pick(QUERIES) if choices.flag() else choices.piece(40),
        "headers": [(b"host", OWN)] if choices.flag() else [],
    }
    if scope["type"] == "http":
        scope["method"] = choices.pick(("GET", "HEAD", "POST", "OPTIONS"))
    for _ in range(choices.below(4)):
        scope["headers"].append((choices.pick(NAMES), choices.pick(VALUES) if choices.flag() else choices.piece(12)))
    passed: list[Any] = []
    answers: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        answers.append(message)

    asyncio.run(Guard(application, TOKEN, HOST, PORT)(scope, receive, send))
    assert bool(passed) != bool(answers)
    if passed:
        check_passed(scope)
    else:
        assert TOKEN.encode() not in b"".join(answer.get("body", b"") for answer in answers)


def check_passed(scope: dict[str, Any]) -> None:
    headers = scope["headers"]
    assert [value for name, value in headers if name == b"host"] == [OWN]
    origins = [value for name, value in headers if name == b"origin"]
    assert not origins or origins[-1] == b"http://" + OWN
    given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
    assert given == TOKEN or (scope["type"] == "http" and scope["path"].startswith(LIBRARY))
