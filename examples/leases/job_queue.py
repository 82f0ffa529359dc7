"""A job queue with leases, simulated: the program that wrote `queue.jsonl`.

A worker leases a job for 30 seconds and renews the lease while it works. When a lease runs out, the queue gives
the job to somebody else. That is a sound protocol, and this program has a bug in it that no single line of its log
shows.

    python job_queue.py > queue.jsonl
"""

from __future__ import annotations

import functools
import heapq
import itertools
import json
import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TextIO

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LEASE_S = 30.0
RENEW_S = 10.0


class Queue:
    """The queue, its workers and their clock."""

    def __init__(self, jobs: int, workers: int, seed: int, log: TextIO) -> None:
        self.random = random.Random(seed)
        self.log = log
        self.now = 0.0
        self.agenda: list[tuple[float, int, Callable[[], None]]] = []
        self.order = itertools.count()
        self.waiting = [f"invoice-{1000 + number}" for number in range(jobs)]
        self.holder: dict[str, tuple[str, float]] = {}  # job: who has it, and until when
        self.done: set[str] = set()
        for number in range(workers):
            self.after(self.random.uniform(0, 5), functools.partial(self.take, f"worker-{number + 1}"))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        heapq.heappush(self.agenda, (self.now + seconds, next(self.order), what))

    def run(self) -> None:
        while self.agenda:
            self.now, _, what = heapq.heappop(self.agenda)
            what()

    def say(self, level: str, message: str, **fields: object) -> None:
        time = (START + timedelta(seconds=self.now)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.log.write(json.dumps({"ts": time, "level": level, "msg": message, **fields}) + "\n")

    def take(self, worker: str) -> None:
        if not self.waiting:
            return
        job = self.waiting.pop(0)
        self.holder[job] = (worker, self.now + LEASE_S)
        self.say("info", "lease granted", job_id=job, by=worker, ttl=LEASE_S)
        self.after(LEASE_S, lambda: self.expire(job))
        # Most invoices take seconds, some half a minute. Now and then a worker hangs in a slow upload, or dies.
        fate = self.random.random()
        if fate < 0.006:
            self.after(self.random.uniform(60, 90), lambda: self.take(worker))
            return
        hangs = fate < 0.012
        work = self.random.uniform(33, 50) if hangs else self.random.expovariate(1 / 7)
        if not hangs:
            for number in range(1, int(work / RENEW_S) + 1):
                self.after(number * RENEW_S, lambda: self.renew(job, worker))
        self.after(work, lambda: self.finish(job, worker))

    def renew(self, job: str, worker: str) -> None:
        self.holder[job] = (worker, self.now + LEASE_S)
        self.say("debug", "lease renewed", job_id=job, by=worker, ttl=LEASE_S)
        self.after(LEASE_S, lambda: self.expire(job))

    def expire(self, job: str) -> None:
        if job in self.holder and self.now >= self.holder[job][1]:
            del self.holder[job]
            self.say("warning", "lease expired", job_id=job)
            self.waiting.insert(0, job)

    def finish(self, job: str, worker: str) -> None:
        # The bug: the worker never asks whether the lease is still its own.
        if self.holder.get(job, ("", 0.0))[0] == worker:
            del self.holder[job]
        self.done.add(job)
        self.say("info", "job done", job_id=job, by=worker, amount=round(self.random.uniform(12, 900), 2))
        self.say("debug", "idle", by=worker)
        self.after(self.random.uniform(0.2, 1.5), lambda: self.take(worker))


if __name__ == "__main__":
    Queue(jobs=300, workers=6, seed=13, log=sys.stdout).run()
