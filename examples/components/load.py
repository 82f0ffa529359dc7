"""A system of many short-lived components, to measure what watching them costs.

A master starts workers, asks each of them a number of questions and ends it. When they are started follows a profile:
`steady` (at random, evenly), `pulse` (a swell in the middle) or `burst` (most of them at once, early). The same seed
gives the same load. It prints how long it took, how quickly questions were answered, and what it used.

    python load.py --workers 200 --profile pulse
    mopsus run load.hml -- load.py --workers 200 --profile pulse
    mopsus run --outline load.hml -- load.py --workers 200 --profile pulse
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import sys
import threading
import time
from queue import Empty, Queue

STOP = ("stop",)


def work(number: int, inbox: Queue[tuple[object, ...]], master: Queue[tuple[object, ...]]) -> None:
    """A worker: it answers until it is told to stop. Some questions it only takes note of."""
    while (message := inbox.get()) != STOP:
        _, question, wants_answer = message
        if wants_answer:
            master.put(("answer", number, question))
        else:
            master.put(("noted", number, question))


def arrivals(profile: str, workers: int, duration: float, chance: random.Random) -> list[float]:
    """The moments, in seconds from the beginning, at which workers are started."""
    match profile:
        case "steady":
            return sorted(chance.uniform(0, duration) for _ in range(workers))
        case "pulse":
            bell = (chance.gauss(duration / 2, duration / 8) for _ in range(workers))
            return sorted(min(max(moment, 0.0), duration) for moment in bell)
        case _:
            hill = (chance.lognormvariate(math.log(duration / 10), 0.5) for _ in range(workers))
            return sorted(min(moment, duration) for moment in hill)


class Master:
    """Asks every worker its questions, one at a time, and measures how long each answer takes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        # One for each worker, because the order in which they answer is not always the same.
        self._chances = [random.Random(f"{options.seed}/{number}") for number in range(options.workers)]
        self._inbox: Queue[tuple[object, ...]] = Queue()
        self._workers: dict[int, Queue[tuple[object, ...]]] = {}
        self._threads: list[threading.Thread] = []
        self._asked: dict[int, tuple[int, float]] = {}
        self.times: list[float] = []
        self.messages = 0

    def run(self) -> None:
        """Start workers when their time has come, and go on until all of them are done."""
        options = self._options
        moments = arrivals(options.profile, options.workers, options.duration, random.Random(options.seed))
        begin = time.perf_counter()
        started = 0
        while started < len(moments) or self._workers:
            wait = None
            if started < len(moments):
                wait = moments[started] - (time.perf_counter() - begin)
                if wait <= 0:
                    self._start(started)
                    started += 1
                    continue
            try:
                self._take(self._inbox.get(timeout=wait))
            except Empty:
                continue
        for thread in self._threads:
            thread.join()

    def _start(self, number: int) -> None:
        inbox: Queue[tuple[object, ...]] = Queue()
        self._workers[number] = inbox
        thread = threading.Thread(target=work, args=(number, inbox, self._inbox), name=f"worker {number}")
        self._threads.append(thread)
        thread.start()
        self._ask(number, 0)

    def _ask(self, number: int, question: int) -> None:
        inbox, chance = self._workers[number], self._chances[number]
        # Some questions are left out, so that workers do not go in step.
        while question < self._options.requests and chance.random() > self._options.p_send:
            question += 1
        if question >= self._options.requests:
            del self._workers[number]
            inbox.put(STOP)
            return
        self._asked[number] = question, time.perf_counter()
        self.messages += 2
        inbox.put(("question", question, chance.random() < self._options.p_recv))

    def _take(self, message: tuple[object, ...]) -> None:
        number = message[1]
        assert isinstance(number, int)
        question, since = self._asked.pop(number)
        self.times.append(time.perf_counter() - since)
        self._ask(number, question + 1)


def main() -> None:
    """Run a load, and say what it took."""
    parser = argparse.ArgumentParser(description="A load of short-lived workers, to measure what watching them costs.")
    parser.add_argument("--workers", type=int, default=100, metavar="N", help="how many workers there are (100)")
    parser.add_argument(
        "--profile", choices=("steady", "pulse", "burst"), default="steady", help="when they start (steady)"
    )
    parser.add_argument("--duration", type=float, default=2.0, metavar="S", help="seconds over which they start (2)")
    parser.add_argument("--requests", type=int, default=100, metavar="N", help="questions for each (100)")
    parser.add_argument("--p-send", type=float, default=0.9, metavar="P", help="chance that one is asked (0.9)")
    parser.add_argument("--p-recv", type=float, default=0.9, metavar="P", help="chance that one wants an answer (0.9)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same load (1)")
    parser.add_argument("--json", action="store_true", help="print the measures as JSON")
    options = parser.parse_args()
    begin, used = time.perf_counter(), time.process_time()
    master = Master(options)
    master.run()
    times = sorted(master.times)
    measures = {
        "workers": options.workers,
        "messages": master.messages,
        "seconds": round(time.perf_counter() - begin, 3),
        "processor_seconds": round(time.process_time() - used, 3),
        "answer_ms": {
            "mean": round(1000 * sum(times) / max(len(times), 1), 4),
            "p50": round(1000 * times[len(times) // 2], 4) if times else None,
            "p99": round(1000 * times[len(times) * 99 // 100], 4) if times else None,
        },
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    if options.json:
        json.dump(measures, sys.stdout)
        print()
    else:
        for name, value in measures.items():
            print(f"{name.replace('_', ' '):18} {value}")


if __name__ == "__main__":
    main()
