"""What the process that speaks with the editor does by itself: refuse what makes no sense, and end when it is time."""

import json
import signal
import subprocess
import sys

import pytest
from interactive.dap.client import PATIENCE_S, Client, Refused
from interactive.gdb.programs import build

ENDS = "int main(void) { return 4; }"


def test_capabilities():
    with Client() as editor:
        can = editor.request("initialize", adapterID="mopsus", clientID="test")
        for name in ("ConfigurationDoneRequest", "FunctionBreakpoints", "LogPoints", "RestartRequest", "SetVariable"):
            assert can[f"supports{name}"] is True
        assert [each["filter"] for each in can["exceptionBreakpointFilters"]] == [
            "raised",
            "uncaught",
            "throw",
            "catch",
        ]


def test_what_an_editor_must_agree_to():
    with Client() as editor:
        for arguments, why in (
            ({"linesStartAt1": False}, "counted from 1"),
            ({"pathFormat": "uri"}, "named by their paths"),
            ({"linesStartAt1": "yes"}, "`linesStartAt1` must be true or false"),
        ):
            with pytest.raises(Refused, match=why):
                editor.request("initialize", **arguments)


BROKEN = "state init {\n    transition { event }\n}\n"
FINE = "state init { transition { event main() success init } }\n"

LAUNCHES = (
    ({}, "one of `program` and `module` must be given"),
    ({"program": "x", "module": "y"}, "one of `program` and `module` must be given"),
    ({"program": 5}, "`program` must be a text"),
    ({"program": "nowhere"}, "there is no program nowhere"),
    ({"program": "no\0where"}, "null byte|there is no program"),
    ({"program": "x", "args": "a b"}, "`args` must be a list"),
    ({"program": "x", "cwd": "/no/such/folder"}, "`cwd`: there is no folder /no/such/folder"),
    ({"program": "x", "history": -1}, "`history` is how many events a witness has"),
    ({"program": "x", "stdin": "nothing.txt"}, "`stdin`: there is no file .*nothing.txt"),
    ({"program": "x", "env": {"A": 1}}, "`env.A` must be a text, or null"),
    ({"program": "x", "env": {"A=B": "1"}}, "`A=B` cannot be the name of a variable"),
    ({"program": "x", "env": {"A": "\0"}}, "the debugger cannot be started: embedded null byte"),
    ({"program": "x", "console": "paper"}, "`console` must be one of internalConsole, integratedTerminal"),
    ({"program": "x", "console": 5}, "`console` must be a text"),
    ({"program": "x", "console": "externalTerminal", "stdin": "fine.prop"}, "cannot read a file, by `stdin`, and"),
    ({"program": "x", "console": "externalTerminal"}, "opens no terminals for programs"),
    ({"program": "x", "properties": "a.prop"}, "`properties` must be a list"),
    ({"program": "x", "properties": ["a.prop"]}, r"`properties\[0\].file`: there is no file .*a.prop"),
    ({"program": "x", "properties": ["a" * 300]}, r"`properties\[0\].file`: there is no file .*aaa"),
    ({"program": "x", "properties": ["~nobody/a.prop"]}, r"`properties\[0\].file`: there is no file .*a.prop"),
    ({"program": "a" * 5000}, "there is no program aaa"),
    ({"program": "x", "properties": [{"scenario": "s"}]}, r"`properties\[0\].file` is missing"),
    ({"program": "x", "properties": [3]}, r"properties\[0\] must be an object"),
    ({"program": "/etc/passwd"}, "neither a compiled program nor a Python script"),
    ({"program": "x", "debugger": "jdb"}, "there is no debugger"),
    ({"program": "x", "properties": ["broken.prop"]}, "broken.prop:2"),
    ({"program": "x", "properties": [{"file": "fine.prop", "scenario": "broken.scenario"}]}, "broken.scenario:1"),
)


def test_a_launch_that_cannot_be_says_why_and_another_one_can(tmp_path):
    for name, text in (("broken.prop", BROKEN), ("fine.prop", FINE), ("broken.scenario", "on entering nothing\n")):
        (tmp_path / name).write_text(text)
    with Client(cwd=tmp_path) as editor:
        editor.request("initialize", adapterID="mopsus")
        for arguments, why in LAUNCHES:
            with pytest.raises(Refused, match=why) as refused:
                editor.request("launch", **arguments)
            assert refused.value.message["body"]["error"]["showUser"] is True
        editor.launch(program=str(build(ENDS)))
        assert editor.finish() == 4


def test_an_attach_that_cannot_be():
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        for arguments, why in (
            ({}, "`pid` is missing"),
            ({"pid": "x"}, "`pid` must be a number"),
            ({"pid": 2**22 + 1}, "No such process|ptrace"),
        ):
            with pytest.raises(Refused, match=why):
                editor.request("attach", **arguments)


READS = """\
#include <stdio.h>
int main(void) {
    char line[80];
    while (fgets(line, sizeof line, stdin)) printf("read %s", line);
    return 0;
}
"""


@pytest.mark.parametrize("language", ["c", "python"])
def test_the_program_reads_a_file_as_its_input(language, tmp_path):
    script = tmp_path / "reads.py"
    script.write_text("import sys\nfor line in sys.stdin:\n    print('read', line, end='')\n")
    (tmp_path / "input.txt").write_text("one\ntwo\n")
    with Client() as editor:
        program = str(build(READS) if language == "c" else script)
        editor.launch(program=program, cwd=str(tmp_path), stdin="input.txt")
        assert editor.finish() == 0
        assert editor.output("stdout") == "read one\nread two\n"


ASKED = (
    ("stackTrace", {"threadId": 1}),
    ("scopes", {"frameId": 1}),
    ("evaluate", {"expression": "1", "context": "repl"}),
    ("mopsus/monitors", {}),
    ("mopsus/checkpoint", {}),
    ("threads", {}),
    ("pause", {"threadId": 1}),
    ("next", {"threadId": 1}),
)
"""Requests of every kind: for a program that stands, for one that runs, for both."""


@pytest.mark.parametrize("language", ["c", "python"])
def test_every_request_is_answered_whenever_it_comes(language, tmp_path):
    """Before the program begins, while it ends, and when it has ended; by the client exactly once, or it complains."""
    script = tmp_path / "ends.py"
    script.write_text("x = 1\nraise SystemExit(4)\n")
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        launched = editor.send("launch", program=str(build(ENDS) if language == "c" else script), stopOnEntry=True)
        editor.until("initialized")
        for command, arguments in ASKED:
            editor.answer(editor.send(command, **arguments))
        editor.request("configurationDone")
        assert editor.answer(launched)["success"]
        editor.stopped("entry")
        asked = [editor.send("continue", threadId=1)]
        asked += [editor.send(command, **arguments) for _ in range(5) for command, arguments in ASKED]
        asked += [editor.send("continue", threadId=1), editor.send("terminate")]
        for number in asked:
            editor.answer(number)
        editor.until("terminated")
        for command, arguments in ASKED:
            editor.answer(editor.send(command, **arguments))


def test_a_session_that_is_ended_before_its_program_begins():
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        launched = editor.send("launch", program=str(build(ENDS)))
        editor.request("disconnect")
        assert "ended before" in editor.answer(launched)["message"] or editor.answer(launched)["success"]


def test_requests_at_the_wrong_time_and_of_no_sense():
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        for command in ("stackTrace", "continue", "evaluate", "mopsus/checkpoint"):
            with pytest.raises(Refused, match="there is no program"):
                editor.request(command, threadId=1)
        with pytest.raises(Refused, match="there is no program yet"):
            editor.request("restart")
        assert editor.request("threads") == {"threads": []}
        editor.launch(program=str(build(ENDS)), stopOnEntry=True)
        editor.stopped("entry")
        with pytest.raises(Refused, match="there is no request `dance` here"):
            editor.request("dance")
        with pytest.raises(Refused, match="`threadId` is missing"):
            editor.request("stackTrace")
        with pytest.raises(Refused, match="`frameId` must be a number"):
            editor.request("scopes", frameId="one")
        with pytest.raises(Refused, match="there is no variable 12345"):
            editor.request("variables", variablesReference=12345)
        with pytest.raises(Refused, match=r"`source\.path` is missing"):
            editor.request("setBreakpoints", breakpoints=[])
        with pytest.raises(Refused, match="no exception"):
            editor.request("exceptionInfo", threadId=1)
        with pytest.raises(Refused, match="being debugged already"):
            editor.request("launch", program=str(build(ENDS)))
        assert editor.request("cancel", requestId=1) == {}
        editor.request("continue", threadId=1)
        assert editor.finish() == 4
        with pytest.raises(Refused, match="there is no program any more") as refused:
            editor.request("stackTrace", threadId=1)
        assert refused.value.message["body"]["error"]["showUser"] is False  # it may have been on its way
        editor.request("terminate")


def test_bytes_that_are_no_message_end_it():
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.write(b"this is no JSON")
        assert "no JSON" in editor.until("output")["output"]
        assert editor.process.wait(PATIENCE_S) == 0


def test_a_request_without_arguments_or_with_odd_ones_is_answered():
    with Client() as editor:
        editor.write(json.dumps({"type": "response", "seq": 1, "request_seq": 1}).encode())  # nobody asked
        number = editor.send_raw("initialize", [])
        assert editor.answer(number)["success"]  # an empty list is as good as nothing
        number = editor.send_raw("launch", "a.out")
        assert "must be an object" in editor.answer(number)["message"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_the_program(number, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Client() as editor:
        editor.launch(program=str(build("#include <unistd.h>\nint main(void) { pause(); return 0; }")))
        editor.request("threads")
        editor.process.send_signal(number)
        assert editor.process.wait(PATIENCE_S) == 0  # that is how an editor ends it
        editor.vanish()
        assert b"Traceback" not in editor.errors
    assert list(tmp_path.iterdir()) == []


def test_the_log_and_help(tmp_path):
    log = tmp_path / "log"
    with Client("--log", str(log)) as editor:
        editor.request("initialize", adapterID="mopsus")
    text = log.read_text()
    assert '<- {"seq": 1, "type": "request", "command": "initialize"' in text
    assert '"command": "disconnect", "success": true' in text
    shown = subprocess.run(
        [sys.executable, "-m", "mopsus", "dap", "--help"], capture_output=True, text=True, check=True
    )
    assert "Debug Adapter Protocol" in shown.stdout
