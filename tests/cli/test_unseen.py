"""Nothing found is not nothing seen: what a run could not see, or never saw, decides its exit status."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mopsus.cli.main import main

PAGES = 'Pages(ip) { event page(ip) : row(path == "/x") ere : page page }'
"""Of a log of requests."""
DOORS = "Doors(d) { event open(d) event close(d) ere : open open }"

ACCESS = '93.180.71.3 - - [17/May/2015:08:05:32 +0000] "GET /a HTTP/1.1" 304 0 "-" "Debian APT-HTTP/1.3"\n'
CSVLOG = (
    '2024-01-15 10:23:45.123 UTC,"postgres","app",12345,"127.0.0.1:51234",65a5.3039,1,"SELECT",2024-01-15 10:23:40 UTC,'
    '3/42,0,LOG,00000,"duration: 1.2 ms  statement: SELECT 1, 2",,,,,,,,,"psql","client backend",,0\n'
)
POSTGRES = "2024-01-15 10:23:45.123 UTC [12345] postgres@app LOG:  statement: SELECT 1\n"
OTLP = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8e","name":"op"}]}]}]}\n'
STRACE = 'openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3\n'
TABLE = "path,ip\n/x,1\n"

STRANGE = {
    "an access log": (ACCESS * 9, "an access log of a web server"),
    "an access log with commas": (ACCESS.replace("/a", "/a?b=1,2") * 9, "an access log of a web server"),
    "csvlog": (CSVLOG * 9, "csvlog of PostgreSQL"),
    "PostgreSQL": (POSTGRES * 9, "a log of PostgreSQL"),
    "syslog": ("Jan 15 10:23:45 host sshd[12]: Accepted publickey\n" * 9, "syslog"),
    "syslog, new": ("<165>1 2003-10-11T22:14:15.003Z host evnt - ID47 [a] An event\n" * 9, "syslog"),
    "strace": (STRACE * 9, "strace"),
    "strace with times": ('12  10:23:45.12 execve("/bin/ls", ["ls"], 0x7f) = 0\n' * 9, "strace"),
    "OTLP": (OTLP * 9, "OTLP/JSON"),
    "journald": ('{"MESSAGE":[104,255],"_PID":"1"}\n' * 9, "`MESSAGE`"),
    "kubectl": (json.dumps({"kind": "List", "items": [{"reason": "Killing"}]}, indent=4), "over several lines"),
    "pretty JSON": (json.dumps({"path": "/x", "ip": 1}, indent=2) * 3, "over several lines"),
    "a JSON array": (json.dumps([{"path": "/x", "ip": 1}] * 3), "a JSON array"),
    "a JSON array over lines": (json.dumps([{"path": "/x", "ip": 1}] * 3, indent=1), "a JSON array"),
    "semicolons": (TABLE.replace(",", ";"), "semicolons"),
    "tabs": (TABLE.replace(",", "\t"), "tabs"),
    "UTF-16": (TABLE.encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": (TABLE.encode("utf-16-le"), "UTF-16"),
    "UTF-16, the other way": (TABLE.encode("utf-16-be"), "UTF-16"),
    "no header": ("/x,1\n/y,2\n", "no header"),
    "binary": (bytes(range(256)) * 9, "binary data"),
    "logfmt": ("time=2024-01-15T10:23:45Z level=info msg=hello path=/x\n" * 9, "a log of text"),
    "logging": ("2024-01-15 10:23:45,123 INFO app: hello\n" * 9, "a log of text"),
    "XML": ('<?xml version="1.0"?>\n<a/>\n', "XML"),
    "other names": ("Path,Ip\n/x,1\n", "did you mean `Path`"),
    "nothing": ("", "is empty"),
    "a header": ("path,ip\n", "none of its events ever occurred"),
    "blank lines": ("\n\n", "no column"),
    "other rows": ("path,ip\n/y,1\n", "the first row has path='/y', ip=1"),
    "objects without it": ('{"log": "GET /x"}\n', "the first one has `log`"),
}


@pytest.fixture
def mopsus(capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out + err

    return run


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("what", STRANGE)
@pytest.mark.parametrize("spec", [PAGES, DOORS], ids=["columns", "names"])
def test_a_log_that_is_not_understood_is_no_pass(mopsus, tmp_path, what, spec):
    text, said = STRANGE[what]
    status, told = mopsus("check", write(tmp_path / "s.mop", spec), write(tmp_path / "log", text))
    assert status == 2
    if spec is PAGES:
        assert said in told
    status, told = mopsus("check", tmp_path / "s.mop", tmp_path / "log", "--bad-rows", "skip", "--quiet")
    assert status == 2
    assert told
    if spec is PAGES and what in ("OTLP", "UTF-16", "pretty JSON", "journald"):
        assert mopsus("check", tmp_path / "s.mop", tmp_path / "log", "--format", "csv")[0] == 2


def test_what_was_not_seen_is_in_every_report(mopsus, tmp_path):
    spec, log = write(tmp_path / "s.mop", PAGES + "\n" + DOORS), write(tmp_path / "t.csv", "event,d\nopen,1\n")
    files = [word for name in ("junit", "sarif", "html") for word in (f"--{name}", tmp_path / name)]
    status, told = mopsus("check", spec, log, "--json", *files)
    assert status == 2
    [whole, single] = json.loads(told)["unseen"]
    assert (whole["spec"], whole["event"], whole["possible"], whole["refused"]) == ("Pages", None, False, True)
    assert (single["spec"], single["event"], single["possible"], single["refused"]) == ("Doors", "close", True, False)
    assert '<error type="unseen"' in (tmp_path / "junit").read_text()
    invocation = json.loads((tmp_path / "sarif").read_text())["runs"][0]["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"
    page = (tmp_path / "html").read_text()
    assert "Not everything could be seen" in page
    assert "No violations" not in page
    status, told = mopsus("check", spec, log)
    assert "SEEN-001" in told
    assert "not seen: Pages" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("event,d\nopen,1\n", "log has no column `user`", id="a table without it"),
        pytest.param(ACCESS * 9, "an access log of a web server", id="an access log"),
        pytest.param('{"event": "open"}\n', "no row has `user`", id="objects without it"),
    ],
)
@pytest.mark.parametrize("pattern", ["known anon", "anon anon known", "anon"])
def test_a_column_that_may_be_missing_in_rows_is_somewhere(mopsus, tmp_path, text, said, pattern):
    spec = f"Users() {{ event known() : row(user is not None) event anon() : row(user is None) ere : {pattern} }}"
    status, told = mopsus("check", write(tmp_path / "s.mop", spec), write(tmp_path / "log", text))
    assert status == 2
    assert said in told
    assert mopsus("check", tmp_path / "s.mop", write(tmp_path / "log", "user\n1\n"))[0] == 0


@pytest.mark.parametrize("text", [ACCESS * 9, OTLP * 9, TABLE.replace(",", ";")])
def test_a_log_that_is_not_understood_is_no_pass_beside_one_that_is(mopsus, tmp_path, text):
    good, odd = write(tmp_path / "1.csv", TABLE), write(tmp_path / "2.log", text)
    spec = write(tmp_path / "s.mop", PAGES)
    for logs in ([good, odd], [odd, good], [tmp_path / "*.[cl]*[vg]"]):
        status, told = mopsus("check", spec, *logs)
        assert status == 2
        assert "what happened in" in told
        assert "2.log was not seen" in told
        assert "looks like" in told or "semicolons" in told
        assert mopsus("check", spec, *logs, "--allow-silent")[0] == 0
    other = write(tmp_path / "3.csv", "kind,weight\nbox,3\n")
    assert mopsus("check", spec, good, other)[0] == 0


@pytest.mark.parametrize("formula", ["ere : open close & close open", "cfg : S -> epsilon", "mtl : true", ""])
def test_a_spec_that_can_never_report_anything_is_refused(mopsus, tmp_path, formula):
    spec = write(tmp_path / "s.mop", f"Doors(d) {{ event open(d) event close(d) {formula} }}")
    words = ("check", spec, write(tmp_path / "t.csv", "event,d,time\nopen,1,1\nclose,1,2\n"), "--quiet")
    status, told = mopsus(*words)
    assert status == 2
    assert ("can never report" if formula else "neither a property nor an action") in told
    assert mopsus(*words, "--allow-unmonitorable")[0] == 0


@pytest.mark.parametrize("head", [b"\x1f\x8b\x08 no newline", b"\x28\xb5\x2f\xfd no newline", b"PAR1", b"ARROW1"])
def test_what_cannot_be_followed_is_not_waited_for(mopsus, tmp_path, head):
    """A small compressed file has no newline: it was once waited for without an end."""
    spec, form = write(tmp_path / "s.mop", PAGES), write(tmp_path / "f.hml", "with m:f() monitor [_ ? _]ff.")
    for property in (spec, form) if head[0] < 64 else (spec,):
        status, told = mopsus("watch", property, write(tmp_path / "log", head))
        assert status == 2
        assert "be followed" in told


def test_a_growing_log_that_is_not_understood_is_not_waited_for(mopsus, tmp_path):
    status, told = mopsus("watch", write(tmp_path / "s.mop", PAGES), write(tmp_path / "log", OTLP * 9))
    assert status == 2
    assert "OTLP/JSON" in told


@pytest.mark.parametrize(
    ("text", "plain", "strict", "allowed"),
    [
        pytest.param("event,d\nopen,1\nclose,1\n", 0, 0, 0, id="all"),
        pytest.param("event,d\nopen,1\n", 0, 2, 0, id="some"),
        pytest.param("event,d\nlock,1\n", 2, 2, 0, id="none"),
        pytest.param("event,d\nopen,1\nopen,1\n", 1, 2, 1, id="a violation and an event that did not occur"),
    ],
)
def test_strict_asks_for_every_event(mopsus, tmp_path, text, plain, strict, allowed):
    words = ("check", write(tmp_path / "s.mop", DOORS), write(tmp_path / "t.csv", text))
    assert mopsus(*words)[0] == plain
    assert mopsus(*words, "--strict")[0] == strict
    assert mopsus(*words, "--allow-silent")[0] == allowed
    assert mopsus(*words, "--strict", "--allow-silent")[0] == 2


def test_one_event_that_cannot_be_seen_is_enough(mopsus, tmp_path):
    spec = "Doors(d) { event open(d) : row(what == 1) event close(d) : row(kind == 2) ere : open open }"
    words = ("check", write(tmp_path / "s.mop", spec), write(tmp_path / "t.csv", "what,d\n1,1\n1,1\n"))
    status, told = mopsus(*words)
    assert status == 2
    assert "event `close` cannot be seen" in told
    assert "no column `kind`" in told
    assert "1 violation" in told
    assert mopsus(*words, "--allow-silent")[0] == 1
    assert mopsus(*words, "--max-violations", "1")[0] == 1


@pytest.mark.parametrize("log", ["event,d\nopen,1\nclose,1\n", '{"event":"open","d":1}\n{"event":"close","d":1}\n'])
def test_an_event_whose_condition_never_holds_does_not_occur(mopsus, tmp_path, log):
    trace = write(tmp_path / "t", log)
    spec = write(tmp_path / "s.mop", "D(d) { event open(d) : condition(d > 5) event close(d) ere : open close }")
    assert mopsus("check", spec, trace)[0] == 0
    status, told = mopsus("check", spec, trace, "--strict")
    assert status == 2
    assert "event `open` never occurred" in told
    assert "what came of it (1) was left out: its condition never held" in told
    both = "D(d) { event open(d) : condition(d > 5) event close(d) : condition(d is None) ere : open | close }"
    status, told = mopsus("check", write(tmp_path / "s.mop", both), trace)
    assert status == 2
    assert "the condition of `open` and of `close` never held" in told
    assert mopsus("check", spec, trace, "--allow-silent")[0] == 0


@pytest.mark.parametrize("order", [1, -1])
def test_a_log_all_rows_of_which_are_left_out_is_no_pass_beside_one_that_is(mopsus, tmp_path, order):
    spec = write(tmp_path / "s.mop", DOORS)
    good = write(tmp_path / "good.csv", "event,d\nopen,1\nclose,1\n")
    nested = write(tmp_path / "nested", '{"door": {"event": "open"}}\n' * 3)
    logs = [good, nested][::order]
    status, told = mopsus("check", spec, *logs, "--bad-rows", "skip")
    assert status == 2
    assert "what happened in" in told
    assert "none of its rows could be used: no event name" in told
    assert mopsus("check", spec, *logs, "--bad-rows", "skip", "--allow-silent")[0] == 0
    some = write(tmp_path / "nested", '{"door": 1}\n{"event": "open", "d": 3}\n{"door": 1}\n')
    assert mopsus("check", spec, good, some, "--bad-rows", "skip")[0] == 0


def test_a_column_that_may_be_missing(mopsus, tmp_path):
    spec = 'Pages(ip) { event page(ip) : row(path == "/x" and kind is None) ere : page page }'
    assert mopsus("check", write(tmp_path / "s.mop", spec), write(tmp_path / "t.csv", TABLE))[0] == 0


def test_one_of_several_traces_has_the_column(mopsus, tmp_path):
    files = write(tmp_path / "a.csv", "a,b\n1,2\n"), write(tmp_path / "b.csv", TABLE)
    assert mopsus("check", write(tmp_path / "s.mop", PAGES), *files)[0] == 0
    rows = write(tmp_path / "c.jsonl", '{"a": 1}\n{"path": "/x", "ip": 3}\n')
    assert mopsus("check", tmp_path / "s.mop", rows)[0] == 0


def test_a_misspelt_event_is_said_though_others_occurred(mopsus, tmp_path):
    spec = write(tmp_path / "s.mop", "Doors(d) { event opn(d) event close(d) ere : opn close }")
    trace = write(tmp_path / "t.csv", "event,d\nopen,1\nclose,1\n")
    status, told = mopsus("check", spec, trace)
    assert status == 0
    assert "event `opn` never occurred: did you mean `open`, which no spec mentions?" in told
    assert "did you mean" not in mopsus("check", spec, write(tmp_path / "t.csv", "event,d\nget,1\nclose,1\n"))[1]


def test_a_key_of_some_objects_only_may_well_not_come(mopsus, tmp_path):
    spec = 'Jobs(id) { event begin(id) : row(kind == "begin") event fail(id) : row(error == "x") ere : begin fail }'
    log = write(tmp_path / "t.jsonl", '{"kind": "begin", "id": 1}\n')
    assert mopsus("check", write(tmp_path / "s.mop", spec), log)[0] == 0
    status, told = mopsus("check", tmp_path / "s.mop", log, "--strict")
    assert status == 2
    assert "event `fail` never occurred: no row has `error`" in told


def test_bytes_in_a_column_that_nobody_asks_for(mopsus, tmp_path):
    spec = 'Jobs(pid) { event job(pid) : row(PRIORITY == "6") && bind(pid = _PID) ere : job job job }'
    lines = [{"MESSAGE": [104, 255] if k % 2 else "hi", "_PID": str(k), "PRIORITY": "6"} for k in range(9)]
    log = write(tmp_path / "t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    status, told = mopsus("check", write(tmp_path / "s.mop", spec), log)
    assert (status, "in 9 events" in told) == (0, True)


# ---- the same without pyarrow ----

WITHOUT_PYARROW = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
sys.path.insert(0, sys.argv[1])
from test_unseen import outcomes
from pathlib import Path
import json
print(json.dumps(outcomes(Path(sys.argv[2]))))
"""
CELLS = ["1", "2", "-3", "2.5", "true", "a", "x y", '"q,r"', "", "0x1f"]
VALUES = [1, 2.5, True, "1", "a", None, [1], {"k": 1}, "ü"]
CASES = int(os.environ.get("MOPSUS_CASES", "0")) or 40


def make_cases(folder: Path, chance: random.Random) -> None:
    """Random tables and objects with random columns, and specs that ask for some columns, each a file."""
    columns = ["event", "a", "b", "c", "time"]
    for case in range(CASES):
        likely = chance.choice([0.6, 1, 1])
        has = [name for name in columns if chance.random() < likely] or ["z"]
        chance.shuffle(has)
        wrong = chance.random() < 0.1  # a row with a field too many
        rows = range(chance.choice([0, 2, 9, 12]))
        cell = {name: chance.sample(CELLS, 2) for name in has}
        if chance.random() < 0.6:
            cell["event"] = ["stop", "go"]
            lines = [[chance.choice(cell[name]) for name in has] for _ in rows]
            text = "\n".join(",".join(line) for line in [has, *lines]) + "\n" + ("1," * 9 + "\n" if wrong else "")
        else:
            value = {name: chance.sample(VALUES, 2) for name in has}
            lines = [{name: chance.choice([*value[name], "go"]) for name in has if chance.random() < 0.9} for _ in rows]
            text = "".join(json.dumps(line) + "\n" for line in lines) + ("{1}\n" if wrong else "")
        (folder / f"{case}.log").write_text(text)
        typed = chance.choice(["", ": int", ": str"])
        how = chance.choice(["", ' : row(b == "a")', " : row(b is None)", " : row(c > 1)", " : bind(a = c)"])
        spec = f"S(a{typed}) {{ event go(a){how} event stop(a) ere : go go }}\n"
        if chance.random() < 0.4:
            spec += 'T(b) { event q(b) : row(a == "a" or a == 1) ere : q q }\n'
        (folder / f"{case}.mop").write_text(spec)


def told(report: dict[str, Any]) -> list[object]:
    """What a report says, without times and what engines count of themselves."""
    stats, error = report["stats"], report["error"]
    counts = [stats[name] for name in ("events", "ignored", "bad_rows")]
    seen = {name: [spec["events"], spec["seen"], spec["verdicts"]] for name, spec in stats["specs"].items()}
    place = error and [error["code"], error["message"].partition(": ")[0]]
    return [counts, seen, place, report["verdicts"], report["warnings"], report["unseen"]]


def outcomes(folder: Path) -> list[object]:
    """What comes of each case: status, verdicts, warnings, counts."""
    import contextlib
    import io

    found: list[object] = []
    for case in range(CASES):
        for option in ([], ["--bad-rows", "skip"]):
            out, err = io.StringIO(), io.StringIO()
            status: object = 0
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    main(["check", str(folder / f"{case}.mop"), str(folder / f"{case}.log"), "--json", *option])
                except SystemExit as end:
                    status = end.code or 0
            report = json.loads(out.getvalue() or "{}")
            found.append([case, option, status, *(told(report) if report else [err.getvalue()])])
    return found


def test_with_and_without_pyarrow_all_is_the_same(tmp_path):
    make_cases(tmp_path, random.Random(os.environ.get("MOPSUS_RANDOM", "seen")))
    here = str(Path(__file__).parent)
    words = [sys.executable, "-c", WITHOUT_PYARROW, here, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    without = json.loads(done.stdout)
    for expected, got in zip(outcomes(tmp_path), without, strict=True):
        assert got == json.loads(json.dumps(expected))
        assert got[2] in (0, 1, 2)
