"""Whatever is wrong with what a command is given, it says so in a few words, and never as a fault of its own."""

import gzip
import os
import subprocess
import sys

import pytest

from mopsus.cli.main import main

SPEC = """
StaleCursor(conn, cursor) {
    event open(conn, cursor)
    event fetch(cursor)
    event give_back(conn)
    ere : open fetch* give_back+ fetch
}
"""
POOL = b"event,conn,cursor\nopen,c1,k1\nopen,c2,k2\nfetch,,k1\ngive_back,c1,\nfetch,,k2\nfetch,,k1\n"
HEADER = b"event,conn,cursor\n"
NULLS = b'{"event":"open","conn":"c","cursor":"k"}\n{"event":"give_back","conn":null}\n'


@pytest.fixture
def mopsus(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.mop").write_text(SPEC)
    (tmp_path / "p.csv").write_bytes(POOL)
    (tmp_path / "folder").mkdir()

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert "internal error" not in err
        return end.value.code or 0, out, err

    return run


TRACES = {
    "binary": (bytes(range(256)) * 20, 2, "neither text nor Parquet nor Arrow"),
    "empty": (b"", 2, "is empty"),
    "header only": (HEADER, 2, "none of its events ever occurred"),
    "byte-order mark and CRLF": (b"\xef\xbb\xbf" + POOL.replace(b"\n", b"\r\n"), 1, "row 6"),
    "no newline at the end": (POOL.rstrip(), 1, "row 6"),
    "long field": (HEADER + b"open,c1," + b"k" * 3_000_000 + b"\n", 0, "1 event"),
    "quote never closed": (HEADER + b'open,c1,"k1\nfetch,,k1\n', 2, "row 1"),
    "NUL bytes": (HEADER + b"open,c\0,k1\n\0\0\n", 2, "row 2"),
    "a column twice": (b"event,conn,cursor,conn\nopen,c1,k1,c2\n", 2, "column `conn` occurs twice"),
    "too few fields": (HEADER + b"open,c1,k1\nopen,c1\n", 2, "row 2: 2 fields"),
    "too many fields": (HEADER + b"open,c1,k1,x\n", 2, "row 1: 4 fields"),
    "not UTF-8": (HEADER + b"open,c1,\xff\n", 2, "row 1: column `cursor` is not UTF-8"),
    "UTF-16": ("event,conn\nopen,c\n".encode("utf-16"), 2, "UTF-16"),
    "column missing": (b"event,conn\nopen,c1\n", 2, "no column `cursor`"),
    "no event column": (b"name,conn\nopen,c1\n", 2, "no column `event`"),
    "semicolons": (b"event;conn\nopen;c1\n", 2, "semicolons"),
    "null": (NULLS, 2, "row 2: event `give_back` has no value for `conn`"),
    "array": (b'[{"event": "open"}]', 2, "one object to a line"),
    "not JSON": (b'{"event": "open", "conn": 1, "cursor": 2}\n{oops\n', 2, "row 2: not a JSON object"),
    "deep JSON": (b'{"event": ' + b"[" * 100_000 + b"\n", 2, "row 1"),
    "truncated gzip": (gzip.compress(POOL)[:-12], 2, "ends too early"),
    "damaged gzip": (gzip.compress(POOL)[:20] + b"\xff" * 40, 2, "gzip"),
    "damaged zstd": (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, 2, "zstd"),
    "damaged Parquet": (b"PAR1" + b"\xff" * 40 + b"PAR1", 2, "Parquet"),
    "damaged Arrow": (b"ARROW1\0\0" + b"\xff" * 40, 2, "Arrow"),
    "other events": (HEADER + b"opne,c1,k1\n", 2, "the events of the trace are `opne`"),
    "escape sequences": (b"\x1b[31mname\n", 2, "no column `event`"),
}


@pytest.mark.parametrize("kind", TRACES)
def test_traces(mopsus, tmp_path, kind):
    content, expected, words = TRACES[kind]
    (tmp_path / "trace").write_bytes(content)
    status, out, err = mopsus("check", "c.mop", "trace")
    assert (status, words in out + err) == (expected, True), out + err
    assert "\x1b" not in out + err
    silent = kind in ("empty", "header only", "other events")  # what could not be read is not blamed on the spec, too
    assert ("not seen: StaleCursor" in out) == silent


SPECS = {
    "syntax": (b"S(x) { event a(x\n ere: a }", "this item is not complete"),
    "nothing": (b"", "there is no spec in"),
    "only a comment": (b"# later\n", "there is no spec in"),
    "not UTF-8": (b"\xff\xfe\0", "not UTF-8"),
    "unknown event": (SPEC.replace("back+", "bck+").encode(), "did you mean 'give_back'?"),
    "unknown logic": (SPEC.replace("ere", "era").encode(), "did you mean 'ere'?"),
    "unknown category": (SPEC.replace("fetch\n}", "fetch\n@mtach { pass }\n}").encode(), "did you mean 'match'?"),
    "bad Python": (SPEC.replace("fetch\n}", "fetch\n@match { if }\n}").encode(), "error[SPEC-"),
    "escape sequences": (b"\x1b[31mS(x) { }", "unexpected"),
}


@pytest.mark.parametrize("kind", SPECS)
def test_specs(mopsus, tmp_path, kind):
    content, words = SPECS[kind]
    (tmp_path / "s.mop").write_bytes(content)
    status, out, err = mopsus("check", "s.mop", "p.csv")
    assert (status, out) == (2, "")
    assert words in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "Usage"),
        ("chek c.mop p.csv", "did you mean 'check'?"),
        ("check", "Usage"),
        ("check --frobnicate c.mop p.csv", "No such option"),
        ("check c.mop", "no trace given"),
        ("check p.csv", "no spec given"),
        ("check c.mop missing.csv", "no such file"),
        ("check c.mop missing/p.csv", "there is no folder `missing`"),
        ("check missing.mop p.csv", "cannot read missing.mop"),
        ("check c.mop folder", "the folder has no trace in it"),
        ("check c.mop x*.csv", "no file matches"),
        ("check c.mop [.csv", "no file matches"),
        ("check c.mop - -", "only once"),
        ("check c.mop c.mop p.csv", "two specs named StaleCursor"),
        ("check --spec folder p.csv", "Is a directory"),
        ("check c.mop p.csv --format xml", "is not one of"),
        ("check c.mop p.csv --format parquet", "not readable as Parquet"),
        ("check c.mop p.csv --format arrow", "not readable as Arrow"),
        ("check c.mop p.csv --format jsonl", "not a JSON object"),
        ("check c.mop p.csv --history -1", "not in the range"),
        ("check c.mop p.csv --history x", "is not a valid int"),
        ("check c.mop p.csv --max-violations 0", "not in the range"),
        ("check c.mop p.csv --bad-rows maybe", "is not one of"),
        ("check c.mop p.csv --junit missing/x.xml", "cannot write the report"),
        ("check c.mop p.csv --sarif folder", "cannot write the report"),
        ("check c.mop p.csv --html /dev/full", "cannot write the report"),
        ("watch c.mop", "one log"),
        ("watch c.mop -", "one log"),
        ("watch c.mop folder", "Is a directory"),
        ("fmt", "Usage"),
        ("fmt missing.mop", "missing.mop"),
        ("fmt p.csv", "error[SPEC-"),
        ("graph", "Usage"),
        ("graph missing.mop", "missing.mop"),
        ("graph c.mop --spec X", "unknown spec 'X'"),
        ("graph c.mop --property X", "unknown property 'X'"),
        ("graph c.mop -o x.pdf", "does not say its form"),
        ("graph c.mop -o missing/x.dot", "cannot write"),
        ("demo p.csv", "p.csv"),
    ],
)
def test_usage(mopsus, arguments, words):
    status, out, err = mopsus(*arguments.split())
    assert status == 2
    assert words in " ".join((out + err).split())


def test_a_trace_without_a_name_is_not_the_current_folder(mopsus):
    status, _, err = mopsus("check", "c.mop", "")
    assert status == 2
    assert "without a name" in err


@pytest.mark.usefixtures("mopsus")
def test_a_run_that_cannot_begin_leaves_no_report(tmp_path):
    words = ["check", "c.mop", "missing.csv", "--json", "--html", "x.html"]
    done = subprocess.run([sys.executable, "-m", "mopsus", *words], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.mop", "folder", "p.csv"]


def test_a_report_that_fails_does_not_keep_the_others(mopsus, tmp_path):
    status, _, _ = mopsus("check", "c.mop", "p.csv", "--junit", "/dev/full", "--html", "x.html")
    assert status == 2
    assert (tmp_path / "x.html").exists()


@pytest.mark.parametrize("arguments", ["check c.mop p.csv", "check c.mop p.csv --json", "graph c.mop", "fmt c.mop"])
@pytest.mark.parametrize(("output", "expected"), [("full", 2), ("pipe", 141), ("closed", None)])
@pytest.mark.usefixtures("mopsus")
def test_output_that_takes_nothing(arguments, output, expected):
    command = [sys.executable, "-m", "mopsus", *arguments.split()]
    if output == "closed":
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False)
    elif output == "pipe":
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
    else:
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == (arguments.startswith("check") if expected is None else expected)
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr
    assert (b"No space left" in done.stderr) == (output == "full")
    assert output == "full" or done.stderr == b""
