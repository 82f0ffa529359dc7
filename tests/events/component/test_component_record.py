"""Logs of runs: what is written, by whom, and what stands for values that have no form."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum

import pytest
from events.component.component_support import record
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.events.component.log.jsonl import parse_line as parse_json
from mopsus.events.component.log.messages import UnwritableError
from mopsus.events.component.log.text import format_line, parse_line
from mopsus.events.component.marks import Marks
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.events.component.record import Recorder
from mopsus.model.term import Atom, Pid, Reference

pytestmark = pytest.mark.interpreter

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Frozen:
    x: object


@dataclass
class Open:
    x: object


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Point(1, Frozen("a")), (1, ("a",))),
        (Colour.RED, Atom("red")),
        ({"k": [Point(1, 2)]}, {"k": [(1, 2)]}),
        (bytearray(b"x"), b"x"),
        (float("nan"), Atom("nan")),
        (type("Text", (str,), {})("t"), "t"),
        (Function("m", "f", (Colour.RED,), {"k": Frozen(1)}), Function("m", "f", (Atom("red"),), {"k": (1,)})),
    ],
)
def test_what_properties_see_is_written(value, written):
    assert Marks().writable(value) == written


def test_other_objects_have_marks():
    marks = Marks()
    one, other = Open(1), Open(1)
    first = marks.writable((one, one, other))
    assert all(isinstance(mark, Reference) for mark in first)
    assert first[0] == first[1] != first[2]
    assert marks.writable(one) == first[0]
    assert marks.writable(2**20000) != marks.writable(2**20000)  # nobody says when a number is gone


def test_what_is_nested_too_deeply_is_cut():
    deep: list = []
    deep.append(deep)
    assert "too_deep" in str(Marks().writable(deep))


class Odd:
    pass


values = st.recursive(
    st.one_of(st.integers(), st.floats(), st.text(), st.binary(), st.none(), st.booleans(), st.builds(Odd)),
    lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.text(), inner)),
    max_leaves=8,
)


@settings(deadline=None)
@given(values)
def test_every_value_can_be_written_and_read_again(value):
    written = Marks().writable(value)
    event = Occurrence(Kind.SEND, Pid("<0.1.0>"), Pid("<0.2.0>"), written)
    parsed = parse_line(format_line(event))
    assert parsed is not None
    assert parsed[0] == event


def test_a_recorder_counts_what_has_no_form(tmp_path):
    log = tmp_path / "run.log"
    recorder = Recorder(str(log))
    recorder.emit(Kind.SEND, Pid("<0.1.0>"), Pid("<0.2.0>"), Open(1))
    recorder.emit(Kind.SEND, Pid("<0.1.0>"), Pid("<0.2.0>"), (1, 2))
    assert (recorder.events, recorder.opaque) == (2, 1)
    with pytest.raises(UnwritableError):
        format_line(Occurrence(Kind.SEND, Pid("<0.1.0>"), Pid("<0.2.0>"), Open(1)))
    first, second = log.read_text().splitlines()
    assert first.startswith("send(<0.1.0>,<0.2.0>,#Ref<")
    assert second == "send(<0.1.0>,<0.2.0>,{1,2})"


@pytest.mark.parametrize("form", ["hml", "jsonl"])
def test_names_that_are_not_utf_8_have_a_form(tmp_path, form):
    """A fault in watching, with a traceback on the program's own stream; as JSON, a log that nobody could read."""
    log = tmp_path / "run.log"
    recorder = Recorder(str(log), form)
    for data in ("b\udcff", {"b\udcff": [Atom("\udcff")]}, Function("b\udcff", "f", ("\udcff",))):
        kind = Kind.INIT if isinstance(data, Function) else Kind.SEND
        recorder.emit(kind, Pid("<0.1.0>"), Pid("<0.2.0>"), data)
    parse = parse_line if form == "hml" else parse_json
    first, second, third = (parse(line) for line in log.read_text("utf-8").splitlines())
    assert first[0].data == r"b\udcff"
    assert second[0].data == {r"b\udcff": [Atom(r"\udcff")]}
    assert third[0].data == Function(r"b\udcff", "f", (r"\udcff",))


PROGRAM = """
import queue, socket, sys
box = queue.Queue()
box.put({"a": [1, "x"]}); box.get()
box.put(open(__file__))
sys.exit(3)
"""


def test_json_lines_say_where_and_when(tmp_path):
    script = tmp_path / "prog.py"
    script.write_text(PROGRAM)
    lines = [json.loads(line) for line in record(script, "arg", form="jsonl", status=3)]
    assert [line["event"] for line in lines] == ["init", "send", "recv", "send", "exit"]
    assert lines[1]["location"] == f"{script}:4"
    times = [line["time"] for line in lines]
    assert times == sorted(times)


def test_a_program_that_is_not_there(tmp_path):
    command = [sys.executable, "-m", "mopsus", "component", "record", "-o", str(tmp_path / "log"), "--", "none.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no program none.py" in done.stderr


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGTERM)"])
def test_a_program_that_ends_at_once_leaves_nothing_but_its_log(tmp_path, end):
    """The folder to which processes that it starts would write their verdicts once stayed."""
    script, temporary = tmp_path / "prog.py", tmp_path / "temporary"
    script.write_text(f"import os, queue, signal\nqueue.Queue().put(1)\n{end}\n")
    temporary.mkdir()
    command = [sys.executable, "-m", "mopsus", "component", "record", "-o", str(tmp_path / "log"), "--", str(script)]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(temporary)}, check=False)
    assert done.returncode == (3 if "_exit" in end else -signal.SIGTERM)
    assert "send(" in (tmp_path / "log").read_text()
    assert not list(temporary.iterdir())


def test_a_log_that_cannot_be_written(tmp_path):
    command = [sys.executable, "-m", "mopsus", "component", "record", "-o", str(tmp_path / "no" / "log"), "--", "x.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot write" in done.stderr


def test_a_socket_in_a_message_has_its_address_and_not_a_mark():
    from mopsus.events.component.address import told
    from mopsus.events.component.hooks import install

    undo = install(lambda *event: None)
    try:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            assert isinstance(told((one,))[0], Pid)
    finally:
        undo()
