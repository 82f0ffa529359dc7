"""Python programs debugged by an editor: real processes, over the whole way."""

from __future__ import annotations

import os
import select
import time

import pytest
from interactive.dap.client import PATIENCE_S, Client, Refused
from interactive.dap.python_programs import QUEUE, begun, go, line, value, watched


def test_a_module_runs_with_arguments_folder_and_environment(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    text = "import os, sys\nprint(os.getcwd(), os.environ['WORD'], sys.argv[1:])\nsys.exit('!')\n"
    (package / "__main__.py").write_text(text)
    with Client() as client:
        wanted = {package / "__main__.py": [{"line": 2}]}
        client.launch(wanted, module="package", cwd=str(tmp_path), env={"WORD": "yes"}, args=["1"], stopOnEntry=True)
        assert line(client, "entry") == 1
        go(client)
        assert line(client, "breakpoint") == 2
        go(client)
        assert client.finish() == 1
        assert (client.output("stdout"), client.output("stderr")) == (f"{tmp_path} yes ['1']\n", "!\n")


def test_a_violation_stops_the_program_with_its_witness(tmp_path):
    with Client() as client:
        begun(client, tmp_path, QUEUE, 20, **watched(tmp_path))
        client.stopped("breakpoint")
        client.request("evaluate", expression="verde get-current", context="repl")
        assert "watched: init" in client.output("console")
        with pytest.raises(Refused, match="no command"):
            client.request("evaluate", expression="verde nonsense", context="repl")
        found = client.request("completions", text="verde checkpoint-r", column=19)["targets"]
        assert [each["label"] for each in found] == ["checkpoint-restart"]
        go(client)
        stop = client.stopped("exception")
        assert "watched: full" in stop["description"]
        assert stop["frame"]["name"] == "Queue.push"
        info = client.request("exceptionInfo", threadId=stop["threadId"])
        assert info["exceptionId"] == "watched: full"
        assert info["details"]["stackTrace"].count("push(q=Queue#1)") == 2  # equal ones are one line
        monitors = client.variables(client.scope(stop["frame"], "Monitors"))
        slices = client.variables(monitors["#1"]["variablesReference"])
        assert any("full" in each["value"] for each in slices.values())
        assert client.request("mopsus/monitors")["monitors"][0]["slices"][1]["environment"]["n"] == "2"
        go(client)
        assert client.finish() == 3
        assert "1 violation" in client.output("console")


def test_a_scenario_stops_the_program_and_prints(tmp_path):
    scenario = tmp_path / "look.scn"
    scenario.write_text("on entering state full { print('full of', get('item')); suspend_execution() }\n")
    with Client() as client:
        begun(client, tmp_path, QUEUE, **watched(tmp_path, scenario=str(scenario)))
        assert client.stopped()["frame"]["name"] == "Queue.push"
        assert "full of d" in client.output("console")
        go(client)
        assert client.finish() == 3


VALUES = """\
import math

def f(a, *rest, **more):
    b = [a, {'k': rest}]
    return b, more

def forever():
    while True:
        pass

print(f(1, 2, z=3))
"""


def test_values_are_seen_set_completed_and_refused(tmp_path):
    with Client() as client:
        begun(client, tmp_path, VALUES, 5)
        frame = client.stopped("breakpoint")["frame"]
        assert client.variables(client.scope(frame, "Arguments")).keys() == {"a", "rest", "more"}
        local = client.variables(client.scope(frame, "Locals"))["b"]["variablesReference"]
        assert client.variables(local, filter="indexed", start=1, count=1)["1"]["evaluateName"] == "b[1]"
        client.request("setVariable", variablesReference=local, name="0", value="a + 41")
        reference = client.scope(frame, "Arguments")
        client.request("setVariable", variablesReference=reference, name="more", value="{'w': math.floor(2.5)}")
        assert value(client, "b", frame, context="hover").startswith("[42")
        found = client.request("completions", text="x = math.flo", column=13, frameId=frame["id"])["targets"]
        assert [each["label"] for each in found] == ["math.floor("]
        for text, context, error in (("1 / 0", "watch", "ZeroDivisionError"), ("b[", "repl", "SyntaxError")):
            with pytest.raises(Refused, match=error):
                value(client, text, frame, context=context)
        for command, arguments in (
            ("stackTrace", {"threadId": 77}),
            ("scopes", {"frameId": 999}),
            ("variables", {"variablesReference": 999}),
            ("mopsus/restore", {"number": 5}),
            ("evaluate", {"expression": 7}),
            ("setVariable", {"variablesReference": local, "name": "9", "value": "1"}),
            ("nonsense", {}),
        ):
            with pytest.raises(Refused):
                client.request(command, **arguments)
        for text in ("forever()", "import time; print('sleeps'); time.sleep(1e6)"):
            number = client.send("evaluate", expression=text, context="repl", frameId=frame["id"])
            if "sleeps" in text:
                client.until("output", lambda body: body["output"].endswith("\n"))
                time.sleep(0.2)  # a signal that came just before would be heeded when it wakes
            client.request("cancel", requestId=number)
            assert "interrupted" in client.answer(number)["message"]
        go(client)
        assert client.finish() == 0
        assert client.output("stdout") == "sleeps\n([42, {'k': (2,)}], {'w': 2})\n"


def test_a_program_that_was_brought_back_can_be_paused(tmp_path):
    with Client() as client:
        client.abilities = {}
        begun(client, tmp_path, "x = 0\nwhile True:\n    x += 1\n", {"line": 3, "hitCondition": "== 2"})
        client.stopped("breakpoint")
        client.request("mopsus/checkpoint")
        for _ in range(2):
            go(client)
            client.request("pause", threadId=1)
            client.stopped("pause")
            client.request("mopsus/restore", number=0)
            assert value(client, "x", client.stopped("goto")["frame"]) == "1"
        assert all(each["event"] != "invalidated" for each in client.events)  # nobody has said that it is known


MADE = """\
import linecache
text = 'def g():\\n    return 1\\n'
linecache.cache['<made>'] = (0, None, text.splitlines(True), '<made>')
exec(compile(text, '<made>', 'exec'))
breakpoint()
print(g())
"""


def test_a_program_stops_itself_and_in_text_that_is_no_file(tmp_path):
    with Client() as client:
        begun(client, tmp_path, MADE)
        assert line(client, "breakpoint") == 5
        go(client, "next")
        assert line(client, "step") == 6
        go(client, "stepIn")
        frame = client.stopped("step")["frame"]
        assert (frame["name"], frame["line"]) == ("g", 2)
        number = frame["source"]["sourceReference"]
        assert client.request("source", sourceReference=number)["content"] == "def g():\n    return 1\n"
        go(client)
        assert client.finish() == 0


def test_a_program_is_started_again_with_its_breakpoints(tmp_path):
    with Client() as client:
        begun(client, tmp_path, QUEUE, 21)
        assert line(client, "breakpoint") == 21
        client.request("restart")
        assert line(client, "breakpoint") == 21
        go(client)
        assert client.finish() == 3


def process_of(client: Client, running: bool) -> int:
    """The process of a program that prints its number, or stands at a breakpoint; there it is saved, too."""
    if running:
        client.until("output", lambda body: body["category"] == "stdout")
        return int(client.output("stdout"))
    frame = client.stopped("breakpoint")["frame"]
    client.request("mopsus/checkpoint")
    return int(value(client, "os.getpid()", frame))


ALONE = """\
import os, signal, sys
def f():
    return open(sys.argv[1]).readline().strip()
print(os.getpid(), flush=signal.alarm(300) == 0)
word = f()
print("unheard" * 100000, flush=True)
with open(sys.argv[2], "w") as file:
    file.write(word + str(sys.gettrace()))
"""


@pytest.mark.parametrize("running", [True, False])
def test_a_program_that_is_let_go_runs_on(tmp_path, running):
    begin, end = tmp_path / "begin", tmp_path / "end"
    os.mkfifo(begin)
    with Client() as client:
        begun(client, tmp_path, ALONE, 8, *(() if running else (3,)), args=[str(begin), str(end)])
        program = os.pidfd_open(process_of(client, running))
        asked = [client.send("mopsus/monitors") for _ in range(20)]  # it is not idle when the last word comes
        client.request("disconnect", terminateDebuggee=False)
        assert all(client.answer(each)["success"] for each in asked)
        client.vanish()
    held = os.open(begin, os.O_RDWR)  # which does not wait for a reader
    os.write(held, b"alone\n")
    assert select.select([program], [], [], PATIENCE_S)[0]
    os.close(held)
    os.close(program)
    assert end.read_text() == "aloneNone"


@pytest.mark.parametrize("running", [True, False])
def test_an_editor_that_vanishes_leaves_nothing_behind(tmp_path, running):
    text = "import os, time\nprint(os.getpid(), flush=True)\nwhile True:\n    time.sleep(0.01)\n"
    with Client() as client:
        begun(client, tmp_path, text, *(() if running else (4,)))
        process = process_of(client, running)
        client.vanish()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


FORKING = """\
import os
def f():
    return 7
child = os.fork()
if child == 0:
    os._exit(f())
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status + f())
"""


def test_a_process_that_the_program_forks_is_left_alone(tmp_path):
    with Client() as client:
        begun(client, tmp_path, FORKING, 3)
        assert line(client, "breakpoint") == 3
        go(client)
        assert client.finish() == 0
        assert client.output("stdout") == "14\n"


def test_a_running_python_process_cannot_be_attached_to(tmp_path):
    with Client() as client:
        client.request("initialize", adapterID="mopsus")
        with pytest.raises(Refused, match="cannot be debugged"):
            client.request("attach", pid=os.getpid(), debugger="python")
