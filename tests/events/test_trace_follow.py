"""Following a growing file: nothing lost, nothing twice, through rotation and truncation."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import threading
import time

import pytest
from trace_support import HAS_NEXT, Recording, spec_of

from mopsus.events.trace import watch
from mopsus.events.trace.follow import Follower
from mopsus.events.trace.sources import Format
from mopsus.model import Event

POLL_S = 0.005


class Following:
    """A follower in a thread, and what it has given."""

    def __init__(self, path, format=Format.JSONL) -> None:
        self.given: list[tuple[bytes, bool]] = []
        self.stop = threading.Event()
        self._follower = Follower(path, format=format, stop=self.stop, poll_s=POLL_S)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for whole in self._follower:
            self.given.append((whole.rows, whole.begins))

    @property
    def text(self) -> bytes:
        return b"".join(rows for rows, _ in self.given)

    def wait_for(self, text: bytes) -> None:
        deadline = time.monotonic() + 10
        while self.text != text:
            assert time.monotonic() < deadline, (self.text, text)
            time.sleep(POLL_S)

    def end(self) -> bytes:
        self.stop.set()
        self._thread.join(10)
        assert not self._thread.is_alive()
        return self.text


def append(path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_growth_and_partial_lines(tmp_path):
    path = tmp_path / "log"
    following = Following(path)
    time.sleep(3 * POLL_S)
    append(path, "a\nb")
    following.wait_for(b"a\n")
    append(path, "c\n")
    following.wait_for(b"a\nbc\n")
    append(path, "unfinished")
    assert following.end() == b"a\nbc\n"
    assert [begins for _, begins in following.given] == [True, False]


def test_rotation(tmp_path):
    path = tmp_path / "log"
    append(path, "1\n2\n3")
    following = Following(path)
    following.wait_for(b"1\n2\n")
    with path.open("a") as writer:
        path.rename(tmp_path / "log.1")
        path.touch()
        time.sleep(3 * POLL_S)
        writer.write("\n4\nlast")  # a writer that has not noticed yet
    append(path, "5\n")
    following.wait_for(b"1\n2\n3\n4\nlast5\n")
    assert following.end() == b"1\n2\n3\n4\nlast5\n"
    assert following.given[-1] == (b"5\n", True)


def test_several_rotations_at_once(tmp_path):
    path = tmp_path / "log"
    append(path, "1\n")
    following = Follower(path, format=Format.JSONL, stop=threading.Event(), poll_s=POLL_S)
    rows = iter(following)
    assert next(rows).rows == b"1\n"
    for number in (2, 3, 4):
        for older in (2, 1):
            if (tmp_path / f"log.{older}").exists():
                (tmp_path / f"log.{older}").rename(tmp_path / f"log.{older + 1}")
        path.rename(tmp_path / "log.1")
        append(path, f"{number}\n")
    assert [next(rows).rows for _ in range(3)] == [b"2\n", b"3\n", b"4\n"]
    rows.close()


def test_files_are_read_though_the_last_rotation_was_followed_by_nothing(tmp_path):
    """They were left until somebody wrote to the log again."""
    path = tmp_path / "log"
    append(path, "1\n")
    following = Following(path)
    following.wait_for(b"1\n")
    append(tmp_path / "new", "2\n")
    path.rename(tmp_path / "log.2")
    (tmp_path / "new").rename(tmp_path / "log.1")
    path.touch()
    following.wait_for(b"1\n2\n")
    with (tmp_path / "log.1").open("a") as writer:
        writer.write("3\n")  # a writer that has not noticed yet
    following.wait_for(b"1\n2\n3\n")
    append(path, "4\n")
    following.wait_for(b"1\n2\n3\n4\n")
    following.end()


def test_a_run_that_goes_on_waits_for_the_writer_too(tmp_path):
    """It left a file that somebody still wrote to, because the next was there."""
    path = tmp_path / "log"
    append(path, "1\n")
    stop = threading.Event()
    stop.set()
    (first,) = Follower(path, format=Format.JSONL, stop=stop)
    path.rename(tmp_path / "log.1")
    path.touch()

    def late():
        if not path.stat().st_size:
            append(tmp_path / "log.1", "2\n")
            append(path, "3\n")

    follower = Follower(path, format=Format.JSONL, stop=threading.Event(), poll_s=POLL_S, idle=late)
    follower.start = first.mark
    rows = iter(follower)
    assert [next(rows).rows, next(rows).rows] == [b"2\n", b"3\n"]
    rows.close()


def test_truncation(tmp_path):
    path = tmp_path / "log"
    append(path, "1\n2\n")
    following = Following(path)
    following.wait_for(b"1\n2\n")
    os.truncate(path, 0)
    time.sleep(5 * POLL_S)
    append(path, "3\n")
    following.wait_for(b"1\n2\n3\n")
    assert following.given[-1] == (b"3\n", True)
    following.end()


def test_truncation_that_has_grown_past_us(tmp_path):
    path = tmp_path / "log"
    append(path, "1\n2\n")
    follower = iter(Follower(path, format=Format.JSONL, stop=threading.Event(), poll_s=POLL_S))
    assert next(follower).rows == b"1\n2\n"
    path.write_text("3\n4\n5\n6\n")  # the same file, truncated and filled again
    whole = next(follower)
    assert (whole.rows, whole.begins) == (b"3\n4\n5\n6\n", True)
    follower.close()


def test_a_busy_writer_with_rotations(tmp_path):
    path = tmp_path / "log"
    append(path, "begin\n")
    following = Following(path)
    following.wait_for(b"begin\n")  # what is rotated away before the start is nobody's
    expected = ["begin\n"]
    for number in range(2000):
        line = f"{number}\n"
        expected.append(line)
        append(path, line)
        if number % 250 == 249:
            for older in range(8, 0, -1):
                if (tmp_path / f"log.{older}").exists():
                    (tmp_path / f"log.{older}").rename(tmp_path / f"log.{older + 1}")
            path.rename(tmp_path / "log.1")
    append(path, "end\n")
    following.wait_for("".join([*expected, "end\n"]).encode())
    following.end()


class Rotated:
    """A log whose writer works between two looks of a reader only, so that it always does the same."""

    def __init__(self, folder, draw) -> None:
        self.path = folder / "app.log"
        self.draw, self.number, self.looks = draw, 0, draw.choice([5, 20])
        self.header = draw.choice(["", "event,x\n"])  # of all files but the first
        self.copies = draw.random() < 0.6
        self.stop = threading.Event()
        append(self.path, "event,x\n")

    def write(self, count) -> None:
        rows = range(self.number, self.number + count)
        self.number += count
        append(self.path, "".join(f"a,{row}\n" for row in rows))

    def rotate(self) -> None:
        for number in range(60, 0, -1):
            for end in ("", ".gz"):
                if (older := self.path.with_name(f"app.log.{number}{end}")).exists():
                    older.rename(self.path.with_name(f"app.log.{number + 1}{end}"))
        target = self.path.with_name("app.log.1")
        if self.copies:
            shutil.copyfile(self.path, target)
            os.truncate(self.path, 0)
            if self.draw.random() < 0.8:
                append(self.path, self.header)
        else:
            self.path.rename(target)
            append(self.path, self.header)
        if self.draw.random() < 0.2:
            times = target.stat()
            packed = target.with_name("app.log.1.gz")
            packed.write_bytes(gzip.compress(target.read_bytes()))
            os.utime(packed, ns=(times.st_atime_ns, times.st_mtime_ns))
            target.unlink()

    def go_on(self) -> None:
        """What the writer does before the next look."""
        self.looks -= 1
        if self.looks == 0:
            self.write(1)  # in a log that has nothing yet, nobody sees that it is another one
        elif self.looks < -3:
            self.stop.set()
        for _ in range(self.draw.randint(1, 4) if self.looks > 0 else 0):
            self.write(self.draw.choice([1, 3, 50])) if self.draw.random() < 0.5 else self.rotate()


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 300, 10)], ids=lambda seeds: str(seeds.start))
def test_nothing_is_lost_or_repeated_whatever_happens_between_two_looks(tmp_path, seeds):
    for seed in seeds:
        (folder := tmp_path / str(seed)).mkdir()
        log = Rotated(folder, random.Random(seed))
        rows = []
        for whole in Follower(log.path, format=Format.CSV, stop=log.stop, poll_s=0, idle=log.go_on):
            rows += whole.rows.decode().splitlines()
            if log.draw.random() < 0.3 and log.looks > 0:
                log.go_on()
        assert [row for row in rows if row != "event,x"] == [f"a,{row}" for row in range(log.number)], seed
    assert len(os.listdir("/proc/self/fd")) < 100


class Watching:
    """`watch` in a thread with a recording monitor."""

    def __init__(self, spec, path, **options) -> None:
        self.stop = threading.Event()
        self.result = None
        self.monitor = Recording(spec)
        self._thread = threading.Thread(target=self._run, args=(spec, path), kwargs=options, daemon=True)
        self._thread.start()

    def _run(self, spec, path, **options) -> None:
        self.result = watch(
            [spec],
            path,
            on_verdict=print,
            stop=self.stop,
            poll_s=POLL_S,
            open_monitor=lambda spec, on_verdict: self.monitor,
            **options,
        )

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 10
        while len(self.monitor.events) < count and self._thread.is_alive():
            assert time.monotonic() < deadline, self.monitor.events
            time.sleep(POLL_S)

    def end(self):
        self.stop.set()
        self._thread.join(10)
        assert self.result is not None
        return self.result


@pytest.mark.parametrize("repeated", [True, False])
def test_watch_csv_through_rotation(tmp_path, repeated):
    path = tmp_path / "log.csv"
    path.write_text("event,i\nnext,1\n")
    watching = Watching(HAS_NEXT, path)
    watching.wait_for(1)
    append(path, 'hasnext,"2\n')
    time.sleep(3 * POLL_S)
    append(path, '"\n')
    watching.wait_for(1)
    path.rename(tmp_path / "old")
    path.write_text(("event,i\n" if repeated else "") + "next,3\n")
    watching.wait_for(2)
    result = watching.end()
    assert result.error is not None  # "2\n" is no number
    assert result.error.row == 2


@pytest.mark.parametrize("repeated", [True, False])
def test_watch_keeps_the_header(tmp_path, repeated):
    path = tmp_path / "log.csv"
    watching = Watching(HAS_NEXT, path)
    path.write_text("event,i\nnext,1\n")
    watching.wait_for(1)
    path.rename(tmp_path / "old")
    append(path, ("event,i\n" if repeated else "") + "next,3\n")
    watching.wait_for(2)
    result = watching.end()
    assert result.error is None
    assert watching.monitor.events == [("next", {"i": 1}, 1), ("next", {"i": 3}, 1)]


def test_watch_json_and_bad_rows(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"event":"e","a":"it\\"s"}\n{"event":"e","a":"}\n')
    spec = spec_of(Event("e", ("a",)))
    watching = Watching(spec, path, bad_rows="skip")
    watching.wait_for(1)
    append(path, '{"event":"e","a":"c"}\n')
    watching.wait_for(2)
    result = watching.end()
    assert watching.monitor.events == [("e", {"a": 'it"s'}, 1), ("e", {"a": "c"}, 3)]
    assert result.bad_rows == 1


def test_watch_refuses_other_formats(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"PAR1\n\n")
    watching = Watching(HAS_NEXT, path)
    watching.wait_for(1)
    assert watching.end().error.code == "TRACE-004"
