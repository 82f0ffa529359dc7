"""`mopsus check` and `mopsus watch` over logs of components: status, reports, options, and what cannot be."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from mopsus.cli.main import main

PROPERTY = """
% A worker must not report a negative rest.
with jobs:worker(_)
monitor
  and([_ <- _, jobs:worker(_)]
    max(X. and([_ ? _]X, [_:_ ! {left, N} when N < 0]ff, [_:_ ! {left, N} when N >= 0]X, [_ -> _, jobs:helper(_)]X))).
"""
LOG = """
fork(<0.10.0>,<0.20.0>,{jobs,worker,[3]})
init(<0.20.0>,<0.10.0>,{jobs,worker,[3]})
recv(<0.20.0>,{job,1})
fork(<0.20.0>,<0.21.0>,{jobs,helper,[1]})
send(<0.21.0>,<0.30.0>,{left,-2})
send(<0.20.0>,<0.30.0>,{left,2})
"""
BROKEN = "send(<0.20.0>,<0.30.0>,{left,-1})\n"


@pytest.fixture
def mopsus(capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


@pytest.fixture
def files(tmp_path):
    (tmp_path / "jobs.hml").write_text(PROPERTY)
    (tmp_path / "a.log").write_text(LOG)
    return tmp_path


def test_nothing_violated(mopsus, files):
    status, out, err = mopsus("check", files / "jobs.hml", files / "a.log")
    assert (status, err) == (0, "")
    assert "no violations in 6 events · 1 spec · 1 undecided · 2 ignored" in out


def test_messages_that_nobody_told_are_no_pass(mopsus, files):
    (files / "jobs.hml").write_text("with jobs:worker(_) monitor [_ ? {left, _}]ff.")
    told = "fork(<0.1.0>,<0.2.0>,{jobs,worker,[1]})\ninit(<0.2.0>,<0.1.0>,{jobs,worker,[1]})\nexit(<0.2.0>,normal)\n"
    (files / "a.log").write_text(told)
    status, out, err = mopsus("check", files / "jobs.hml", files / "a.log")
    assert status == 2
    assert "nobody received a message that could be seen" in out + err
    assert mopsus("check", files / "jobs.hml", files / "a.log", "--allow-silent")[0] == 0
    (files / "a.log").write_text(told.replace("exit", "send(<0.2.0>,<0.1.0>,{left,1})\nexit"))
    assert mopsus("check", files / "jobs.hml", files / "a.log")[0] == 0


def test_a_violation_with_its_way(mopsus, files):
    (files / "a.log").write_text(LOG + BROKEN)
    status, out, _ = mopsus("check", files / "jobs.hml", files / "a.log")
    assert status == 1
    assert "rejection" in out
    assert "component='<0.20.0>'  at" in out
    assert "row 8" in out
    assert "N=-1" in out


def test_groups_follow_detecter(mopsus, files):
    status, out, _ = mopsus("check", files / "jobs.hml", files / "a.log", "--groups", "--root", "<0.10.0>")
    assert status == 1
    assert "row 6" in out


def test_the_report_has_each_component(mopsus, files):
    (files / "a.log").write_text(LOG + BROKEN + "recv(<0.99.0>,x)\n")
    status, out, _ = mopsus("check", files / "jobs.hml", files / "a.log", "--json")
    report = json.loads(out)
    assert status == 1
    none = {"fork": 0, "init": 0, "exit": 0, "send": 0, "recv": 0}
    assert {each["component"]: each for each in report["components"]} == {
        "<0.10.0>": {"component": "<0.10.0>", "function": None, "monitored": False, "events": none | {"fork": 1}},
        "<0.20.0>": {
            "component": "<0.20.0>",
            "function": "jobs:worker(3)",
            "monitored": True,
            "events": none | {"fork": 1, "init": 1, "send": 2, "recv": 1},
        },
        "<0.21.0>": {
            "component": "<0.21.0>",
            "function": "jobs:helper(1)",
            "monitored": False,
            "events": none | {"send": 1},
        },
        "<0.99.0>": {"component": "<0.99.0>", "function": None, "monitored": False, "events": none | {"recv": 1}},
    }
    assert report["undecided"] == {"jobs": {}}
    assert report["verdicts"][0]["location"] == f"{files / 'a.log'}:8"
    assert "LOG-006" in [warning["code"] for warning in report["warnings"]]


def test_what_monitors_hear_can_be_told(mopsus, files):
    (files / "a.log").write_text(LOG + BROKEN)
    _, _, err = mopsus("check", files / "jobs.hml", files / "a.log", "--verbose", "-q")
    assert err.splitlines() == [
        "jobs: <0.20.0> runs jobs:worker(3), and is monitored",
        "jobs: <0.20.0> init(<0.20.0>,<0.10.0>,{jobs,worker,[3]})",
        "jobs: <0.20.0> recv(<0.20.0>,{job,1})",
        "jobs: <0.20.0> fork(<0.20.0>,<0.21.0>,{jobs,helper,[1]})",
        "jobs: a component that runs jobs:helper(1) is not monitored",
        "jobs: <0.20.0> send(<0.20.0>,<0.30.0>,{left,2})",
        "jobs: <0.20.0> send(<0.20.0>,<0.30.0>,{left,-1})",
        f"jobs: rejection for component='<0.20.0>' at {files / 'a.log'} row 8",
    ]


def test_at_the_end_the_undecided_are_judged(mopsus, files):
    (files / "linear.hml").write_text(
        "with jobs:worker(_) check max X.([{_ ? {job, _}}]<{_:_ ! done}>X and [{_ <- _, jobs:worker(_)}]X)."
    )
    (files / "a.log").write_text("".join(LOG.splitlines(keepends=True)[:4]) + "exit(<0.10.0>,normal)\n")
    status, out, _ = mopsus("check", files / "linear.hml", files / "a.log", "--at-end")
    assert status == 0
    assert "At the end of the trace" in out
    assert "presumably false" in out


def test_a_bad_line_is_told_with_its_place(mopsus, files):
    (files / "a.log").write_text(LOG + "send(<0.20.0>,Oops,1)\n" + BROKEN)
    status, out, err = mopsus("check", files / "jobs.hml", files / "a.log")
    assert status == 2
    assert f"error[LOG-001]: {files / 'a.log'}:8:15: expected an identifier such as `<0.20.0>`, not `Oops`" in err
    assert "no violations" in out
    status, out, _ = mopsus("check", files / "jobs.hml", files / "a.log", "--bad-rows", "skip")
    assert status == 1
    assert "1 bad row skipped" in out


def test_several_files_of_one_run(mopsus, files):
    lines = (LOG + BROKEN).strip().splitlines(keepends=True)
    for number, pid in enumerate(("20", "21", "10")):
        own = [line for line in lines if line[5:].startswith(f"<0.{pid}.0>")]
        (files / f"process{number}.log").write_text("".join(own))
    status, out, _ = mopsus("check", files / "jobs.hml", str(files / "process*.log"))
    assert status == 1
    assert "LOG-006" not in out


def test_logs_that_logging_wrote(mopsus, files):
    (files / "a.log").write_text("".join(f"2026-11-16 06:00:00,000 {line}\n" for line in (LOG + BROKEN).splitlines()))
    status, _, _ = mopsus("check", files / "jobs.hml", files / "a.log", "--log-format", "%(asctime)s %(message)s")
    assert status == 1


def test_a_format_that_no_line_has_is_told(mopsus, files):
    status, out, err = mopsus("check", files / "jobs.hml", files / "a.log", "--log-format", "%(asctime)s %(message)s")
    assert status == 2
    assert "warning[LOG-007]: none of the 7 lines of" in out + err
    assert "is empty" not in out + err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--no-forks", "--groups"], "--no-forks and --groups exclude each other"),
        (["--no-forks", "--root", "<0.1.0>"], "--no-forks and --root exclude each other"),
        (["--format", "csv"], "a log of components is no csv file"),
        (["--log-format", "%(name)s"], "has no %(message)s"),
    ],
)
def test_options_that_cannot_be(mopsus, files, options, message):
    status, _, err = mopsus("check", files / "jobs.hml", files / "a.log", *options)
    assert status == 2
    assert message in err


def test_options_of_components_need_some(mopsus, files):
    (files / "rows.mop").write_text("Rows(i) { event a(i) event b(i) ere: a b @match }")
    (files / "rows.csv").write_text("event,i\na,1\n")
    status, _, err = mopsus("check", files / "rows.mop", files / "rows.csv", "--groups")
    assert (status, "--groups is for logs of components" in err) == (2, True)
    status, _, err = mopsus("check", files / "rows.mop", files / "rows.csv", "--format", "text")
    assert (status, "text is a format of logs of components" in err) == (2, True)
    status, _, err = mopsus("watch", files / "jobs.hml", files / "a.log", "--groups")
    assert (status, "--groups needs --root" in err) == (2, True)


def test_standard_input(files):
    command = [sys.executable, "-m", "mopsus", "check", "jobs.hml", "-", "-q"]
    done = subprocess.run(command, input=LOG + BROKEN, cwd=files, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1 violation in 7 events" in done.stdout


def test_a_watched_log_reports_at_once_and_ends_by_a_signal(files):
    log = files / "live.log"
    command = [sys.executable, "-m", "mopsus", "watch", "jobs.hml", "live.log"]
    process = subprocess.Popen(command, cwd=files, stdout=subprocess.PIPE, text=True)
    try:
        with log.open("w") as file:
            file.write(LOG)
            file.flush()
            time.sleep(0.3)
            file.write(BROKEN)
        line = ""
        while "rejection" not in line:
            line = process.stdout.readline()
            assert line, "it ended"
        os.kill(process.pid, signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(20) == 1
    finally:
        process.kill()
        process.stdout.close()
    assert "1 violation in 7 events" in rest
