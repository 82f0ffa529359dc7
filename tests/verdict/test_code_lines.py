"""The line of code behind an event of a program, and never one that a trace asks for."""

import linecache

import pytest

from mopsus.model import Verdict, WitnessEvent
from mopsus.model.text import file_line, short_path, show_place
from mopsus.verdict import code_of, explain, plain_text


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "jobs.py"
    path.write_text("import queue\n\n    q.put(1)  # \x1b[31m\n" + "x" * 500 + "\n", "utf-8")
    linecache.checkcache()
    return path


def event(location, row=None):
    return WitnessEvent("put", {"q": 1}, location, None, row)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("app.py:3", ("app.py", 3, None)),
        ("app.py:3:9", ("app.py", 3, 9)),
        ("C:/app.py:3", ("C:/app.py", 3, None)),
        ("app.py:0", None),
        ("app.py", None),
        ("app.py:" + "9" * 30, None),
        ("checkout page", None),
    ],
)
def test_file_and_line_of_a_location(location, expected):
    assert file_line(location) == expected


def test_the_line_is_stripped_and_harmless(program):
    assert code_of(event(f"{program}:1")) == "import queue"
    assert code_of(event(f"{program}:3")) == "q.put(1)  # \\x1b[31m"


def test_a_long_line_is_cut(program):
    code = code_of(event(f"{program}:4"))
    assert code.startswith("xxx")
    assert len(code) < 150


@pytest.mark.parametrize("location", [None, "nowhere.py:1", "<string>:1", "{}", "{}:99", "{}:2"])
def test_no_line_no_code(program, location):
    assert code_of(event(location and location.format(program))) == ""


def test_a_row_of_a_trace_never_makes_a_report_read_a_file(program):
    assert code_of(event(f"{program}:1", row=7)) == ""


def test_a_source_that_is_no_text_is_passed_over(tmp_path):
    path = tmp_path / "odd.py"
    path.write_bytes(b"# -*- coding: utf-8 -*-\n\xff\xfe\n")
    assert code_of(event(f"{path}:2")) == ""


def verdict(program, witness):
    return Verdict("Q", "safe", "match", None, True, {"q": 1}, f"{program}:3", None, witness)


def test_every_step_has_its_line(program):
    told = explain(verdict(program, (event(f"{program}:1"), event(f"{program}:3"))))
    assert [step.code for step in told.steps] == ["import queue", "q.put(1)  # \\x1b[31m"]
    assert told.code == ""
    assert "        | import queue\n" in plain_text(told)


def test_without_a_witness_the_verdict_has_the_line(program):
    told = explain(verdict(program, ()))
    assert told.code == "q.put(1)  # \\x1b[31m"
    assert plain_text(told).endswith("    | q.put(1)  # \\x1b[31m")


def test_places_below_the_current_folder_are_short(program, monkeypatch):
    monkeypatch.chdir(program.parent)
    assert show_place(event(f"{program}:3")) == "jobs.py:3"
    assert show_place(event(f"{program}:3", row=3)) == f"{program} row 3"
    assert short_path("/elsewhere/jobs.py:3") == "/elsewhere/jobs.py:3"
    assert short_path("jobs.py:3") == "jobs.py:3"


def test_a_current_folder_that_is_gone_shortens_nothing(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert short_path("/x/jobs.py:3") == "/x/jobs.py:3"
