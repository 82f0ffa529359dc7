"""Where a compiled program stops for a scripted editor, and how it goes on."""

import signal

import pytest
from interactive.dap.client import Client, Refused
from interactive.dap.compiled_programs import LOOP, gate_at, source
from interactive.gdb.programs import build


def test_breakpoints_with_conditions_counts_and_messages(queue):
    lines = [
        {"line": 5, "condition": "value == 1"},
        {"line": 6, "hitCondition": "4"},
        {"line": 7, "hitCondition": "% 2", "logMessage": "{value} makes {doubled}, {nothing} {{so}}"},
        {"line": 17, "condition": "no such thing"},
        {"line": 17, "hitCondition": "often"},
        {"line": 8, "condition": "value == 99"},
    ]
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.send("launch", program=str(queue))
        editor.until("initialized")
        placed = editor.request("setBreakpoints", source={"path": str(source(queue))}, breakpoints=lines)["breakpoints"]
        assert [each["verified"] for each in placed] == [True, True, True, False, False, True]
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
        editor.request("next", threadId=1)
        assert editor.stopped("step")["frame"]["line"] == 6  # where the breakpoint's turn has not come
        editor.request("continue", threadId=1)
        stop = editor.stopped("breakpoint")
        value = editor.request("evaluate", expression="value", frameId=stop["frame"]["id"], context="hover")
        assert (stop["frame"]["line"], value["result"]) == (6, "3")
        editor.request("next", threadId=1)
        assert editor.stopped("step")["frame"]["line"] == 7  # where a message is said, too
        editor.request("next", threadId=1)
        assert editor.stopped("step")["frame"]["line"] == 8  # where the condition does not hold
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


def test_a_crash_is_shown():
    program = build("int main(void) { int *nothing = 0; return *nothing; }")
    with Client() as editor:
        editor.launch(program=str(program))
        stop = editor.stopped("exception")
        assert (stop["description"], stop["frame"]["name"]) == ("SIGSEGV", "main")
        assert editor.request("exceptionInfo", threadId=1)["description"] == "Segmentation fault"
        editor.request("continue", threadId=1)
        assert editor.finish() == -signal.SIGSEGV
