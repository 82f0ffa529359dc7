"""What a page of another server on this machine can do to a page of ours in the same browser: nothing."""

from __future__ import annotations

import json
import select
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ui import pictures
from ui.browser import chromium
from ui.live_page import shows
from ui.views import live_view

ATTACK = """(async () => {
  const ours = %s, sockets = ours + "_nicegui_ws/socket.io/?EIO=4&transport=";
  const found = {cookies: document.cookie, referrer: document.referrer};
  const settled = (work) => Promise.race([work, new Promise((done) => setTimeout(() => done("nothing"), 3000))]);
  const asked = async (name, address, options) => {
    try {
      const answer = await fetch(address, options);
      found[name] = answer.type + " " + answer.status + " " + await answer.text();
    } catch (error) { found[name] = "failed"; }
  };
  await asked("read", ours, {credentials: "include"});
  await asked("blindly", ours, {credentials: "include", mode: "no-cors"});
  await asked("guessed", ours + "?token=guess", {credentials: "include"});
  await asked("polled", sockets + "polling", {credentials: "include"});
  await asked("posted", sockets + "polling", {credentials: "include", mode: "no-cors", method: "POST", body: "40"});
  const event = (element, address) => settled(new Promise((done) => {
    element.onload = () => done("loaded");
    element.onerror = () => done("failed");
    element.src = address;
    document.body.append(element);
  }));
  found.image = await event(document.createElement("img"), ours + "favicon.ico");
  found.script = await event(document.createElement("script"), ours + "_nicegui/static/nicegui.js");
  const frame = document.createElement("iframe");
  await event(frame, ours);
  try { found.frame = frame.contentDocument ? frame.contentDocument.body.textContent : "closed"; }
  catch (error) { found.frame = "closed"; }
  found.socket = await settled(new Promise((done) => {
    const socket = new WebSocket(sockets.replace("http", "ws") + "websocket");
    socket.onopen = () => done("opened");
    socket.onmessage = (message) => done("heard " + message.data);
    socket.onerror = () => done("failed");
  }));
  const form = document.createElement("form"), target = document.createElement("iframe");
  target.name = "target";
  Object.assign(form, {action: ours, method: "post", target: "target"});
  document.body.append(target, form);
  await settled(new Promise((done) => { target.onload = () => done(); form.submit(); }));
  return found;
})()"""


@contextmanager
def another_server():
    """The port of a server of somebody else, and what browsers have sent to it."""
    heard = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(f"{self.path}\n{self.headers}")
            body = b"<!doctype html><title>another</title><body>another"
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_page_neither_drives_ours_nor_learns_of_it(tmp_path, host):
    with live_view() as (_, address, debugger), another_server() as (port, heard), chromium(tmp_path / "p") as browser:
        ours, _, token = address.partition("?token=")
        debugger.tell(pictures.stopped())
        browser.open(address)
        shows(browser, "stopped")
        while select.select([debugger.line], [], [], 0.2)[0]:
            debugger.hear()  # our own page wants a picture
        browser.open(f"http://{host}:{port}/")
        browser.value("document.body.textContent === 'another'")
        found = browser.value(ATTACK % json.dumps(ours))
        assert found.pop("cookies") == ""
        closed = ("read", "guessed", "polled", "image", "script", "socket")
        assert {name: found[name] for name in closed} == dict.fromkeys(closed, "failed")
        assert {found["blindly"], found["posted"]} <= {"failed", "opaque 0 "}
        assert found["frame"] in ("closed", "")
        assert token not in str(found)
        assert token not in "".join(heard)
        assert not [each for each in heard if "ookie:" in each or ours in each]
        assert not select.select([debugger.line], [], [], 0.2)[0]  # nobody has asked for anything
        # The other server itself, with all that it was sent, is no better off.
        for headers in ({"origin": ours[:-1]}, {"host": ours[7:-1], "cookie": "mopsus=1"}):
            request = urllib.request.Request(f"{ours}_nicegui_ws/socket.io/?EIO=4&transport=polling", headers=headers)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            refused.value.close()
            assert refused.value.code == 403
