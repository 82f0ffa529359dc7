"""A server of threads and queues, watched from within: replies go to who asked, against the same server as it is."""

from __future__ import annotations

import queue
import threading
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from harness import Goal, Row, Side, Timing, measure, quotients

import mopsus

REQUESTS = 10_000
CLIENTS = 4
ROUNDS = 31
PROPERTY = """
% A reply goes to the client that asked, and to nobody else.
with components_inline:serve(_)
monitor
  max(X. and(
    [_ <- _, components_inline:serve(_)]X,
    [_ ? {Client, _}]and(
      [_:To ! _ when To =/= Client]ff,
      [_:To ! _ when To =:= Client]X))).
"""


def serve(inbox: queue.Queue[Any]) -> None:
    """Answer until there is nobody to answer."""
    while True:
        client, number = inbox.get()
        if client is None:
            return
        client.put(number + 1)


def ask(inbox: queue.Queue[Any], requests: int) -> None:
    """Send requests, and wait for each reply."""
    mine: queue.Queue[int] = queue.Queue()
    for number in range(requests):
        inbox.put((mine, number))
        assert mine.get() == number + 1


def session(requests: int) -> None:
    """A server and its clients, from beginning to end."""
    inbox: queue.Queue[Any] = queue.Queue()
    server = threading.Thread(target=serve, args=(inbox,))
    clients = [threading.Thread(target=ask, args=(inbox, requests // CLIENTS)) for _ in range(CLIENTS)]
    for thread in (server, *clients):
        thread.start()
    for thread in clients:
        thread.join()
    inbox.put((None, 0))
    server.join()


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    requests = max(CLIENTS, int(REQUESTS * scale))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "replies.hml"
        path.write_text(PROPERTY, encoding="utf-8")
        return [_row(path, requests, history) for history in (0, 32)]


class Switch:
    """Watches the program, or not. To begin takes milliseconds, once in a program's life, and is not measured."""

    def __init__(self, path: Path, history: int, requests: int) -> None:
        self._path, self._history, self._requests = path, history, requests
        self._watch: mopsus.weave | None = None

    def on(self) -> None:
        """Watch."""
        self.off()
        self._watch = mopsus.weave(self._path, history=self._history).start()

    def off(self) -> None:
        """Do not, and see to it that something was watched before."""
        watch, self._watch = self._watch, None
        if watch is not None:
            assert watch.stop()["replies"].seen["send"] == self._requests // CLIENTS * CLIENTS
            assert not any(verdict.violation for verdict in watch.verdicts)


def _row(path: Path, requests: int, history: int) -> Row:
    switch = Switch(path, history, requests)
    sides = {
        "plain": Side(lambda _: session(requests), switch.off),
        "watched": Side(lambda _: session(requests), switch.on),
    }
    timings = measure(sides, rounds=ROUNDS)
    switch.off()

    def per_request(timing: Timing) -> list[float]:
        return [seconds / requests * 1e6 for seconds in timing.seconds]

    ours, plain = per_request(timings["watched"]), per_request(timings["plain"])
    return Row(
        case=f"request and reply, {CLIENTS} clients, history {history or 'off'}",
        unit="µs per request",
        ours=median(ours),
        base="the program as it is",
        theirs=median(plain),
        ratio=quotients(ours, plain),
        goal=Goal("≤", 1.3),
    )
