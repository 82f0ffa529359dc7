"""Specs about components and specs about rows, checked together; what a source cannot give is said."""

from __future__ import annotations

import inspect
import json
import os
import signal
import threading
import time
from contextlib import suppress
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from mopsus.cli.main import main
from mopsus.model import Diagnostic, MopsusError, RunResult, Silence, TraceError
from mopsus.report import Options, Summary
from mopsus.run import Run, RunError, RunOptions, Sinks, SourceKind, load_source, load_specs, source_names
from mopsus.run.followed import Followed
from mopsus.run.recorded import LogReading, RecordedFiles
from mopsus.run.status import exit_status
from mopsus.run.told import Told

ROWS = "Rows(i) { event a(i) event b(i) ere : a a }"
JOBS = "with jobs:worker(_) monitor max(X. and([_ ? bad]ff, [_ <- _, jobs:worker(_)]X))."
TEXT = "init(<0.2.0>,<0.1.0>,{jobs,worker,[0]})\nrecv(<0.2.0>,bad)\n"
CSV = "event,i\na,1\nb,1\na,2\na,2\n"
SHARED = [
    {"event": "init", "subject": "<0.2.0>", "parent": "<0.1.0>", "module": "jobs", "function": "worker"},
    {"event": "a", "i": 1},
    {"event": "recv", "subject": "<0.2.0>", "message": {"$atom": "bad"}},
    {"event": "a", "i": 1},
]
FOUND = {("Rows", "match"), ("jobs", "rejection")}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SHARED[0]["arguments"] = [0]
    (tmp_path / "rows.mop").write_text(ROWS)
    (tmp_path / "jobs.hml").write_text(JOBS)
    (tmp_path / "log.txt").write_text(TEXT)
    (tmp_path / "log.csv").write_text(CSV)
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in SHARED))
    return tmp_path


@pytest.fixture
def mopsus(files, capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def report_of(mopsus, *arguments):
    status, out, err = mopsus("check", *arguments, "--no-forks", "--json")
    return status, json.loads(out), err


def found(report):
    return {(each["spec"], each["category"]) for each in report["verdicts"]}


@pytest.mark.parametrize("logs", [["log.csv", "log.txt"], ["log.txt", "log.csv"], ["log.jsonl"], ["."]])
def test_both_kinds_are_checked_in_one_call(mopsus, files, logs):
    (files / ".hidden").mkdir()
    status, report, err = report_of(mopsus, "rows.mop", "jobs.hml", *logs)
    assert (status, found(report), err) == (1, FOUND, "")
    assert [each for each in report["unseen"] if not each["possible"]] == []


def test_both_find_what_each_finds_alone(mopsus):
    """It was an error: check them one after the other."""
    together = report_of(mopsus, "rows.mop", "jobs.hml", "log.csv", "log.txt")[1]["verdicts"]
    apart = report_of(mopsus, "jobs.hml", "log.txt")[1]["verdicts"]
    status, out, _ = mopsus("check", "rows.mop", "log.csv", "--json")
    apart += json.loads(out)["verdicts"]
    assert status == 1
    assert sorted(together, key=str) == sorted(apart, key=str)


@pytest.mark.parametrize(
    ("log", "unseen", "reason"),
    [("log.csv", "jobs", "no file is a log of components"), ("log.txt", "Rows", "no file has rows")],
)
def test_a_spec_that_no_file_is_for_was_not_checked(mopsus, log, unseen, reason):
    status, report, _ = report_of(mopsus, "rows.mop", "jobs.hml", log)
    assert status == 2
    assert {spec for spec, _ in found(report)} == {"Rows", "jobs"} - {unseen}
    assert [(each["spec"], each["event"], each["possible"]) for each in report["unseen"]] == [(unseen, None, False)]
    assert reason in report["unseen"][0]["message"]
    assert report_of(mopsus, "rows.mop", "jobs.hml", log, "--allow-silent")[0] == 1


def test_a_limit_holds_for_both(mopsus):
    status, report, _ = report_of(mopsus, "rows.mop", "jobs.hml", "log.jsonl", "--max-violations", "1")
    assert (status, len(report["verdicts"])) == (1, 1)


def test_standard_input_is_read_once(mopsus):
    status, _, err = mopsus("check", "rows.mop", "jobs.hml", "-")
    assert (status, "standard input can be read only once" in err) == (2, True)
    status, _, err = mopsus("check", "rows.mop", "jobs.hml", "-", "--format", "jsonl")
    assert (status, "standard input can be read only once" in err) == (2, True)


def test_an_object_that_is_no_event_of_components_is_wrong_if_no_spec_is_about_rows(mopsus):
    status, _, err = mopsus("check", "jobs.hml", "log.jsonl")
    assert (status, "expected `event` to be one of" in err) == (2, True)


def test_what_an_endless_source_cannot_give_is_said_at_once(files):
    def pieces():
        raise AssertionError("it was waited for")
        yield b""

    loaded = load_specs([files / "rows.mop", files / "jobs.hml"])
    told = Told("somebody", pieces(), LogReading().dispatching or _dispatching())
    run = Run(loaded, RunOptions(), Sinks())
    result = run.watch(told)
    assert [(each.spec, each.possible) for each in result.unseen] == [("Rows", False)]
    assert run.finish(result) == 2

    told = Told("somebody", [TEXT.encode()], _dispatching())
    assert Run(loaded, RunOptions(silence=Silence(allowed=True)), Sinks()).go(told) == 1


def _dispatching():
    from mopsus.events.component.log.session import Dispatching

    return Dispatching(roots=None)


@pytest.mark.parametrize("log", ["log.txt", "log.csv"])
def test_both_kinds_are_followed_in_json_lines_only(mopsus, log):
    status, _, err = mopsus("watch", "rows.mop", "jobs.hml", log)
    assert (status, "followed together in JSON lines only" in err) == (2, True)


def test_both_kinds_are_followed_together(files):
    """Also what comes later, and what comes in pieces."""
    log = files / "growing.jsonl"
    lines = [f"{json.dumps(each)}\n" for each in SHARED]
    log.write_text("".join(lines[:2]) + lines[2][:9])
    loaded, found = load_specs([files / "rows.mop", files / "jobs.hml"]), Deep()
    source = Followed([each.spec for each in loaded[0].values()], log, LogReading(dispatching=_dispatching()))

    def write():
        until(lambda: rows_of(source) >= 3)
        with log.open("a") as file:
            file.write(lines[2][9:] + lines[3])
        until(lambda: len(found.steps) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=write)
    thread.start()
    status = Run(loaded, RunOptions(), Sinks(others=[found])).go(source)
    thread.join()
    assert status == 1
    assert set(found.verdicts) == FOUND


def rows_of(source):
    with suppress(AttributeError):  # it is not open yet
        return sum(one.rows for one in source.inputs)
    return 0


def until(condition):
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


# ---- parts ------------------------------------------------------------------------------------


PACKAGE = Path(inspect.getfile(Run)).parents[1]


class Deep:
    """A sink that notes how many functions of ours a verdict came through."""

    def __init__(self):
        self.steps = []
        self.verdicts = []

    def add(self, verdict):
        frames = [frame.filename for frame in inspect.stack(0)]
        self.verdicts.append((verdict.spec, verdict.category))
        self.steps.append(sum(Path(name).is_relative_to(PACKAGE) for name in frames))

    def finish(self, summary):
        pass


@pytest.mark.parametrize("log", ["log.csv", "log.jsonl"])
def test_a_verdict_comes_to_a_sink_in_few_steps(files, log):
    loaded, deep = load_specs([files / "rows.mop"]), Deep()
    specs = [each.spec for each in loaded[0].values()]
    Run(loaded, RunOptions(), Sinks(others=[deep])).go(RecordedFiles(specs, [log], LogReading()))
    assert len(deep.steps) == 1
    assert deep.steps[0] <= 20


@pytest.mark.parametrize(
    ("summary", "violations", "more", "status"),
    [
        (Summary(), 0, {}, 0),
        (Summary(), 1, {}, 1),
        (Summary(), 1, {"gate": False}, 0),
        (Summary(), 1, {"program": 3}, 3),
        (Summary(), 1, {"program": 0}, 1),
        (Summary(error=TraceError("bad")), 1, {}, 2),
        (Summary(error=TraceError("bad")), 1, {"gate": False}, 2),
        (Summary(error=Diagnostic("OUTLINE-003", "broken")), 1, {}, 3),
        (Summary(interrupted=True), 1, {}, 130),
    ],
)
def test_the_exit_status(summary, violations, more, status):
    assert exit_status(summary, violations, **more) == status


def test_a_sink_that_fails_keeps_nothing_from_the_others(files):
    class Failing(Deep):
        def finish(self, summary):
            raise MopsusError("the disk is full")

    class Counting(Deep):
        ended = 0

        def finish(self, summary):
            self.ended += 1

    last = Counting()
    run = Run(load_specs([files / "rows.mop"]), RunOptions(), Sinks(options=Options(), others=[Failing(), last]))
    with pytest.raises(MopsusError, match="the disk is full"):
        run.finish(RunResult())
    assert last.ended == 1


def test_a_source_is_closed_whatever_happens(files):
    class Broken:
        endless = False
        closed = 0

        def why_not(self, spec):
            return ""

        def open(self, run):
            raise OSError("no such device")

        def close(self):
            self.closed += 1

    source = Broken()
    with pytest.raises(OSError, match="no such device"):
        Run(load_specs([files / "rows.mop"]), RunOptions(), Sinks()).go(source)
    assert source.closed == 1


def test_an_unknown_source_names_the_known_ones():
    with pytest.raises(RunError) as caught:
        load_source("telescope")
    assert (caught.value.code, "recorded, followed" in caught.value.hint) == ("RUN-001", True)


def test_installed_sources_are_found_and_checked(monkeypatch):
    named = {"good": "mopsus.run.recorded:SOURCE", "odd": "os:path", "gone": "no_such_module:X"}
    points = EntryPoints(EntryPoint(name, value, "mopsus.sources") for name, value in named.items())
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: points.select(**wanted))
    assert isinstance(load_source("good"), SourceKind)
    assert source_names()[-3:] == ("gone", "good", "odd")
    for name in ("odd", "gone"):
        with pytest.raises(RunError) as caught:
            load_source(name)
        assert caught.value.code == "RUN-002"
