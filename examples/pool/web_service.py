"""A web service with a pool of database connections, simulated: the program that wrote `pool.csv`.

Each request borrows a connection, reads from cursors on it, and gives it back. One of the handlers does so in an order
that almost always works.

    python web_service.py > pool.csv
"""

from __future__ import annotations

import csv
import itertools
import random
import sys
from collections.abc import Iterator
from typing import TextIO


class Service:
    """Requests that run interleaved, one step of one of them at a time."""

    def __init__(self, requests: int, connections: int, seed: int, log: TextIO) -> None:
        self.random = random.Random(seed)
        self.log = csv.writer(log, lineterminator="\n")
        self.log.writerow(["time", "event", "conn", "cursor", "location"])
        self.now = 0.0
        self.pool = [f"conn-{number + 1}" for number in range(connections)]
        self.cursors = (f"cur-{number}" for number in itertools.count(1))
        self.waiting = [self.random.choice([self.order, self.order, self.search, self.export]) for _ in range(requests)]

    def run(self) -> None:
        running: list[Iterator[None]] = []
        while self.waiting or running:
            self.now += self.random.uniform(0.001, 0.02)
            if self.waiting and self.pool and (not running or self.random.random() < 0.3):
                request = self.waiting.pop(0)()
                next(request)
                running.append(request)
            step = self.random.choice(running)
            try:
                next(step)
            except StopIteration:
                running.remove(step)

    def say(self, event: str, location: str, *, conn: str = "", cursor: str = "") -> None:
        self.log.writerow([f"{self.now:.3f}", event, conn, cursor, location])

    def borrow(self, location: str) -> str:
        conn = self.pool.pop(0)
        self.say("borrow", location, conn=conn)
        return conn

    def give_back(self, conn: str, location: str) -> None:
        self.say("give_back", location, conn=conn)
        self.pool.append(conn)

    def open(self, conn: str, location: str) -> str:
        cursor = next(self.cursors)
        self.say("open", location, conn=conn, cursor=cursor)
        return cursor

    def order(self) -> Iterator[None]:
        """POST /orders: two short reads."""
        conn = self.borrow("orders.py:31")
        for line in ("orders.py:34", "orders.py:40"):
            cursor = self.open(conn, line)
            yield
            self.say("fetch", line, cursor=cursor)
            yield
        self.give_back(conn, "orders.py:47")

    def search(self) -> Iterator[None]:
        """GET /search: as many pages as the visitor turns."""
        conn = self.borrow("search.py:12")
        cursor = self.open(conn, "search.py:15")
        for _ in range(self.random.randint(1, 6)):
            yield
            self.say("fetch", "search.py:18", cursor=cursor)
        self.give_back(conn, "search.py:22")

    def export(self) -> Iterator[None]:
        """GET /export: rows are streamed to the client.

        The bug: the connection goes back when the handler returns, but a long export is still being streamed then.
        """
        conn = self.borrow("export.py:20")
        cursor = self.open(conn, "export.py:24")
        rows = self.random.randint(1, 12)
        for number in range(rows):
            if number == 11:
                self.give_back(conn, "export.py:33")
            yield
            self.say("fetch", "export.py:28", cursor=cursor)
        if rows < 12:
            self.give_back(conn, "export.py:33")


if __name__ == "__main__":
    Service(requests=120, connections=4, seed=5, log=sys.stdout).run()
