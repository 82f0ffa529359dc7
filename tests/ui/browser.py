"""A real browser without a window, driven over its own debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from contextlib import contextmanager

import pytest
from ending import end_kindly

PATIENCE_S = 120
"""How long something may take to appear before a test gives up: a bound on failure, not a wait."""

_POLL = """new Promise((resolve) => {
  const look = () => {
    let value;
    try { value = (%s); } catch (error) { value = null; }
    value ? resolve(value) : setTimeout(look, 20);
  };
  look();
})"""

_LEFT = "Inspected target navigated or closed"


@contextmanager
def chromium(profile):
    """A tab of a fresh Chromium whose profile is in a folder."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "pages are tested in Chromium, which tools/system-packages installs"
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()

    def place():  # it reads from descriptor 3 and writes to 4
        low, high = os.dup(commands_out), os.dup(answers_in)
        os.dup2(low, 3)
        os.dup2(high, 4)

    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    words += ["--window-size=1500,1000", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        [program, *words], close_fds=False, preexec_fn=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(commands_out)
    os.close(answers_in)
    try:
        yield Tab(commands_in, answers_out)
    finally:
        end_kindly(process)
        os.close(commands_in)
        os.close(answers_out)


class Tab:
    """A page that is looked at and clicked on."""

    def __init__(self, commands, answers):
        self._commands, self._answers = commands, answers
        self._buffer = b""
        self._number = 0
        self._session = None
        self.problems = []
        """What the page has complained about."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.requests = []
        """The addresses that the page has asked for."""

    def open(self, address):
        assert "errorText" not in self._call("Page.navigate", url=address)

    def history(self):
        """The addresses to which the browser could go back."""
        return [each["url"] for each in self._call("Page.getNavigationHistory")["entries"]]

    def value(self, expression):
        """The value of an expression in the page, as soon as it is one that counts as true."""
        found = None
        while found is None:
            answer = self._ask("Runtime.evaluate", expression=_POLL % expression, awaitPromise=True, returnByValue=True)
            if answer.get("error", {}).get("message") == _LEFT:
                continue  # the page has led to another one meanwhile
            assert "error" not in answer, answer
            found = answer["result"]
        assert "exceptionDetails" not in found, found
        return found["result"]["value"]

    def now(self, expression):
        """The value of an expression in the page as it is."""
        return self._call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def click(self, selector, x=0.5, y=0.5):
        """Click on an element with the mouse, at a part of its width and height."""
        find = f"document.querySelector({json.dumps(selector)})"
        box = self.value(
            f"(() => {{ const e = {find}; e.scrollIntoView({{block: 'nearest'}});"
            " const b = e.getBoundingClientRect(); return b.width && [b.x, b.y, b.width, b.height]; })()"
        )
        place = {"x": box[0] + x * box[2], "y": box[1] + y * box[3], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, **place)

    def key(self, key, code=0, text=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def prefer(self, scheme):
        """Be a browser whose user prefers the `dark` or the `light`."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def resize(self, width, height):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))

    def _call(self, method, **parameters):
        answer = self._ask(method, **parameters)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self._read(end, message)
            if answer.get("id") == self._number:
                return answer
            self._hear(answer)

    def _hear(self, event):
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(event["params"]["exceptionDetails"])
            case "Log.entryAdded" if event["params"]["entry"]["level"] == "error":
                self.problems.append(event["params"]["entry"])
            case "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])

    def _read(self, end, what):
        while b"\0" not in self._buffer:
            if not select.select([self._answers], [], [], max(0, end - time.monotonic()))[0]:
                pytest.fail(f"the browser has not answered: {what}")
            data = os.read(self._answers, 1 << 20)
            assert data, "the browser has ended"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)
