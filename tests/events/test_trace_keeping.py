"""`watch --state`: killed at any moment and started again, it repeats nothing and loses nothing, whatever the log does.

A writer goes on all the time and rotates its log in the ways in which logs are rotated.
"""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from mopsus import load
from mopsus.cli.main import main
from mopsus.events.trace import rotation
from mopsus.events.trace import watch as watch_trace
from mopsus.events.trace.follow import Follower
from mopsus.events.trace.keeping import Keeper, _heading
from mopsus.events.trace.rotation import Mark, _entries, _MovedError, _open_listed, beginning, succession
from mopsus.stopping import STOPPING

CASES, KILLS = (4, 10) if "MOPSUS_RANDOM" in os.environ else (1, 2)
"""For each way of rotation."""
SEED = random.randrange(10**9) if os.environ.get("MOPSUS_RANDOM") else 7
SPEC = "Pair(x) { event a(x); event b(x); ere : a b }\nThird(x) { event b(x); event c(x); ere : b c }\n"


class Log:
    """A log with its writer."""

    def __init__(self, folder, draw, style, form) -> None:
        self.path = folder / "app.log"
        self._draw, self._style, self._form = draw, style, form
        self._number = self._time = 0
        self._file = self._open()

    def _open(self):
        file = self.path.open("a", buffering=1)
        if self._form == "csv" and not self.path.stat().st_size:
            file.write("event,x\n")
        return file

    def write(self, count):
        for _ in range(count):
            k = self._number = self._number + 1
            for event, x in (("a", k), ("b", k - 7), ("c", k - 20)):
                row = f"{event},{x}\n" if self._form == "csv" else json.dumps({"event": event, "x": x}) + "\n"
                if self._draw.random() < 0.02:  # in two parts
                    self._file.write(row[:3])
                    self._file.flush()
                    row = row[3:]
                self._file.write(row)

    def rotate(self):
        style = self._style if self._style != "any" else self._draw.choice(["number", "date", "copy"])
        self._time += 1
        if style in ("number", "compress", "copy"):
            for number in range(60, 0, -1):
                for end in ("", ".gz"):
                    older = self.path.with_name(f"app.log.{number}{end}")
                    if older.exists():
                        older.rename(self.path.with_name(f"app.log.{number + 1}{end}"))
        target = self.path.with_name(f"app.log-{20260101 + self._time}" if style == "date" else "app.log.1")
        if style == "copy":
            shutil.copyfile(self.path, target)
            os.truncate(self.path, 0)
            if self._form == "csv":
                self._file.write("event,x\n")
            return
        self.path.rename(target)
        self._file.close()
        self._file = self._open()
        if style == "compress":
            packed = target.with_name(f"{target.name}.gz")
            packed.write_bytes(gzip.compress(target.read_bytes()))
            status = target.stat()
            os.utime(packed, ns=(status.st_atime_ns, status.st_mtime_ns))
            target.unlink()

    def close(self):
        self._file.close()

    def expected(self):
        found = [("Pair", k) for k in range(1, self._number - 6)]
        return sorted(found + [("Third", k) for k in range(-6, self._number - 19)])


def watch(folder, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "mopsus", "watch", "s.mop", "app.log", "--state", "kept", "--verdicts", "found", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def found(folder):
    lines = (folder / "found").read_text().splitlines() if (folder / "found").exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def wait_for(folder, log, process):
    """Until all is found, or nothing more is to be expected."""
    end = time.monotonic() + 60
    while len(found(folder)) < len(log.expected()) and time.monotonic() < end and process.poll() is None:
        time.sleep(0.05)


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("style", ["number", "date", "compress", "copy", "any"])
def test_kills_and_rotations(tmp_path, style, case):
    draw = random.Random(f"{SEED} {style} {case}")
    (tmp_path / "s.mop").write_text(SPEC)
    log = Log(tmp_path, draw, style, draw.choice(["csv", "jsonl"]))
    every = draw.choice(["0", "0.05", "1"])
    about = f"seed {SEED}, every {every}"
    for _ in range(KILLS):
        process = watch(tmp_path, "--state-every", every)
        while not (tmp_path / "kept").exists():  # what is rotated away before the first run begins is nobody's
            time.sleep(0.02)
        end = time.monotonic() + draw.choice([0.5, 1.5, 3]) * draw.random()
        while time.monotonic() < end:
            log.write(draw.choice([1, 30, 300]))
            if draw.random() < 0.2:
                if style in ("copy", "any"):  # what is truncated before anybody has looked is lost
                    wait_for(tmp_path, log, process)
                log.rotate()
            time.sleep(0.02)
        process.kill()
        assert process.communicate()[1] == "", about
        for _ in range(draw.choice([0, 0, 1, 3])):
            log.write(draw.choice([1, 30]))
            log.rotate()
        log.write(5)
    log.close()

    process = watch(tmp_path)
    wait_for(tmp_path, log, process)
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert process.returncode in (0, 1), err
    told = [(each["spec"], each["binding"]["x"]) for each in found(tmp_path)]
    assert sorted(told) == log.expected(), about
    for spec in ("Pair", "Third"):
        numbers = [each["number"] for each in found(tmp_path) if each["spec"] == spec]
        assert numbers == list(range(1, len(numbers) + 1))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder with a state in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.mop").write_text(SPEC)
    (tmp_path / "app.log").write_text("event,x\na,1\nb,1\n")
    process = watch(tmp_path)
    while len(found(tmp_path)) < 1:
        time.sleep(0.05)
    process.terminate()
    assert process.wait(30) == 1
    assert process.stderr.read() == ""
    process.stderr.close()
    return tmp_path


def refused(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(["watch", *words])
    assert end.value.code == 2
    return capsys.readouterr().err


def test_a_damaged_state_is_refused(kept, capsys):
    whole = (kept / "kept").read_bytes()
    draw = random.Random(SEED)
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        (kept / "kept").write_bytes(damaged)
        assert "TRACE-014" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")
    (kept / "kept").write_bytes(whole[: len(whole) // 2])
    assert "damaged" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")


@pytest.mark.parametrize("change", [lambda body: [], lambda body: {"about": 3}, lambda body: None])
def test_what_is_no_state_is_refused_though_its_checksum_is_right(kept, capsys, change):
    body = (kept / "kept").read_bytes().partition(b"\n")[2]
    body = json.dumps(change(json.loads(body))).encode()
    (kept / "kept").write_bytes(_heading(body) + body)
    assert "the state is damaged" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(path), os.mkdir])
def test_what_is_no_file_is_refused(kept, capsys, make):
    make(kept / "other")
    assert "TRACE-014" in refused(capsys, "s.mop", "app.log", "--state", "other")


def with_inode(body, inode):
    body["reader"]["mark"]["identity"] = inode
    return body


def test_numbers_of_verdicts_that_are_none_are_refused(kept, capsys):
    body = json.loads((kept / "kept").read_bytes().partition(b"\n")[2])
    body["journal"]["numbers"] = {"Pair": {}}
    text = json.dumps(body).encode()
    (kept / "kept").write_bytes(_heading(text) + text)
    assert "cannot be taken over" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")


@pytest.mark.parametrize("row", [0, -3, 1 << 70, None])
def test_a_row_that_cannot_be_is_refused(kept, capsys, row):
    """The first row after it was an internal error."""
    body = json.loads((kept / "kept").read_bytes().partition(b"\n")[2])
    body["reader"]["row"] = row
    text = json.dumps(body).encode()
    (kept / "kept").write_bytes(_heading(text) + text)
    assert "cannot be taken over" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")


@pytest.mark.parametrize("inode", [[1, float("inf")], 3, {"a": 1}, None])
def test_a_state_that_makes_no_sense_is_refused(kept, capsys, inode):
    body = (kept / "kept").read_bytes().partition(b"\n")[2]
    body = json.dumps(with_inode(json.loads(body), inode)).encode()
    (kept / "kept").write_bytes(_heading(body) + body)
    assert "cannot be taken over" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["t.mop", "app.log", "--verdicts", "found"], "cannot be taken over"),
        (["s.mop", "other.log", "--verdicts", "found"], "another log"),
        (["s.mop", "app.log"], "another verdicts"),
        (["s.mop", "app.log", "--verdicts", "found", "--history", "3"], "another history"),
    ],
)
def test_a_state_of_something_else_is_refused(kept, capsys, words, said):
    (kept / "t.mop").write_text(SPEC.replace("ere : a b", "ere : a b b"))
    assert said in refused(capsys, *words, "--state", "kept")


def test_one_state_is_for_one_run(kept, capsys):
    process = watch(kept)
    with (kept / "app.log").open("a") as file:
        file.write("a,2\nb,2\n")
    while len(found(kept)) < 2:
        time.sleep(0.05)
    assert "another `mopsus watch`" in refused(capsys, "s.mop", "app.log", "--state", "kept", "--verdicts", "found")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)


def test_what_is_cut_off_by_a_signal_is_read_again(tmp_path, monkeypatch):
    """A block that takes too long after a signal tells no more verdicts, and no state may say that it was taken."""
    log, told = tmp_path / "app.log", []
    (tmp_path / "s.mop").write_text(SPEC)
    log.write_text("event,x\n" + "".join(f"a,{k}\nb,{k}\nc,{k}\n" for k in range(5)))
    specs = list(load(tmp_path / "s.mop").values())
    stop = threading.Event()

    def follow(tell):
        keeper = Keeper(tmp_path / "kept", {}, interval_s=0)
        return watch_trace(specs, log, on_verdict=tell, stop=stop, keeper=keeper)

    def interrupt(verdict):
        told.append((verdict.spec, verdict.binding["x"]))
        for name, value in (("number", signal.SIGTERM), ("_came", 0.0), ("heeded", False)):
            monkeypatch.setattr(STOPPING, name, value)

    assert any(each.code == "TRACE-012" for each in follow(interrupt).warnings)
    assert len(told) == 1
    monkeypatch.undo()
    stop.set()
    follow(lambda verdict: told.append((verdict.spec, verdict.binding["x"])))
    assert {*told} == {(spec, k) for spec in ("Pair", "Third") for k in range(5)}


def test_a_header_alone_is_no_place(tmp_path):
    """A log that was copied and truncated begins with the same header, and so does its copy."""
    log, told = tmp_path / "app.log", []
    (tmp_path / "s.mop").write_text(SPEC)
    specs = list(load(tmp_path / "s.mop").values())
    stop = threading.Event()
    stop.set()

    def follow():
        keeper = Keeper(tmp_path / "kept", {})
        watch_trace(specs, log, on_verdict=lambda verdict: told.append(verdict.binding["x"]), stop=stop, keeper=keeper)

    log.write_text("event,x\n")
    follow()
    (tmp_path / "app.log.1").write_text("event,x\na,1\nb,1\n")
    log.write_text("event,x\na,2\nb,2\n")
    follow()
    assert told == [1, 2]


@pytest.mark.parametrize("first", [True, False], ids=["at the start", "on the way"])
def test_a_rotation_that_takes_long_is_waited_for(tmp_path, monkeypatch, first):
    """Names of many files move on all the time then, and nobody can say what came after what."""
    log, older = tmp_path / "app.log", tmp_path / "app.log.1"
    log.write_text("event,x\na,1\n")
    stop, looks, found = threading.Event(), [], []

    def idle():
        looks.append(1)
        if len(looks) > 30:
            stop.set()

    rows = iter(Follower(log, stop=stop, poll_s=0, idle=idle))

    def rotate():
        log.rename(older)
        log.write_text("event,x\na,2\n")

    def moving(entry):
        looks.append(1)
        if len(looks) < 20:
            raise _MovedError
        return _open_listed(entry)

    if first:
        rotate()
    else:
        found.append(next(rows))
        rotate()
    monkeypatch.setattr(rotation, "_open_listed", moving)
    found += rows
    assert [whole.rows for whole in found] == [b"event,x\na,1\n", b"event,x\na,2\n"]


def test_a_place_that_is_gone_is_said(kept):
    """Rotated away so often that nothing is left of it."""
    (kept / "app.log").unlink()
    (kept / "app.log").write_text("event,x\na,3\nb,3\n")
    process = watch(kept, "--html", "r.html")
    while len(found(kept)) < 2:
        time.sleep(0.05)
    process.terminate()
    process.communicate(timeout=30)
    assert "TRACE-013" in (kept / "r.html").read_text()


def test_a_file_that_is_being_compressed_is_not_read_before_it_is_whole(tmp_path):
    """A look at the folder that began before the rotation may find the new file under the name of an older one."""
    log, plain = tmp_path / "app.log", tmp_path / "app.log.1"
    whole = gzip.compress(b"event,x\n" + b"a,1\n" * 100)
    packed = plain.with_name("app.log.1.gz")
    packed.write_bytes(whole[:20])
    (entry,) = _entries(log, beginning(log))
    plain.write_text("event,x\n" + "a,1\n" * 100)
    with pytest.raises(_MovedError):
        _open_listed(entry)
    plain.unlink()
    packed.write_bytes(whole)
    with closing(_open_listed(entry)) as file:
        assert file.read().startswith(b"event,x\na,1\n")


def test_a_file_that_got_the_number_of_a_removed_one_is_no_part_of_the_log(tmp_path):
    """The state is written anew all the time, and may have the inode that the log had when it was marked."""
    log, rotated, other = tmp_path / "app.log", tmp_path / "app.log.1", tmp_path / "kept"
    rotated.write_bytes(b"event,x\na,1\n")
    other.write_bytes(b"mopsus watch\n")
    log.write_bytes(b"event,x\nb,1\n")
    for age, path in enumerate((log, other, rotated)):
        os.utime(path, ns=(0, 10**18 - age * 10**9))
    status = other.stat()
    mark = Mark((status.st_dev, status.st_ino), 12, b"event,x\na,1\n", b"event,x\na,1\n", 0)
    own, later = succession(log, mark)
    with closing(own), closing(later[0]):
        assert own.identity == (rotated.stat().st_dev, rotated.stat().st_ino)
        assert [file.read() for file in later] == [b"event,x\nb,1\n"]
