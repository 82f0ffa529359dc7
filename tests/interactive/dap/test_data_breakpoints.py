"""Stops at data: where it is written or read in compiled programs, and what is said where that cannot be."""

from __future__ import annotations

import base64

import pytest
from interactive.dap.client import Client, Refused
from interactive.dap.python_programs import begun
from interactive.gdb.programs import build

SUMS = """\
#include <stdio.h>
#include <stdlib.h>
struct place { int x, y; unsigned flag : 3, more : 4; struct place *next; char pad[64]; };
int total = 5;
static int list[3] = {7, 8, 9};
static struct place home = {1, 2, 3};
volatile int go = 0;
int add(int value) {
    int doubled = value * 2;
    doubled += 1;
    total += doubled;
    return doubled;
}
void fill(struct place *where, int n) {
    for (int i = 0; i < n; i++)
        where->x += i;
}
int main(int argc, char **argv) {
    struct place here = {10, 20, 1, &home};
    struct place *heap = calloc(1, sizeof *heap);
    for (int i = 0; i < 4; i++)
        add(i);
    fill(&here, 3);
    fill(heap, 3);
    list[1] = list[0] + home.y;
    home.x = 40;
    printf("%d %d\\n", total, here.x);
    while (argc > 1 && !go)
        total++;
    return 3;
}
"""
BEGIN, ADDED, LAST = 21, 10, 25
"""Lines: where `main` has its variables, in `add`, after all calls."""


@pytest.fixture
def sums():
    return build(SUMS)


def source(program):
    return program.with_name("program.c")


def info(editor, name, **arguments):
    return editor.request("dataBreakpointInfo", name=name, **arguments)


def watch(editor, *wanted, **more):
    found = [each if isinstance(each, dict) else {"dataId": each, **more} for each in wanted]
    return editor.request("setDataBreakpoints", breakpoints=found)["breakpoints"]


def go_on(editor):
    editor.request("continue", threadId=1)


def until_data(editor, *points):
    """The description of the next stop, which is for data."""
    stop = editor.stopped("data breakpoint")
    assert stop["hitBreakpointIds"] == [each["id"] for each in points]
    return stop["description"]


def test_a_global_is_written(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": BEGIN}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        found = info(editor, "total", variablesReference=editor.scope(frame, "Globals"))
        assert (found["dataId"], found["description"], found["canPersist"]) == ("total", "total", True)
        assert found["accessTypes"] == ["write", "read", "readWrite"]
        (point,) = watch(editor, found["dataId"])
        assert point["verified"]
        go_on(editor)
        assert until_data(editor, point) == "total was 5, and is 6"
        editor.request("setExpression", expression="total", value="100")
        assert watch(editor, found["dataId"]) == [point]  # it stays
        go_on(editor)
        assert until_data(editor, point) == "total was 100, and is 103"
        assert watch(editor) == []
        go_on(editor)
        assert editor.finish() == 3


def test_conditions_and_counts(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": BEGIN}]}, program=str(sums))
        editor.stopped("breakpoint")
        wanted = [
            {"dataId": "total", "condition": "total > 8"},
            {"dataId": "total", "hitCondition": "== 4"},
            {"dataId": "total", "hitCondition": "often"},
            {"dataId": "list", "condition": "no such thing"},
        ]
        late, fourth, odd, wrong = watch(editor, *wanted)
        assert "does not say which hits count" in odd["message"]
        assert [late["verified"], fourth["verified"], odd["verified"], wrong["verified"]] == [True, True, False, True]
        go_on(editor)
        assert until_data(editor, late) == "total was 6, and is 9"
        go_on(editor)
        until_data(editor, late)
        go_on(editor)
        stop = editor.stopped("data breakpoint")
        assert sorted(stop["hitBreakpointIds"]) == [late["id"], fourth["id"]]
        go_on(editor)
        assert until_data(editor, wrong).startswith("list was {7, 8, 9}, and is {7, 9, 9}")
        assert "the condition `no such thing` has no value here" in editor.output("console")


def test_reads_members_elements_and_what_pointers_lead_to(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": BEGIN}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        editor.request("next", threadId=1)
        editor.stopped("step")
        frame = editor.frames(1)[0]
        scope = editor.scope(frame, "Locals")
        names = editor.variables(scope)
        inner = info(editor, "x", variablesReference=names["here"]["variablesReference"])
        assert (inner["description"], inner["canPersist"]) == ("(here).x in main", False)
        heap = info(editor, "heap->x", frameId=frame["id"])
        assert heap["description"] == "heap->x"
        globals_ = editor.variables(editor.scope(frame, "Globals"))
        element = info(editor, "[1]", variablesReference=globals_["list"]["variablesReference"])
        assert (element["dataId"], element["canPersist"]) == ("(list)[1]", True)
        points = watch(
            editor,
            {"dataId": inner["dataId"]},
            {"dataId": heap["dataId"]},
            {"dataId": element["dataId"], "accessType": "readWrite"},
            {"dataId": "home.y", "accessType": "read"},
        )
        assert all(each["verified"] for each in points)
        told = []
        for at in (0, 0, 1, 1, 3, 2):
            go_on(editor)
            told.append(until_data(editor, points[at]))
        assert told[0] == "(here).x was 10, and is 11"
        assert told[2] == "heap->x was 0, and is 1"
        assert told[4] == "home.y was read: 2"
        assert told[5] == "(list)[1] was 8, and is 9"
        go_on(editor)
        assert editor.finish() == 3


def test_a_local_is_watched_until_its_function_returns(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": ADDED, "condition": "value == 1"}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        found = info(editor, "doubled", variablesReference=editor.scope(frame, "Locals"))
        assert (found["description"], found["canPersist"]) == ("doubled in add", False)
        (point,) = watch(editor, found["dataId"])
        go_on(editor)
        assert until_data(editor, point) == "doubled was 2, and is 3"
        go_on(editor)
        gone = editor.until("breakpoint")
        assert (gone["reason"], gone["breakpoint"]["id"]) == ("removed", point["id"])
        assert editor.finish() == 3
        assert sum(each["event"] == "stopped" for each in editor.events) == 2


def test_steps_are_not_held_up_by_a_local_that_is_gone(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": ADDED}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        (point,) = watch(editor, info(editor, "doubled", frameId=frame["id"])["dataId"])
        editor.request("next", threadId=1)
        assert until_data(editor, point) == "doubled was 0, and is 1"
        editor.request("stepOut", threadId=1)
        stop = editor.stopped("step")
        assert stop["frame"]["name"] == "main"
        assert editor.variables(editor.scope(stop["frame"], "Returned"))["add"]["value"] == "1"
        assert sum(each["event"] == "breakpoint" for each in editor.events) == 1
        late = watch(editor, {"dataId": info(editor, "i", frameId=stop["frame"]["id"])["dataId"]}, {"dataId": "(*$x)"})
        assert [each["verified"] for each in late] == [True, False]
        assert "not there any more" in late[1]["message"]


LEAVES = """\
#include <setjmp.h>
jmp_buf back;
int spoil(int n) { volatile int a[20]; for (int i = 0; i < 20; i++) a[i] = n + i; return a[3]; }
int inner(int n) {
    volatile int mine = n;
    if (n) longjmp(back, 1);
    return mine;
}
int main(void) {
    if (!setjmp(back)) inner(5);
    spoil(7);
    spoil(9);
    return 2;
}
"""


def test_a_local_that_was_left_by_a_jump_is_gone_too():
    program = build(LEAVES)
    with Client() as editor:
        editor.launch({source(program): [{"line": 6}, {"line": 12}]}, program=str(program))
        frame = editor.stopped("breakpoint")["frame"]
        (point,) = watch(editor, info(editor, "mine", frameId=frame["id"])["dataId"])
        assert point["verified"]
        go_on(editor)
        assert editor.stopped("breakpoint")["frame"]["line"] == 12
        gone = [each["body"] for each in editor.events if each["event"] == "breakpoint"]
        assert [(each["reason"], each["breakpoint"]["id"]) for each in gone] == [("removed", point["id"])]
        go_on(editor)
        assert editor.finish() == 2


def test_what_cannot_be_watched_says_why(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": BEGIN}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        here = editor.variables(editor.scope(frame, "Locals"))["here"]["variablesReference"]
        monitors = editor.scope(frame, "Monitors")
        registers = editor.scope(frame, "Registers")
        for arguments, why in (
            ({"name": "flag", "variablesReference": here}, "no memory of its own"),
            ({"name": "total + 1", "frameId": frame["id"]}, "no memory of its own"),
            ({"name": "rax", "variablesReference": registers}, "no memory of its own"),
            ({"name": "here", "frameId": frame["id"]}, "88 bytes, and the processor can watch 32 at most"),
            ({"name": "nothing", "frameId": frame["id"]}, "No symbol"),
            ({"name": "nothing", "variablesReference": here}, "there is no nothing here"),
            ({"name": "#1", "variablesReference": monitors}, "no variable of the program"),
        ):
            found = editor.request("dataBreakpointInfo", **arguments)
            assert found["dataId"] is None
            assert why in found["description"]
        for arguments, why in (
            ({}, "`name` is missing"),
            ({"name": "x", "variablesReference": 12345}, "no variable 12345"),
            ({"name": "x", "frameId": 12345}, "no frame 12345"),
            ({"name": 5}, "`name` must be a text"),
        ):
            with pytest.raises(Refused, match=why):
                editor.request("dataBreakpointInfo", **arguments)
        for wanted, why in (
            ([{}], "dataId` is missing"),
            ([{"dataId": "total", "accessType": "dance"}], "and not by dance"),
            ([{"dataId": 5}], "dataId` must be a text"),
            (5, "must be a list"),
        ):
            with pytest.raises(Refused, match=why):
                editor.request("setDataBreakpoints", breakpoints=wanted)
        nowhere, computed = watch(editor, "nothing", "total + 1")
        assert not nowhere["verified"]
        assert "No symbol" in nowhere["message"]
        assert "fixed place" in computed["message"]
        go_on(editor)
        assert editor.finish() == 3


def test_there_are_as_many_as_the_processor_has(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": BEGIN}]}, program=str(sums))
        editor.stopped("breakpoint")
        points = watch(editor, "list", "total", "go", "home.x")  # the first takes two
        assert [each["verified"] for each in points] == [True, True, True, False]
        assert "4 words, and 4 of them are watched" in points[3]["message"]
        points = watch(editor, "home.x", "home.y", "total", "go")  # those that go make room first
        assert all(each["verified"] for each in points)
        go_on(editor)
        until_data(editor, points[2])


def test_before_the_program_begins_and_while_it_runs(sums):
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.send("launch", program=str(sums), args=["run"])
        editor.until("initialized")
        (point,) = watch(editor, "total")
        assert point["verified"]
        editor.request("configurationDone")
        assert until_data(editor, point) == "total was 5, and is 6"
        watch(editor)
        go_on(editor)
        editor.until("output", lambda body: body["category"] == "stdout")
        with pytest.raises(Refused, match="notStopped"):
            info(editor, "total")
        (point,) = watch(editor, {"dataId": "total", "condition": "total % 1000 == 0"})
        assert "and is " in until_data(editor, point)
        watch(editor)
        editor.request("setExpression", expression="go", value="1")
        go_on(editor)
        assert editor.finish() == 3


def test_a_program_that_is_started_again_has_those_that_last(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": ADDED, "condition": "value == 1"}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        local = info(editor, "doubled", frameId=frame["id"])["dataId"]
        points = watch(editor, "total", local)
        editor.request("restart")
        lost = editor.until("breakpoint")
        assert (lost["reason"], lost["breakpoint"]["id"], lost["breakpoint"]["verified"]) == (
            "changed",
            points[1]["id"],
            False,
        )
        assert until_data(editor, points[0]) == "total was 5, and is 6"


def test_checkpoints_and_data(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": ADDED}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        editor.request("setBreakpoints", source={"path": str(source(sums))}, breakpoints=[])
        local = info(editor, "doubled", frameId=frame["id"])["dataId"]
        points = watch(editor, "total", local)
        editor.request("mopsus/checkpoint")
        for _ in range(2):
            go_on(editor)
            assert until_data(editor, points[1]) == "doubled was 0, and is 1"
            go_on(editor)
            assert until_data(editor, points[0]) == "total was 5, and is 6"
            editor.request("mopsus/restore", number=0)
            editor.stopped("goto")
        go_on(editor)
        until_data(editor, points[1])
        watch(editor, local)
        go_on(editor)
        assert editor.until("breakpoint")["reason"] == "removed"
        assert editor.finish() == 3


WATCHED = """\
state init { transition { after event write total(total) { return total < 9 } success init failure high } }
state high non-accepting
"""


def test_monitors_watch_the_same_data(sums, tmp_path):
    file = tmp_path / "watched.prop"
    file.write_text(WATCHED)
    with Client() as editor:
        editor.launch(
            {source(sums): [{"line": BEGIN}]}, program=str(sums), properties=[{"file": str(file), "quiet": True}]
        )
        frame = editor.stopped("breakpoint")["frame"]
        local = info(editor, "here.x", frameId=frame["id"])["dataId"]
        points = watch(editor, {"dataId": "total", "condition": "total == 6"}, {"dataId": local}, {"dataId": "list"})
        assert [each["verified"] for each in points] == [True, True, False]  # a monitor has one of the four
        go_on(editor)
        assert until_data(editor, points[0]) == "total was 5, and is 6"
        go_on(editor)
        assert "watched: high" in editor.stopped("exception")["description"]
        go_on(editor)
        assert until_data(editor, points[1]) == "here.x was 10, and is 11"
        watch(editor)
        go_on(editor)
        assert editor.finish() == 3
        assert "1 violation in 2 events" in editor.output("console")  # no state needs more


def test_a_python_program_has_none(tmp_path):
    with Client() as editor:
        begun(editor, tmp_path, "x = [1]\nx.append(2)\n", 2)
        frame = editor.stopped("breakpoint")["frame"]
        for arguments in ({"variablesReference": editor.scope(frame, "Globals")}, {"frameId": frame["id"]}):
            found = info(editor, "x", **arguments)
            assert found["dataId"] is None
            assert "breakpoints with a condition" in found["description"]
        (point,) = watch(editor, "x")
        assert not point["verified"]
        assert "breakpoints with a condition" in point["message"]
        with pytest.raises(Refused, match="no addresses"):
            editor.request("readMemory", memoryReference="0x1000", count=1)
        with pytest.raises(Refused, match="no instructions to show"):
            editor.request("disassemble", memoryReference="0x1000", instructionCount=1)


def test_memory_is_read(sums):
    with Client() as editor:
        editor.launch({source(sums): [{"line": LAST}]}, program=str(sums))
        frame = editor.stopped("breakpoint")["frame"]
        heap = editor.variables(editor.scope(frame, "Locals"))["heap"]["memoryReference"]
        body = editor.request("readMemory", memoryReference=heap, count=8)
        assert int(body["address"], 0) == int(heap, 0)
        assert base64.b64decode(body["data"]) == (3).to_bytes(4, "little") + bytes(4)
        later = editor.request("readMemory", memoryReference=heap, offset=4, count=0)
        assert (int(later["address"], 0), later["data"]) == (int(heap, 0) + 4, "")
        whole = editor.request("readMemory", memoryReference=heap, count=1 << 20)
        assert whole["unreadableBytes"] + len(base64.b64decode(whole["data"])) == 1 << 20
        for arguments, why in (
            ({"memoryReference": "x", "count": 1}, "x is no address"),
            ({"memoryReference": "0x0", "count": 1}, "memory"),
            ({"memoryReference": "0x0", "count": -1}, "no -1 bytes"),
            ({"memoryReference": "0x0", "count": 1 << 30}, "at most"),
            ({"memoryReference": "0x0", "offset": -5, "count": 1}, "no address -5"),
            ({"count": 1}, "`memoryReference` is missing"),
        ):
            with pytest.raises(Refused, match=why):
                editor.request("readMemory", **arguments)
