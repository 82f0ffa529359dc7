"""Compiled programs, debugged by a scripted editor."""

import os
import select
import signal
import subprocess
import textwrap
from contextlib import contextmanager

import pytest
from interactive.dap.client import PATIENCE_S, Client, Refused
from interactive.gdb.programs import build

QUEUE = """\
#include <stdio.h>
struct point { int x, y; unsigned flag : 3, rest : 4; };
static int total = 5;
int push(int queue, int value) {
    int doubled = value * 2;
    total += doubled;
    return doubled;
}
int main(int argc, char **argv) {
    struct point place = {1, 2, 3};
    struct point *there = &place;
    int list[3] = {7, 8, 9};
    const char *name = "tea";
    printf("%d of %s\\n", argc - 1, argc > 1 ? argv[1] : "none");
    for (int i = 0; i < 5; i++)
        push(1, i);
    printf("%d %d %d %s %d\\n", total, place.x, list[0], name, there->flag);
    return 3;
}
"""
SMALL = """\
slice on queue
initialization { pushed = 0 }
state init {
    transition { event push(queue, value) { return value < 3 } success { pushed += 1 } init failure bad }
}
state bad non-accepting
"""
LOOP = """\
#include <unistd.h>
#include <signal.h>
volatile int go = 1, rounds = 0;
void once(void) { rounds++; usleep(1000); }
void many(void) { while (go) once(); }
int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    write(1, "ready\\n", 6);
    many();
    return rounds > 0 ? 7 : 8;
}
"""


@pytest.fixture
def queue():
    return build(QUEUE)


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "small.prop"
    file.write_text(SMALL)
    return str(file)


def source(program):
    return program.with_name("program.c")


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


def test_breakpoints_with_conditions_counts_and_messages(queue):
    lines = [
        {"line": 5, "condition": "value == 1"},
        {"line": 6, "hitCondition": "4"},
        {"line": 7, "hitCondition": "% 2", "logMessage": "{value} makes {doubled}, {nothing} {{so}}"},
        {"line": 17, "condition": "no such thing"},
        {"line": 17, "hitCondition": "often"},
    ]
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.send("launch", program=str(queue))
        editor.until("initialized")
        placed = editor.request("setBreakpoints", source={"path": str(source(queue))}, breakpoints=lines)["breakpoints"]
        assert [each["verified"] for each in placed] == [True, True, True, False, False]
        assert "No symbol" in placed[3]["message"]
        assert placed[4]["message"].startswith("`often` does not say which hits count")
        assert [each["line"] for each in placed[:3]] == [5, 6, 7]
        functions = editor.request(
            "setFunctionBreakpoints", breakpoints=[{"name": "push", "hitCondition": "== 5"}, {"name": "pusj"}]
        )["breakpoints"]
        assert [each["verified"] for each in functions] == [True, False]
        editor.request("configurationDone")

        stop = editor.stopped("breakpoint")
        assert (stop["frame"]["line"], stop["hitBreakpointIds"]) == (5, [placed[0]["id"]])
        editor.request("continue", threadId=1)
        stop = editor.stopped("breakpoint")
        value = editor.request("evaluate", expression="value", frameId=stop["frame"]["id"], context="hover")
        assert (stop["frame"]["line"], value["result"]) == (6, "3")
        editor.request("next", threadId=1)
        assert editor.stopped("step")["frame"]["line"] == 7  # where a message is said, too
        editor.request("continue", threadId=1)
        stop = editor.stopped("function breakpoint")
        assert stop["hitBreakpointIds"] == [functions[0]["id"]]
        editor.request("setBreakpoints", source={"path": str(source(queue))}, breakpoints=[])
        editor.request("setFunctionBreakpoints", breakpoints=[])
        editor.request("continue", threadId=1)
        assert editor.finish() == 3
        said = [line for line in editor.output("console").splitlines() if "makes" in line]
        assert [line.split(",")[0] for line in said] == ["1 makes 2", "3 makes 6"]
        assert all(line.endswith("{so}") and "nothing" in line for line in said)


def test_steps_and_frames(queue):
    with Client() as editor:
        editor.launch(program=str(queue), stopOnEntry=True)
        stop = editor.stopped("entry")
        assert (stop["frame"]["name"], stop["frame"]["line"]) == ("main", 10)
        thread = stop["threadId"]
        assert [each["id"] for each in editor.request("threads")["threads"]] == [thread]
        editor.request("evaluate", expression="tbreak 16", context="repl")
        editor.request("continue", threadId=thread)
        assert editor.stopped("breakpoint")["frame"]["line"] == 16
        editor.request("stepIn", threadId=thread)
        assert editor.stopped("step")["frame"]["name"] == "push"
        editor.request("next", threadId=thread)
        assert editor.stopped("step")["frame"]["line"] == 6
        frames = editor.frames(thread)
        assert [each["name"] for each in frames][:2] == ["push", "main"]
        assert editor.frames(thread, startFrame=1, levels=1)[0]["name"] == "main"
        assert editor.frames(thread, startFrame=9) == []
        assert editor.frames(thread)[0]["source"]["path"] == str(source(queue))
        editor.request("next", threadId=thread, granularity="instruction")
        assert editor.stopped("step")["frame"]["line"] == 6
        editor.request("stepOut", threadId=thread)
        assert editor.stopped("step")["frame"]["name"] == "main"
        returned = editor.variables(editor.scope(editor.frames(thread)[0], "Returned"))
        assert returned["push"]["value"] == "0"
        with pytest.raises(Refused, match="no frame"):
            editor.request("scopes", frameId=frames[0]["id"])
        editor.request("stepOut", threadId=thread)  # from the outermost: that cannot be
        assert editor.stopped()["frame"]["name"] == "main"
        editor.request("continue", threadId=thread)
        assert editor.finish() == 3


def test_variables_are_opened_in_parts_and_set(queue):
    with Client() as editor:
        editor.launch({source(queue): [{"line": 15}]}, program=str(queue))
        stop = editor.stopped("breakpoint")
        frame = stop["frame"]
        arguments = editor.variables(editor.scope(frame, "Arguments"))
        assert arguments["argc"]["value"] == "1"
        here = editor.scope(frame, "Locals")
        names = editor.variables(here)
        assert names["name"]["value"].endswith('"tea"')
        assert (names["name"]["variablesReference"], names["list"]["indexedVariables"]) == (0, 3)
        place = editor.variables(names["place"]["variablesReference"])
        assert {name: each["value"] for name, each in place.items()} == {"x": "1", "y": "2", "flag": "3", "rest": "0"}
        assert editor.variables(names["there"]["variablesReference"])["y"]["value"] == "2"
        part = editor.variables(names["list"]["variablesReference"], filter="indexed", start=1, count=1)
        assert {name: each["value"] for name, each in part.items()} == {"[1]": "8"}

        number = names["place"]["variablesReference"]
        assert editor.request("setVariable", variablesReference=number, name="x", value="place.y + 40")["value"] == "42"
        assert editor.request("setVariable", variablesReference=number, name="rest", value="9")["value"] == "9"
        assert editor.request("setVariable", variablesReference=number, name="flag", value="5")["value"] == "5"
        assert editor.variables(number)["rest"]["value"] == "9"  # which has the same byte
        number = names["list"]["variablesReference"]
        assert editor.request("setVariable", variablesReference=number, name="[0]", value="70")["value"] == "70"
        with pytest.raises(Refused, match="no element"):
            editor.request("setVariable", variablesReference=number, name="[3]", value="70")
        with pytest.raises(Refused, match="No symbol"):
            editor.request("setVariable", variablesReference=here, name="name", value="nothing")
        globals_ = editor.scope(frame, "Globals")
        assert editor.variables(globals_)["total"]["value"] == "5"
        done = editor.request("setExpression", expression="total", value="100", frameId=frame["id"])
        assert done["value"] == "100"
        registers = editor.variables(editor.scope(frame, "Registers"))
        assert registers["rip"]["value"].startswith("0x")
        path = editor.variables(names["there"]["variablesReference"])["x"]["evaluateName"]
        assert editor.request("evaluate", expression=path, frameId=frame["id"], context="watch")["result"] == "42"
        editor.request("continue", threadId=1)
        assert editor.finish() == 3
        assert editor.output("stdout").endswith("120 42 70 tea 5\n")


def test_the_repl_takes_commands_of_gdb_and_of_ours(queue, small):
    with Client() as editor:
        editor.launch({source(queue): [{"line": 6}]}, program=str(queue), properties=[{"file": small, "quiet": True}])
        frame = editor.stopped("breakpoint")["frame"]

        def type_in(text):
            return editor.request("evaluate", expression=text, context="repl", frameId=frame["id"])["result"]

        assert type_in("print value + 1") == "$1 = 1"
        assert type_in("value + 2") == "2"
        assert type_in("info breakpoints").startswith("Num")
        assert type_in("verde exec get_current_states") == ""
        assert "{'init'}" in editor.output("console")
        assert type_in("print (int) getpid() > 0") == "$2 = 1"  # not a stop, though something ran
        with pytest.raises(Refused, match="No symbol"):
            type_in("nothing")
        with pytest.raises(Refused, match="there is no command `verde dance`"):
            type_in("verde dance")
        found = editor.request("completions", text="verde check", column=12, frameId=frame["id"])["targets"]
        assert {"checkpoint", "checkpoints"} <= {each["label"] for each in found}
        found = editor.request("completions", text="print val", column=10, frameId=frame["id"])["targets"]
        assert {"label": "value", "start": 6, "length": 3} in found

        type_in("continue")  # the program moves, and the editor is told
        frame = editor.stopped("breakpoint")["frame"]
        assert type_in("value") == "1"
        assert [each["event"] for each in editor.events if each["event"] in ("continued", "stopped")] == [
            "stopped",
            "continued",
            "stopped",
        ]


def test_checkpoints(queue, small):
    with Client() as editor:
        editor.launch({source(queue): [{"line": 6}]}, program=str(queue), properties=[{"file": small, "quiet": True}])
        editor.stopped("breakpoint")
        saved = editor.request("mopsus/checkpoint")
        assert (saved["number"], len(saved["checkpoints"])) == (0, 1)
        editor.request("setBreakpoints", source={"path": str(source(queue))}, breakpoints=[])
        editor.request("continue", threadId=1)
        editor.stopped("exception")
        assert editor.request("mopsus/monitors")["monitors"][0]["slices"][1]["state"] == "bad"
        editor.request("mopsus/restore", number=0)
        stop = editor.stopped("goto")
        value = editor.request("evaluate", expression="value", frameId=stop["frame"]["id"], context="watch")
        assert value["result"] == "0"
        assert editor.request("mopsus/monitors")["monitors"][0]["slices"][1]["state"] == "init"
        assert any(each["event"] == "invalidated" for each in editor.events)
        with pytest.raises(Refused, match="there is no checkpoint 7"):
            editor.request("mopsus/restore", number=7)
        editor.request("continue", threadId=1)
        editor.stopped("exception")
        editor.request("evaluate", expression="verde checkpoint-restart 0", context="repl")
        editor.stopped("goto")
        editor.request("continue", threadId=1)
        editor.stopped("exception")
        editor.request("continue", threadId=1)
        assert editor.finish() == 3


def test_a_program_that_runs_is_held_for_what_the_editor_wants():
    program = build(LOOP)
    with Client() as editor:
        editor.launch(program=str(program))
        editor.until("output", lambda body: body["output"] == "ready\n")
        with pytest.raises(Refused, match="notStopped"):
            editor.request("stackTrace", threadId=1)
        assert editor.request("threads")["threads"] == []
        editor.request("pause", threadId=1)
        assert "many" in [each["name"] for each in editor.frames(editor.until("stopped")["threadId"])]
        editor.request("continue", threadId=1)
        placed = editor.request("setFunctionBreakpoints", breakpoints=[{"name": "once"}])["breakpoints"]
        assert editor.stopped("function breakpoint")["hitBreakpointIds"] == [placed[0]["id"]]
        editor.request("setFunctionBreakpoints", breakpoints=[])
        editor.request("stepOut", threadId=1)
        editor.stopped("step")
        editor.request("stepOut", threadId=1)  # which takes for ever, and is held up without being ended
        editor.request("setBreakpoints", source={"path": str(source(program))}, breakpoints=[])
        number = editor.send("pause", threadId=1)
        assert editor.answer(number)["success"]
        stop = editor.stopped("pause")
        editor.request("setExpression", expression="go", value="0")
        editor.request("continue", threadId=stop["threadId"])
        assert editor.finish() == 7


def test_a_step_that_is_held_up_ends_where_it_would_have_ended(tmp_path):
    program = build(
        """\
        #include <fcntl.h>
        #include <unistd.h>
        int inner(const char *name) { char byte; return read(open(name, O_RDONLY), &byte, 1); }
        int slow(const char *name) {
            write(1, "wait\\n", 5);
            return inner(name);
        }
        int main(int argc, char **argv) {
            int got = slow(argv[1]);
            return got + argc;
        }
        """
    )
    gate = tmp_path / "gate"
    with gate_at(gate) as opened, Client() as editor:
        editor.launch({source(program): [{"line": 9}]}, program=str(program), args=[str(gate)])
        stop = editor.stopped("breakpoint")
        editor.request("next", threadId=stop["threadId"])
        editor.until("output", lambda body: body["output"] == "wait\n")
        placed = editor.request("setBreakpoints", source={"path": str(source(program))}, breakpoints=[{"line": 4}])
        assert placed["breakpoints"][0]["verified"]
        opened()
        assert editor.stopped("step")["frame"]["line"] == 10
        editor.request("continue", threadId=stop["threadId"])
        assert editor.finish() == 3


def test_threads():
    program = build(
        """
        #include <pthread.h>
        #include <unistd.h>
        pthread_barrier_t both;
        void *work(void *given) { int mine = *(int *)given; pthread_barrier_wait(&both); pause(); return 0; }
        void ready(void) {}
        int main(void) {
            pthread_t thread;
            int number = 42;
            pthread_barrier_init(&both, 0, 2);
            pthread_create(&thread, 0, work, &number);
            pthread_barrier_wait(&both);
            ready();
            return 0;
        }
        """,
        "-g",
        "-pthread",
    )
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.send("launch", program=str(program))
        editor.until("initialized")
        editor.request("setFunctionBreakpoints", breakpoints=[{"name": "ready"}])
        editor.request("configurationDone")
        stop = editor.stopped("function breakpoint")
        threads = editor.request("threads")["threads"]
        assert len(threads) == 2
        other = next(each["id"] for each in threads if each["id"] != stop["threadId"])
        frame = next(each for each in editor.frames(other) if each["name"] == "work")
        assert editor.variables(editor.scope(frame, "Locals"))["mine"]["value"] == "42"
        library = editor.frames(other)[0]
        if library.get("presentationHint") == "subtle":  # whoever has the sources of the C library sees them
            number = library["source"]["sourceReference"]
            text = editor.request("source", sourceReference=number, source=library["source"])["content"]
            assert text.count("\n") >= library["line"] > 0
        with pytest.raises(Refused, match="no thread 99"):
            editor.frames(99)
        editor.request("continue", threadId=stop["threadId"])
        assert editor.finish() == 0


CPP = """\
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} int sides = 4; };
struct Square : Shape { double width = 1.5; };
int risky(int n) {
    if (n > 1) throw std::runtime_error("too much");
    return n;
}
int main() {
    std::vector<int> numbers{10, 20, 30};
    std::map<std::string, int> ages{{"ann", 30}, {"bob", 40}};
    std::string word = "hello";
    Square square;
    Shape &shape = square;
    try {
        risky(numbers.size());
    } catch (const std::exception &error) {
        numbers.push_back(shape.sides);
    }
    return numbers.size();
}
"""


def test_cpp_values_and_exceptions():
    program = build(CPP, "-g", "-O0", language="cpp")
    file = program.with_name("program.cc")
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.send("launch", program=str(program))
        editor.until("initialized")
        editor.request("setBreakpoints", source={"path": str(file)}, breakpoints=[{"line": 18}])
        filters = editor.request("setExceptionBreakpoints", filters=["throw", "catch", "uncaught"])["breakpoints"]
        assert [each["verified"] for each in filters] == [True, True, False]
        editor.request("configurationDone")
        stop = editor.stopped("breakpoint")
        found = editor.variables(editor.scope(stop["frame"], "Locals"))
        assert found["word"]["value"] == '"hello"'
        numbers = editor.variables(found["numbers"]["variablesReference"], filter="indexed", start=1, count=2)
        assert [each["value"] for each in numbers.values()] == ["20", "30"]
        ages = editor.variables(found["ages"]["variablesReference"])
        assert {name: each["value"] for name, each in ages.items()} == {'["ann"]': "30", '["bob"]': "40"}
        square = editor.variables(found["square"]["variablesReference"])
        assert {"<Shape>", "width"} <= square.keys()
        number = found["numbers"]["variablesReference"]
        assert editor.request("setVariable", variablesReference=number, name="[2]", value="31")["value"] == "31"

        editor.request("continue", threadId=1)
        stop = editor.stopped("exception")
        assert "thrown" in stop["description"]
        assert editor.request("exceptionInfo", threadId=1)["exceptionId"]
        assert "risky(int)" in [each["name"] for each in editor.frames(1)] or "risky" in str(editor.frames(1))
        editor.request("continue", threadId=1)
        assert "caught" in editor.stopped("exception")["description"]
        editor.request("setExceptionBreakpoints", filters=[])
        editor.request("continue", threadId=1)
        assert editor.finish() == 4


def test_a_crash_is_shown():
    program = build("int main(void) { int *nothing = 0; return *nothing; }")
    with Client() as editor:
        editor.launch(program=str(program))
        stop = editor.stopped("exception")
        assert (stop["description"], stop["frame"]["name"]) == ("SIGSEGV", "main")
        assert editor.request("exceptionInfo", threadId=1)["description"] == "Segmentation fault"
        editor.request("continue", threadId=1)
        assert editor.finish() == -signal.SIGSEGV


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


@contextmanager
def gate_at(path):
    """A pipe that a program reads from, which goes on when this is called. Nobody waits here, whoever is gone."""
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    try:
        yield lambda: os.write(held, b"!")
    finally:
        os.close(held)


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
