"""Logs of components that are still being written: the vectors of section 7.9, with real files and a real writer."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from events.component.log_support import Checked, check_logs, watch_log

import mopsus
from mopsus.events.component.log.session import Dispatching
from mopsus.model import Verdict

BAD = "with jobs:worker(_) monitor max(X. and([_ ? bad]ff, [_ ? _]X, [_:_ ! _]X, [_ <- _, jobs:worker(_)]X))."
FORK = "fork(<0.10.0>,<0.20.0>,{jobs,worker,[3]})\n"
PATIENCE_S = 20.0


class Watch:
    """A log that is being followed in another thread."""

    def __init__(self, log: Path) -> None:
        self.found: list[Verdict] = []
        self.results: list[Checked] = []
        self._stop = threading.Event()
        specs = list(mopsus.parse(BAD, "bad.hml").values())

        def run() -> None:
            dispatching = Dispatching(accounts=True)
            result = watch_log(
                specs, log, on_verdict=self.found.append, stop=self._stop, poll_s=0.005, dispatching=dispatching
            )
            self.results.append(result)

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, "nothing happened"
            time.sleep(0.005)

    def end(self) -> Checked:
        self._stop.set()
        self._thread.join(PATIENCE_S)
        return self.results[0]


@contextmanager
def watching(log: Path) -> Iterator[Watch]:
    watch = Watch(log)
    try:
        yield watch
    finally:
        watch.end()


def append(log: Path, text: str) -> None:
    with log.open("a", newline="") as file:
        file.write(text)


def counted(result: Checked) -> int:
    return sum(account.events.total() for account in result.accounts)


def test_p1_half_a_line_is_no_event_until_the_rest_is_there(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, FORK + "recv(<0.20.0>,ba")
    with watching(log) as watch:
        time.sleep(0.1)
        assert watch.found == []
        append(log, "d)\n")
        watch.until(lambda: len(watch.found) == 1)
        assert watch.found[0].row == 2
        result = watch.end()
    assert result.error is None
    assert result.rows == 2


def test_p2_two_writes_within_a_second_are_both_seen(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, FORK)
    with watching(log) as watch:
        append(log, "recv(<0.20.0>,x)\n")
        time.sleep(0.02)
        append(log, "recv(<0.20.0>,bad)\n")
        watch.until(lambda: len(watch.found) == 1)


def test_p3_lines_may_end_in_two_characters(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, FORK.replace("\n", "\r\n") + "recv(<0.20.0>,bad)\r\n")
    with watching(log) as watch:
        watch.until(lambda: len(watch.found) == 1)


def test_p4_the_log_may_come_later(tmp_path: Path) -> None:
    log = tmp_path / "later" / "a.log"
    with watching(log) as watch:
        time.sleep(0.05)
        log.parent.mkdir()
        append(log, FORK + "recv(<0.20.0>,bad)\n")
        watch.until(lambda: len(watch.found) == 1)


@pytest.mark.parametrize("way", ["truncated", "rotated"])
def test_p5_a_log_may_begin_anew(tmp_path: Path, way: str) -> None:
    log = tmp_path / "a.log"
    append(log, FORK + "recv(<0.20.0>,x)\n")
    with watching(log) as watch:
        time.sleep(0.2)
        if way == "rotated":
            os.rename(log, tmp_path / "a.log.1")
        else:
            os.truncate(log, 0)
            time.sleep(0.1)
        append(log, "recv(<0.20.0>,bad)\n")
        watch.until(lambda: len(watch.found) == 1)
        assert watch.found[0].row == 1
        result = watch.end()
    assert [warning.code for warning in result.warnings] == ["LOG-005"]
    assert result.rows == 3


def test_p6_a_long_log_is_read_as_a_whole(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, FORK + "recv(<0.20.0>,x)\nsend(<0.20.0>,<0.30.0>,{ok,1})\n" * 100_000 + "recv(<0.20.0>,bad)\n")
    found: list[Verdict] = []
    result = check_logs(list(mopsus.parse(BAD, "bad.hml").values()), [str(log)], on_verdict=found.append)
    assert [verdict.row for verdict in found] == [200_002]
    assert result.rows == 200_002


def test_a_bad_line_ends_the_watch_with_its_place(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, FORK + "recv(<0.20.0>,Bad)\nrecv(<0.20.0>,bad)\n")
    with watching(log) as watch:
        watch.until(lambda: bool(watch.results))
        error = watch.results[0].error
    assert error is not None
    assert f"{log}:2:15: expected an atom" in error.message
    assert watch.found == []


WRITER = """
import sys, time
for number in range(2000):
    print(f"fork(<0.10.0>,<0.{number + 20}.0>,{{jobs,worker,[1]}})")
    print(f"recv(<0.{number + 20}.0>,{'bad' if number % 100 == 0 else 'good'})")
    print(f"exit(<0.{number + 20}.0>,normal)")
    if number % 50 == 0:
        sys.stdout.flush()
        time.sleep(0.002)
"""


def test_a_process_writes_while_it_is_read(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    with watching(log) as watch:
        with log.open("w") as file:
            subprocess.run([sys.executable, "-c", WRITER], stdout=file, check=True)
        watch.until(lambda: sum(verdict.category == "rejection" for verdict in watch.found) == 20)
        result = watch.end()
    assert result.error is None
    assert counted(result) == result.rows == 6000
    assert result.undecided == {"bad": {}}
