"""Following a growing file: nothing lost, nothing twice, through rotation and truncation."""

from __future__ import annotations

import os
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
