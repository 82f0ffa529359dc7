"""The same spec and the same events, by every source and for every sink: the same comes out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mopsus.report import format_names
from mopsus.run import source_names

DRIVER = Path(__file__).with_name("run_driver.py")

CALLS = {
    "violated": ["take 1", "give 1", "take 2", "take 2"],
    "held": ["take 1", "give 1", "take 2", "give 2"],
    "faulty": ["take 1", "give 1", "take 3", "take 3"],
}
CALL_SPEC = """
Locks(n) {
    event take before(n) : call(shop.take) && args(n)
    event give before(n) : call(shop.give) && args(n)
    event close before(n) : call(shop.close) && args(n)
    ere : (take give | close)* take take
    @match { HANDLER }
}
"""
SHOP = "def take(n): pass\ndef give(n): pass\ndef close(n): pass\n"
CALL_WAYS = ("recorded-log.csv", "recorded-log.jsonl", "followed-log.csv", "followed-log.jsonl", "program", "debugged")

MESSAGES = {"violated": 3, "held": 2, "faulty": 3}
MESSAGE_SPEC = """
Jobs(p) {
    event got(p) : recv(p, _) && runs(jobs.worker)
    event sent(p) : send(p, _, _) && runs(jobs.worker)
    ere : (got | sent) (got | sent) (got | sent)
    @match { HANDLER }
}
"""
JOBS = """
import queue

def worker(inbox, count):
    for number in range(count):
        inbox.get()
"""
JOBS_MAIN = """
import queue, sys, threading
import jobs

print("ready", flush=True)
if sys.argv[1:]:
    sys.stdin.readline()
inbox = queue.Queue()
for number in range({0}):
    inbox.put(number)
thread = threading.Thread(target=jobs.worker, args=(inbox, {0}))
thread.start()
thread.join()
"""
MESSAGE_WAYS = ("recorded-log.txt", "recorded-log.jsonl", "followed-log.txt", "told", "program", "beside", "attached")

CASES = {
    "violated": (1, {}),
    "held": (0, {}),
    "strict": (2, {"strict": True}),
    "faulty": (2, {}),
    "forgiven": (1, {"on_fault": "ignore"}),
}


def events_of(case: str) -> str:
    return {"strict": "held", "forgiven": "faulty"}.get(case, case)


def spec_of(template: str, case: str) -> str:
    return template.replace("HANDLER", "1 / 0" if case in ("faulty", "forgiven") else "")


def write_calls(folder: Path, case: str) -> None:
    calls = [tuple(each.split()) for each in CALLS[events_of(case)]]
    (folder / "spec.mop").write_text(spec_of(CALL_SPEC, case))
    (folder / "shop.py").write_text(SHOP)
    (folder / "main.py").write_text("import shop\n" + "".join(f"shop.{name}({n})\n" for name, n in calls))
    (folder / "log.csv").write_text("event,n\n" + "".join(f"{name},{n}\n" for name, n in calls))
    (folder / "log.jsonl").write_text("".join(f'{{"event": "{name}", "n": {n}}}\n' for name, n in calls))


def write_messages(folder: Path, case: str) -> None:
    count = MESSAGES[events_of(case)]
    (folder / "spec.mop").write_text(spec_of(MESSAGE_SPEC, case))
    (folder / "jobs.py").write_text(JOBS)
    (folder / "main.py").write_text(JOBS_MAIN.format(count))
    lines = ["init(<0.2.0>,<0.1.0>,{jobs,worker,[0]})", *(f"recv(<0.2.0>,{n})" for n in range(count))]
    (folder / "log.txt").write_text("".join(f"{line}\n" for line in lines))
    begin = {"event": "init", "subject": "<0.2.0>", "parent": "<0.1.0>", "module": "jobs", "function": "worker"}
    objects = [{**begin, "arguments": [0]}]
    objects += [{"event": "recv", "subject": "<0.2.0>", "message": n} for n in range(count)]
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in objects))


def expected(family: str, case: str) -> dict[str, Any]:
    """What the definition of the spec says of the events."""
    events = events_of(case)
    if family == "Locks":
        names = [each.split()[0] for each in CALLS[events]]
        occurred = {name: names.count(name) for name in ("take", "give", "close")}
        found, never = names[-2:] == ["take", "take"], ["close"]
    else:
        occurred = {"got": MESSAGES[events], "sent": 0}
        found, never = MESSAGES[events] >= 3, ["sent"]
    return {
        "verdicts": [[family, "ere", "match", "error"]] if found else [],
        "occurred": {family: occurred},
        "unseen": [[family, name, True] for name in never] if case == "strict" else [],
        "faults": [[family, "ZeroDivisionError", 1]] if events == "faulty" else [],
        "complete": True,
        "interrupted": False,
    }


def check(family: str, way: str, write: Callable[[Path, str], None], folder: Path) -> None:
    cases = {}
    for case, (_, options) in CASES.items():
        (folder / case).mkdir()
        write(folder / case, case)
        cases[str(folder / case)] = options
    command = [sys.executable, str(DRIVER), way, json.dumps(cases)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=250, check=False)
    assert 'Traceback (most recent call last):\n  File "' + str(DRIVER) not in done.stderr, done.stderr
    for case, (status, _) in CASES.items():
        told = json.loads((folder / case / f"told-{way}.json").read_text())
        wanted = expected(family, case)
        assert set(told["sinks"]) == {*format_names(), "journal"}
        for sink, given in told["sinks"].items():
            counts = given["occurred"][family]
            given["occurred"][family] = {name: counts.get(name, 0) for name in wanted["occurred"][family]}
            assert (case, sink, given) == (case, sink, wanted)
        assert (case, told["status"]) == (case, status)


@pytest.mark.parametrize("way", CALL_WAYS)
def test_calls_and_rows(way: str, tmp_path: Path) -> None:
    check("Locks", way, write_calls, tmp_path)


@pytest.mark.parametrize("way", MESSAGE_WAYS)
def test_messages_of_components(way: str, tmp_path: Path) -> None:
    check("Jobs", way, write_messages, tmp_path)


def test_every_source_is_tried() -> None:
    assert {way.partition("-")[0] for way in (*CALL_WAYS, *MESSAGE_WAYS)} == set(source_names())
