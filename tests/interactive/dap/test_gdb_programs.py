"""Compiled programs from their beginning to their end, debugged by a scripted editor."""

import os
import select
import signal
import subprocess
import textwrap

import pytest
from interactive.dap.client import PATIENCE_S, Client, Refused
from interactive.dap.compiled_programs import LOOP, gate_at, source
from interactive.gdb.programs import build


def test_a_program_runs_from_its_beginning_to_its_end(queue):
    with Client() as editor:
        editor.launch(program=str(queue), args=["tea & milk"])
        assert editor.finish() == 3
        assert editor.output("stdout") == "1 of tea & milk\n25 1 7 tea 3\n"
        assert editor.output("stderr") == ""
        assert "the program ended with status 3" in editor.output("console")


def test_folder_and_environment_are_the_programs(tmp_path):
    program = build(
        """
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
            char here[4096];
            puts(getcwd(here, sizeof here));
            printf("%s %s\\n", getenv("TEA"), getenv("HOME") ? "home" : "nowhere");
            fputs("oops\\n", stderr);
            return isatty(1);
        }
        """
    )
    with Client() as editor:
        editor.launch(program=str(program), cwd=str(tmp_path), env={"TEA": "green", "HOME": None})
        assert editor.finish() == 1
        assert editor.output("stdout") == f"{tmp_path}\ngreen nowhere\n"
        assert editor.output("stderr") == "oops\n"


def test_a_verdict_stops_the_program_like_an_exception(queue, small):
    with Client() as editor:
        editor.launch(program=str(queue), properties=[{"file": small, "quiet": True}])
        stop = editor.stopped("exception")
        assert stop["description"].startswith("small: bad for queue=1")
        assert stop["text"] == "small: bad"
        assert (stop["frame"]["name"], stop["frame"]["line"]) == ("push", 5)
        told = editor.request("exceptionInfo", threadId=stop["threadId"])
        assert (told["exceptionId"], told["breakMode"]) == ("small: bad", "always")
        assert told["details"]["stackTrace"].count("push(queue=1") == 4
        assert editor.output("stdout") == "0 of none\n"

        monitors = editor.variables(editor.scope(stop["frame"], "Monitors"))
        assert monitors["#1"]["value"] == "small: init, bad"
        slices = editor.variables(monitors["#1"]["variablesReference"])
        assert [each["value"] for each in slices.values()] == ["init", "bad (non-accepting)"]
        assert editor.variables(slices["queue=1"]["variablesReference"])["pushed"]["value"] == "3"
        number = slices["queue=1"]["variablesReference"]
        with pytest.raises(Refused, match="cannot be set"):
            editor.request("setVariable", variablesReference=number, name="pushed", value="1")

        editor.request("continue", threadId=stop["threadId"])
        assert editor.finish() == 3
        assert "1 violation in" in editor.output("console")


def test_a_scenario_stops_the_program_and_says_things(queue, small, tmp_path):
    scenario = tmp_path / "look.scenario"
    scenario.write_text('on entering state bad { print("oh dear"); suspend_execution() }\n')
    with Client() as editor:
        editor.launch(program=str(queue), properties=[small], scenario=str(scenario))
        stop = editor.stopped()
        assert editor.output("console").count("oh dear") == 1
        assert "Event: push{'queue': 1, 'value': 3}" in editor.output("console")
        assert stop["frame"]["name"] == "push"
        editor.request("continue", threadId=stop["threadId"])
        assert editor.finish() == 3


def test_restart_has_the_same_breakpoints(queue):
    with Client() as editor:
        placed = editor.begin("launch", {source(queue): [{"line": 6}]}, program=str(queue))
        stop = editor.stopped("breakpoint")
        assert stop["hitBreakpointIds"] == [placed[0]["id"]]
        editor.request("next", threadId=1)
        editor.stopped("step")
        editor.request("restart")
        stop = editor.stopped("breakpoint")
        assert stop["hitBreakpointIds"] == [placed[0]["id"]]
        frame = stop["frame"]["id"]
        assert editor.request("evaluate", expression="value", frameId=frame, context="watch")["result"] == "0"
        editor.request("setBreakpoints", source={"path": str(source(queue))}, breakpoints=[])
        editor.request("continue", threadId=1)
        assert editor.finish() == 3
        assert editor.output("stdout").count("0 of none") == 2


def test_terminate_ends_the_program():
    with Client() as editor:
        editor.launch(program=str(build(LOOP)))
        editor.until("output", lambda body: body["output"] == "ready\n")
        editor.request("terminate")
        editor.until("terminated")


@pytest.fixture
def running():
    """A process that runs already, and ends when it is told to."""
    program = build(
        textwrap.dedent(
            """
            #include <stdio.h>
            #include <unistd.h>
            #include <signal.h>
            #include <sys/prctl.h>
            volatile int go = 1;
            void once(int n) { usleep(1000); }
            int main(void) {
                prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                write(1, "ready\\n", 6);
                for (int i = 0; go; i++) once(i);
                return 9;
            }
            """
        )
    )
    with subprocess.Popen([program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_attach_and_let_go(running):
    with Client() as editor:
        editor.begin("attach", pid=running.pid)
        editor.request("pause", threadId=1)
        stop = editor.until("stopped")
        frame = editor.frames(stop["threadId"])[-1]
        while frame["name"] != "main":
            frame = next(each for each in editor.frames(stop["threadId"]) if each["name"] == "main")
        editor.request("disconnect")
        assert running.poll() is None
    assert "t (tracing stop)" not in status_of(running.pid)
    with Client() as editor:
        editor.begin("attach", pid=str(running.pid))
        editor.request("pause", threadId=1)
        editor.until("stopped")
        editor.request("evaluate", expression="set var go = 0", context="repl")
        editor.request("continue", threadId=1)
        assert editor.finish() == 9


def test_an_attached_process_can_be_ended(running):
    with Client() as editor:
        editor.begin("attach", pid=running.pid, stopOnEntry=True)
        editor.stopped("entry")
        editor.request("disconnect", terminateDebuggee=True)
    assert running.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_launched_program_can_be_let_go(tmp_path):
    program = build(
        """
        #include <stdio.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            char byte;
            alarm(300);
            printf("%d\\n", getpid());
            FILE *gate = fopen(argv[1], "r");
            fread(&byte, 1, 1, gate);
            if (puts("still here") < 0 || fflush(stdout)) return 1;
            FILE *done = fopen(argv[2], "w");
            fputs("fine", done);
            return fclose(done);
        }
        """
    )
    gate, done = tmp_path / "gate", tmp_path / "done"
    with gate_at(gate) as opened:
        with Client() as editor:
            editor.launch(program=str(program), args=[str(gate), str(done)])
            end = os.pidfd_open(int(editor.until("output", lambda body: body["category"] == "stdout")["output"]))
            editor.request("disconnect", terminateDebuggee=False)
        opened()
        wait_for(end)
    assert done.read_text() == "fine"


@pytest.mark.parametrize("stopped", [True, False])
def test_an_editor_that_vanishes_takes_the_program_with_it(stopped):
    program = build(LOOP)
    editor = Client()
    editor.launch(program=str(program), stopOnEntry=stopped)
    if stopped:
        editor.stopped("entry")
    else:
        editor.until("output", lambda body: body["output"] == "ready\n")
    children = descendants(editor.process.pid)
    assert len(children) >= 3  # a starter, GDB, the program
    editor.vanish()
    assert [each for each in children if os.path.exists(f"/proc/{each}") and "Z" not in status_of(each)] == []


def test_an_editor_that_is_killed_takes_all_with_it():
    editor = Client()
    editor.launch(program=str(build(LOOP)))
    editor.until("output", lambda body: body["output"] == "ready\n")
    children = descendants(editor.process.pid)
    ends = [os.pidfd_open(each) for each in children]
    editor.process.kill()
    for end in ends:
        wait_for(end)
    editor.vanish()


def wait_for(end):
    """Until the process that a descriptor stands for has ended."""
    ready, _, _ = select.select([end], [], [], PATIENCE_S)
    os.close(end)
    assert ready


def descendants(process):
    found = []
    for name in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{name}/children") as file:
            for child in map(int, file.read().split()):
                found += [child, *descendants(child)]
    return found


def status_of(process):
    try:
        with open(f"/proc/{process}/status") as file:
            return next(line for line in file if line.startswith("State"))
    except OSError:
        return "gone"
