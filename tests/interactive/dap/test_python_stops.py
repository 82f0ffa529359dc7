"""Where a Python program stops for an editor, on every interpreter: each tells in its own way what a program does."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from interactive.dap.client import Client, Message, Refused
from interactive.dap.python_programs import QUEUE, begun, go, line, value, watched, write

pytestmark = pytest.mark.interpreter


def test_breakpoints_have_conditions_counts_and_messages(tmp_path):
    text = "for i in range(10):\n    x = i * i\n    y = x\n\n\nprint(x)\nprint(y)\n"
    wanted = (
        {"line": 2, "condition": "any(i == each for each in (3, 7))"},
        {"line": 3, "hitCondition": "% 4", "logMessage": "x is {x}, {{i}} is {i}, {nothing}"},
        {"line": 4},
        {"line": 7, "condition": "missing > 1"},
        {"line": 9},
        {"line": 2, "hitCondition": "often"},
        {"line": 2, "condition": "1 +"},
    )
    with Client() as client:
        placed = begun(client, tmp_path, text, *wanted)
        assert [each.get("line") for each in placed] == [2, 3, 6, 7, None, None, None]
        assert all(each["verified"] == ("message" not in each) == ("line" in each) for each in placed)
        for number in (3, 7):
            stop = client.stopped("breakpoint")
            assert stop["hitBreakpointIds"] == [placed[0]["id"]]
            assert value(client, "i", stop["frame"]) == str(number)
            go(client)
        assert line(client, "breakpoint") == 6
        go(client)
        assert line(client, "breakpoint") == 7  # a condition that has no value holds
        go(client)
        assert client.finish() == 0
        said = [each for each in client.output("console").splitlines() if "NameError" in each]
        assert [each.partition(", {n")[0] for each in said[:2]] == ["x is 9, {i} is 3", "x is 49, {i} is 7"]
        assert "missing > 1" in said[2]


def test_functions_have_breakpoints_by_name_and_files_by_any_name(tmp_path):
    text = "def f(n):\n    while n:\n        n -= 1\n    return n\nclass C:\n    def m(self): return 1\nf(3)\nC().m()\n"
    real = tmp_path / "real"
    real.mkdir()
    write(real, text)
    (tmp_path / "link").symlink_to(real)
    with Client() as client:
        client.request("initialize", adapterID="mopsus")
        number = client.send("launch", program=str(tmp_path / "link" / "program.py"))
        client.until("initialized")
        wanted = [{"name": "f"}, {"name": "C.m"}, {"name": "missing"}]
        placed = client.request("setFunctionBreakpoints", breakpoints=wanted)["breakpoints"]
        assert [each["verified"] for each in placed] == [True, True, False]
        path = str(real / "program.py")
        client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 7}])
        client.request("configurationDone")
        assert client.answer(number)["success"]
        for expected in (7, 2, 6):  # a function once, though a loop comes back to where it begins
            assert line(client) == expected
            go(client)
        assert client.finish() == 0


RAISING = """\
import threading

def parse(text):
    try:
        return int(text)
    except ValueError:
        return None

def ends():
    raise KeyError("thread")

parse("x")
thread = threading.Thread(target=ends)
thread.start()
thread.join()
{}["main"]
"""


def stopping(client: Client, *filters: Message) -> None:
    client.request("setExceptionBreakpoints", filters=[], filterOptions=list(filters))


def filtered(client: Client, folder: Path, text: str, *filters: Message) -> None:
    """Launch a program that is stopped at exceptions."""
    client.request("initialize", adapterID="mopsus")
    number = client.send("launch", program=str(write(folder, text)))
    client.until("initialized")
    stopping(client, *filters)
    client.request("configurationDone")
    assert client.answer(number)["success"]


def test_raised_exceptions_stop_where_they_are_raised(tmp_path):
    with Client() as client:
        filtered(client, tmp_path, RAISING, {"filterId": "raised", "condition": "OSError, ValueError"})
        assert line(client, "exception") == 5
        info = client.request("exceptionInfo", threadId=1)
        assert (info["exceptionId"], info["breakMode"]) == ("ValueError", "always")
        assert "line 5, in parse\n    return int(text)" in info["details"]["stackTrace"]
        stopping(client, {"filterId": "raised"})
        go(client)
        stop = client.stopped("exception")
        assert (stop["frame"]["line"], stop["threadId"] != 1) == (10, True)
        stopping(client)
        go(client)
        assert client.finish() == 1


def test_uncaught_exceptions_stop_before_they_end_a_thread_or_the_program(tmp_path):
    with Client() as client:
        filtered(client, tmp_path, RAISING, {"filterId": "uncaught"})
        stop = client.stopped("exception")
        assert (stop["frame"]["line"], stop["threadId"] != 1) == (10, True)
        go(client, "next", stop["threadId"])
        stop = client.stopped("exception")
        assert (stop["frame"]["line"], stop["threadId"]) == (16, 1)
        assert client.request("exceptionInfo", threadId=1)["breakMode"] == "unhandled"
        assert value(client, "parse('7')", stop["frame"]) == "7"
        go(client)
        assert client.finish() == 1
        assert client.output("stderr").count("Traceback") == 2


LOOP = """\
import os, threading
go = True

def work(n):
    total = 0
    for i in range(n):
        total += i
    return total

def idle(event):
    ready.set()
    event.wait()

ready, event = threading.Event(), threading.Event()
threading.Thread(target=idle, args=(event,), name="idler").start()
ready.wait()
rounds = 0
print("ready")
while go:
    work(100)
    rounds += 1
event.set()
print("rounds", rounds > 0)
"""


def test_a_program_that_runs_can_be_paused_and_given_breakpoints(tmp_path):
    with Client() as client:
        begun(client, tmp_path, LOOP)
        client.until("output", lambda body: body["category"] == "stdout")
        with pytest.raises(Refused):
            client.request("evaluate", expression="rounds")
        client.request("pause", threadId=1)
        stop = client.stopped("pause")
        names = {each["name"]: each["id"] for each in client.request("threads")["threads"]}
        assert names.keys() == {"MainThread", "idler"}
        assert "idle" in [each["name"] for each in client.frames(names["idler"])]
        bottom = client.frames(stop["threadId"])[-1]
        assert bottom["name"] == "<module>"
        process = int(value(client, "os.getpid()", bottom))
        go(client)
        os.kill(process, signal.SIGINT)
        client.stopped("pause")
        go(client)
        path = str(tmp_path / "program.py")
        placed = client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 8}])["breakpoints"]
        assert placed[0]["verified"]
        stop = client.stopped("breakpoint")
        client.request("setBreakpoints", source={"path": path}, breakpoints=[])
        client.request("setExpression", expression="total", value="[1, 2]", frameId=stop["frame"]["id"])
        go(client, "stepOut")
        stop = client.stopped("step")
        assert stop["frame"]["line"] == 20
        assert client.variables(client.scope(stop["frame"], "Returned"))["work"]["value"] == "[1, 2]"
        value(client, "go = False", stop["frame"], context="repl")
        go(client)
        assert client.finish() == 0
        assert client.output("stdout") == "ready\nrounds True\n"


def test_the_program_goes_back_to_a_checkpoint_as_often_as_one_likes(tmp_path):
    def back(typed: bool = False) -> None:
        if typed:
            client.request("evaluate", expression="verde checkpoint-restart 0", context="repl")
        else:
            client.request("mopsus/restore", number=0)
        client.until("invalidated")
        assert line(client, "goto") == 20

    with Client() as client:
        begun(client, tmp_path, QUEUE, 20, {"line": 21, "hitCondition": ">= 1"}, **watched(tmp_path))
        assert line(client, "breakpoint") == 20
        assert client.request("mopsus/checkpoint")["number"] == 0
        go(client)
        assert line(client, "breakpoint") == 21
        back()
        # A breakpoint that came after the checkpoint is there after it, and so is the new process.
        path = str(tmp_path / "program.py")
        client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": 22}])
        go(client)
        assert line(client, "breakpoint") == 22
        back(typed=True)
        go(client, "stepIn")
        assert line(client, "step") == 14
        client.request("setBreakpoints", source={"path": path}, breakpoints=[])
        go(client)
        assert "full" in client.stopped("exception")["description"]
        back()
        value(client, "Queue.pop = lambda self: 'other'", client.frames(1)[0], context="repl")
        go(client)
        assert client.stopped("exception")
        go(client)
        assert client.finish() == 3
        assert client.output("stdout").splitlines()[-2] == "popped other 2"
