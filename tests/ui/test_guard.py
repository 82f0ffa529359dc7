"""Who is let in: only what comes with the token, to the right host, from the page itself, over HTTP and WebSockets."""

from __future__ import annotations

import asyncio

import pytest

from mopsus.ui.guard import Guard

TOKEN = "s3cret-token"
HOST = "127.0.0.1:8000"
SOCKET = "/_nicegui_ws/socket.io"


def ask(kind="http", query="", path="/", method="GET", **headers):
    """What is answered, and whether the application was asked."""
    reached = []
    answers = []

    async def application(scope, receive, send):
        reached.append(scope)
        if kind == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"Cache-Control", b"public")]})

    async def receive():
        return {"type": f"{kind}.connect"}

    async def send(message):
        answers.append(message)

    given = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items() if value is not None}}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    scope = {"type": kind, "path": path, "query_string": query.encode(), "headers": raw, "method": method}
    asyncio.run(Guard(application, TOKEN, "127.0.0.1", 8000)(scope, receive, send))
    return bool(reached), answers


def test_without_the_token_there_is_a_doorstep_that_knows_nothing():
    reached, (start, body) = ask()
    assert not reached
    assert start["status"] == 200
    assert TOKEN.encode() not in body["body"]


def test_the_token_opens_the_page_and_its_socket():
    assert ask(query=f"token={TOKEN}")[0]
    assert ask("websocket", path=SOCKET, query=f"EIO=4&token={TOKEN}", origin=f"http://{HOST}") == (True, [])
    assert ask(path=SOCKET, query=f"token={TOKEN}", method="POST", origin=f"http://{HOST}")[0]


@pytest.mark.parametrize("token", [None, "", "s3cret", TOKEN.upper(), TOKEN + "x", "ü"])
@pytest.mark.parametrize(
    ("kind", "path"), [("websocket", SOCKET), ("http", SOCKET), ("websocket", "/"), ("http", "/x")]
)
def test_a_wrong_token_opens_nothing_nor_does_a_cookie(kind, path, token):
    query = "" if token is None else f"token={token}"
    reached, answers = ask(kind, query, path, cookie=f"mopsus-8000={TOKEN}; token={TOKEN}")
    assert not reached
    assert answers[0].get("status", 403) == 403
    if kind == "websocket":
        assert answers == [{"type": "websocket.close", "code": 1008}]


FOREIGN = [
    {"host": "evil.example"},
    {"host": "evil.example:8000"},
    {"host": "localhost:8000"},
    {"host": "127.0.0.1:8001"},
    {"host": "127.0.0.1"},
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:8001"},
    {"origin": "http://localhost:8000"},
    {"origin": "https://127.0.0.1:8000"},
    {"origin": "null"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_dest": "iframe", "sec_fetch_site": "same-origin"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize(
    ("kind", "path"), [("http", "/"), ("http", SOCKET), ("websocket", SOCKET), ("http", "/_nicegui/x.js")]
)
def test_other_pages_and_other_names_are_refused_even_with_the_token(kind, path, headers):
    reached, answers = ask(kind, f"token={TOKEN}", path, **headers)
    assert not reached
    assert answers[0].get("status", 403) == 403


def test_two_hosts_are_none():
    async def nobody(*_):
        raise AssertionError

    answers = []

    async def send(message):
        answers.append(message)

    headers = [(b"host", HOST.encode()), (b"host", b"evil.example")]
    scope = {
        "type": "http",
        "path": "/",
        "query_string": f"token={TOKEN}".encode(),
        "headers": headers,
        "method": "GET",
    }
    asyncio.run(Guard(nobody, TOKEN, "127.0.0.1", 8000)(scope, nobody, send))
    assert answers[0]["status"] == 403


def test_a_link_on_another_page_leads_to_the_doorstep_and_a_form_to_nothing():
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert ask(**link)[1][0]["status"] == 200
    assert ask(method="POST", **link)[1][0]["status"] == 403
    assert ask(method="POST", query=f"token={TOKEN}")[1][0]["status"] == 403
    assert ask(method="POST", origin="http://evil.example", **link)[1][0]["status"] == 403
    assert ask(path="/_nicegui/x.js", **link)[1][0]["status"] == 403


@pytest.mark.parametrize("headers", [{}, {"query": f"token={TOKEN}"}, {"host": "evil.example"}])
def test_what_is_answered_stays_here(headers):
    sent = ask(**headers)[1][0]["headers"]
    assert len(dict(sent)) == len(sent)
    given = {name.lower(): value for name, value in sent}
    assert given[b"cache-control"] == b"no-store"
    assert given[b"referrer-policy"] == b"no-referrer"
    assert b"frame-ancestors 'none'" in given[b"content-security-policy"]
    assert given[b"cross-origin-resource-policy"] == b"same-origin"
    assert b"set-cookie" not in given
