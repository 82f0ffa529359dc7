"""`mopsus check`: exit status, reports, options, and an end that can come at any time."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from mopsus.cli.main import main

SPEC = """
HasNext(i) {
    event hasnext(i)
    event next(i)
    fsm :
        unsafe [ next -> error, hasnext -> safe ]
        safe [ next -> unsafe, hasnext -> safe ]
        error [ default error ]
    @error
}
"""
GOOD = "event,i\nhasnext,1\nnext,1\nother,2\n"
WRONG = GOOD + "next,2\nnext,3\nhasnext,4\n"


@pytest.fixture
def mopsus(capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "iterators.mop"
    path.write_text(SPEC)
    return path


def trace(tmp_path, text, name="trace.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_nothing_violated(mopsus, spec, tmp_path):
    status, out, err = mopsus("check", spec, trace(tmp_path, GOOD))
    assert (status, err) == (0, "")
    assert "no violations in 3 events" in out
    assert "1 ignored" in out


def test_violations(mopsus, spec, tmp_path):
    path = trace(tmp_path, WRONG)
    status, out, err = mopsus("check", path, spec)
    assert (status, err) == (1, "")
    assert "2 violations" in out
    assert f"at {path} row 4" in out


def test_json_is_all_that_is_printed(mopsus, spec, tmp_path):
    path = trace(tmp_path, WRONG)
    status, out, err = mopsus("check", "--json", spec, path)
    report = json.loads(out)
    assert (status, err) == (1, "")
    assert [verdict["row"] for verdict in report["verdicts"]] == [4, 5]
    assert report["stats"]["events"] == 6
    assert report["stats"]["specs"]["HasNext"]["created"] == 4
    assert report["sources"] == [str(path)]


def test_all_reports_at_once(mopsus, spec, tmp_path):
    files = {name: tmp_path / f"report.{name}" for name in ("junit", "sarif", "html")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    status, out, _ = mopsus("check", spec, trace(tmp_path, WRONG), *options)
    assert status == 1
    assert "2 violations" in out
    assert all("HasNext" in path.read_text() for path in files.values())


def test_quiet(mopsus, spec, tmp_path):
    assert mopsus("check", "-q", spec, trace(tmp_path, GOOD)) == (0, "", "")
    status, out, err = mopsus("check", "-q", spec, trace(tmp_path, WRONG))
    assert (status, err, len(out.splitlines())) == (1, "", 1)


def test_a_bad_row_stops_after_reporting(mopsus, spec, tmp_path):
    path = trace(tmp_path, WRONG + "next,\nnext,5\n")
    status, out, err = mopsus("check", spec, path)
    assert status == 2
    assert "2 violations" in out
    assert f"{path}, row 7" in err
    status, out, err = mopsus("check", "--bad-rows", "skip", spec, path)
    assert status == 1
    assert "3 violations" in out
    assert "1 bad row" in out


def test_max_violations(mopsus, spec, tmp_path):
    status, out, _ = mopsus("check", "--max-violations", 1, spec, trace(tmp_path, WRONG))
    assert status == 1
    assert "1 violation in" in out
    assert "there may be more" in out


def test_forced_specs_and_formats(mopsus, spec, tmp_path):
    other = tmp_path / "spec.txt"
    spec.rename(other)
    status, _, _ = mopsus("check", "--spec", other, "--format", "csv", trace(tmp_path, WRONG))
    assert status == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trace.csv"], "no spec"),
        (["iterators.mop"], "no trace"),
        (["iterators.mop", "missing.csv"], "no such file"),
        (["iterators.mop", "iterators.mop", "trace.csv"], "two specs"),
        (["missing.mop", "trace.csv"], "missing.mop"),
    ],
)
def test_misuse(mopsus, spec, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    trace(tmp_path, GOOD)
    status, out, err = mopsus("check", *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_code_can_be_refused(mopsus, tmp_path):
    path = tmp_path / "code.mop"
    path.write_text(SPEC.replace("@error", '@error { print("called") }'))
    status, out, _ = mopsus("check", path, trace(tmp_path, WRONG))
    assert status == 1
    assert "called" in out
    status, out, err = mopsus("check", "--no-code", path, trace(tmp_path, WRONG))
    assert status == 2
    assert "called" not in out
    assert "Python code" in err


@pytest.mark.parametrize("leaving", ["SystemExit(0)", "Own"])
def test_what_came_before_code_that_leaves_the_run_is_counted(mopsus, tmp_path, leaving):
    code = tmp_path / "code.mop"
    raising = f"{{\n class Own(BaseException): pass\n raise {leaving} }}"
    code.write_text(f"S(i) {{ event e(i) ere : e e @match {raising} }}")
    (tmp_path / "trace.csv").write_text("event,i\ne,1\ne,1\n")
    status, out, err = mopsus("check", code, tmp_path / "trace.csv")
    assert status == 2
    assert "1 violation in 2 events" in out
    assert leaving in err


def test_an_import_that_fails_is_no_fault_of_mopsus(mopsus, tmp_path):
    code = tmp_path / "code.mop"
    code.write_text("import no_such_module_\nS(i) { event e(i) ere : e }")
    status, _, err = mopsus("check", code, trace(tmp_path, WRONG))
    assert status == 2
    assert "MONITOR-012" in err
    assert "no_such_module_" in err


@pytest.mark.parametrize("code", ["@match { 1 / 0 }", "@match[note] { 1 / 0 }"])
@pytest.mark.parametrize("others", [0, 1])
def test_nothing_comes_after_the_fault_that_ends_the_monitoring(mopsus, tmp_path, code, others):
    """Handlers of a whole block of rows run after it: those behind the first fault ran, too."""
    specs = tmp_path / "code.mop"
    specs.write_text(f"S(i) {{ event e(i) ere : e e {code} }}" + "T(i) { event e(i) ere : e e e }" * others)
    log = trace(tmp_path, "event,i\n" + "".join(f"e,{i}\ne,{i}\n" for i in range(10)))
    assert len(json.loads(mopsus("check", specs, log, "--json")[1])["verdicts"]) == 10
    status, out, _ = mopsus("check", specs, log, "--on-fault", "stop", "--json")
    report = json.loads(out)
    assert status == 2
    assert [verdict["row"] for verdict in report["verdicts"]] == [2]
    assert [fault["count"] for fault in report["faults"]] == [1]


def test_a_spec_that_saw_nothing_is_no_pass(mopsus, spec, tmp_path):
    status, out, _ = mopsus("check", spec, trace(tmp_path, "event,i\nhasNext,1\n"))
    assert status == 2
    assert "none of its events ever occurred" in out
    assert "hasNext" in out


def test_a_spec_with_too_many_live_monitors_is_given_up_and_that_is_a_fault(mopsus, spec, tmp_path):
    rows = "".join(f"hasnext,{k}\n" for k in range(100)) + "next,7\nnext,7\n"
    log = trace(tmp_path, "event,i\n" + rows)
    assert mopsus("check", spec, log, "--max-live", "100")[0] == 1
    status, out, _ = mopsus("check", spec, log, "--max-live", "99")
    assert status == 2
    assert "events: more than 99 monitors were live, which is the limit" in " ".join(out.split())
    assert " in 102 events · 1 spec · 1 fault" in out
    assert "Traceback" not in out


def test_help_is_quick_and_says_something(mopsus):
    status, out, _ = mopsus("check", "--help")
    assert status == 0
    assert "--bad-rows" in out
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, mopsus.cli.check; print('pyarrow' in sys.modules, 'mopsus.spec' in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.split() == ["False", "False"]


def test_standard_input_and_interrupt(spec):
    process = subprocess.Popen(
        [sys.executable, "-m", "mopsus", "check", str(spec), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"event,i\n" + b"next,1\n" * 400_000)  # more than a block
    process.stdin.flush()
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert b"interrupted" in out
    assert b"1 violation" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_reports_as_it_happens(spec, tmp_path, number):
    log = tmp_path / "log.csv"
    process = subprocess.Popen(
        [sys.executable, "-m", "mopsus", "watch", str(spec), str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    log.write_text("event,i\nnext,7\n")
    first = process.stdout.readline()
    assert b"HasNext" in first
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (1, b"")
    assert b"1 violation" in out


def test_watch_takes_one_log(mopsus, spec, tmp_path):
    status, _, err = mopsus("watch", spec, "a.csv", "b.csv")
    assert status == 2
    assert "one log" in err


FILES = """
Files(f) {
    event open(f)
    event close(f)
    ere : (open close)*
    @fail
}
"""


def test_the_end_of_a_trace_is_told_when_asked_for(mopsus, tmp_path):
    spec, trace = tmp_path / "files.mop", tmp_path / "t.csv"
    spec.write_text(FILES)
    trace.write_text("event,f\nopen,1\nopen,2\nclose,2\nopen,3\n")
    status, out, _ = mopsus("check", spec, trace, "--at-end")
    assert status == 0
    assert "Files/ere  presumably false  2 instances  f=1 · f=3" in out
    assert "Files/ere  presumably true   1 instance   f=2" in out
    assert "At the end" not in mopsus("check", spec, trace)[1]
    report = json.loads(mopsus("check", spec, trace, "--at-end", "--json")[1])
    assert [(each["presumed"], each["count"]) for each in report["at_end"]] == [(False, 2), (True, 1)]


def test_a_formula_that_cannot_be_decided_is_refused_unless_allowed(mopsus, tmp_path):
    spec, trace = tmp_path / "files.mop", tmp_path / "t.csv"
    spec.write_text("Files(f) { event open(f)\n event close(f)\n ltl : [](open => <> close) }")
    trace.write_text("event,f\nopen,1\n")
    status, _, err = mopsus("check", spec, trace)
    assert (status, err.splitlines()[0][:16]) == (2, "error[LOGIC-017]")
    assert mopsus("check", spec, trace, "--allow-unmonitorable")[0] == 0


def test_the_end_of_a_trace_for_machines_that_are_no_tables(mopsus, tmp_path):
    spec, trace = tmp_path / "s.mop", tmp_path / "t.csv"
    spec.write_text(
        "Nested(f) { event open(f)\n event close(f)\n cfg : S -> S open S close | epsilon\n @fail }\n"
        "Timed(f) { event open(f)\n event close(f)\n mtl : close => once[0,2] open }\n"
        "Calls(f) { event open(f)\n event close(f)\n ptcaret : calls open; returns close; close => (*a) open }\n"
    )
    trace.write_text("event,f,time\nopen,1,0\nclose,1,1\nopen,2,1\nopen,3,1\nclose,3,9\n")
    report = json.loads(mopsus("check", spec, trace, "--at-end", "--json")[1])
    ends = {(each["spec"], each["presumed"]): each["count"] for each in report["at_end"]}
    assert ends == {
        ("Nested", True): 2,
        ("Nested", False): 1,
        ("Timed", True): 2,
        ("Timed", False): 1,
        ("Calls", True): 3,
    }
