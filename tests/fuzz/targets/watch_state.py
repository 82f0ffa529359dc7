"""The state that `mopsus watch --state` goes on from: bytes as they come, or a good state with a few changes.

A changed state may be taken over, if it still makes sense; then monitoring goes on from it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

from fuzz.choices import Choices
from fuzz.errors import check_error
from fuzz.files import file_of, folder

from mopsus.events.trace.keeping import VERSION, Keeper
from mopsus.events.trace.needs import needs_of
from mopsus.events.trace.session import Session
from mopsus.events.trace.sources import Format
from mopsus.events.trace.tail import LogReader
from mopsus.model import MopsusError, Verdict
from mopsus.monitor import Monitor
from mopsus.spec import parse

SPECS = list(
    parse(
        "suffix Pair(x) { event a(x); event b(x); ere : a b @match {} }\n"
        "Sum(x, y) { event a(x, y); event b(y); creation event c(x); var n = 0\n  cfg : S -> a S b | c }\n"
    ).values()
)
ABOUT = {"log": "app.log", "specs": "1"}
LOG = file_of("app.log", b"".join(b'{"event":"%c","x":%d,"y":%d}\n' % (b"abc"[k % 3], k % 5, k % 4) for k in range(40)))
STATE = folder() / "state"


def make() -> tuple[LogReader, Session]:
    stop = threading.Event()
    stop.set()  # the log is read to its end, and not waited for
    reader = LogReader(LOG, needs_of(SPECS), format=Format.JSONL, skip=True, stop=stop, poll_s=0.01)
    session = Session(SPECS, lambda spec, report: Monitor(spec, on_verdict=report, history=4), found.append, "skip")
    return reader, session


found: list[Verdict] = []


def good() -> dict[str, Any]:
    """A state in the midst of the log."""
    reader, session = make()
    content = LOG.read_bytes()
    LOG.write_bytes(content[:700])
    keeper = Keeper(STATE, ABOUT)
    keeper.begin(reader, session)
    for batch in reader:
        session.feed(batch)
    keeper.keep()
    keeper.close()
    with LOG.open("ab") as file:
        file.write(content[700:])
    session.close()
    body: dict[str, Any] = json.loads(STATE.read_bytes().partition(b"\n")[2])
    return body


GOOD = good()


def one(data: bytes) -> None:
    choices = Choices(data)
    if choices.flag():
        content = choices.rest()
        if choices.flag():
            content = summed(content)
    else:
        content = summed(json.dumps(choices.damaged(GOOD)).encode())
    STATE.write_bytes(content)
    found.clear()
    reader, session = make()
    keeper = Keeper(STATE, ABOUT)
    try:
        keeper.begin(reader, session)
        for batch in reader:
            session.feed(batch)
        session.snapshot()
    except MopsusError as error:
        check_error(error)
    finally:
        keeper.close()
        session.close()


def summed(body: bytes) -> bytes:
    return f"mopsus watch {VERSION} {hashlib.sha256(body).hexdigest()}\n".encode() + body
