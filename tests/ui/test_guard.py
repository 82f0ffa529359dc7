"""Who is let in: only what comes with the token, over HTTP and WebSockets alike."""

from __future__ import annotations

import asyncio

import pytest

from mopsus.ui.guard import Guard

TOKEN = "s3cret-token"


def ask(kind="http", query="", cookie=None, path="/"):
    """What is answered, and whether the application was asked."""
    reached = []
    answers = []

    async def application(scope, receive, send):
        reached.append(scope)

    async def receive():
        return {"type": f"{kind}.connect"}

    async def send(message):
        answers.append(message)

    headers = [] if cookie is None else [(b"cookie", cookie.encode())]
    scope = {"type": kind, "path": path, "raw_path": path.encode(), "query_string": query.encode(), "headers": headers}
    asyncio.run(Guard(application, TOKEN, 8000)(scope, receive, send))
    return bool(reached), answers


def test_a_browser_that_shows_the_token_gets_a_cookie_and_goes_on_without_it():
    reached, answers = ask(query=f"round=3&token={TOKEN}")
    assert not reached
    headers = dict(answers[0]["headers"])
    assert answers[0]["status"] == 303
    assert headers[b"location"] == b"/?round=3"
    assert headers[b"set-cookie"].startswith(f"mopsus-8000={TOKEN};".encode())
    assert b"HttpOnly" in headers[b"set-cookie"]


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_the_cookie_is_enough(kind):
    assert ask(kind, cookie=f"other=1; mopsus-8000={TOKEN}") == (True, [])


@pytest.mark.parametrize(
    "cookie", [None, "", "mopsus-8000=", "mopsus-8000=x", f"mopsus-8001={TOKEN}", "\x00=;=,;", "ü"]
)
def test_without_it_nothing_is_answered(cookie):
    reached, answers = ask(cookie=cookie)
    assert not reached
    assert answers[0]["status"] == 403
    reached, answers = ask("websocket", cookie=cookie, query=f"token={TOKEN}")
    assert not reached
    assert answers == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("token", ["", "s3cret", TOKEN.upper(), TOKEN + "x", "%00", "ü"])
def test_a_wrong_token_is_none(token):
    assert ask(query=f"token={token}")[1][0]["status"] == 403


@pytest.mark.parametrize("path", ["//elsewhere.example/", "/\\elsewhere.example", "///elsewhere.example"])
def test_nobody_is_sent_elsewhere(path):
    (answer, _) = ask(query=f"token={TOKEN}", path=path)[1]
    assert dict(answer["headers"])[b"location"] == b"/elsewhere.example" + b"/" * path.endswith("/")
