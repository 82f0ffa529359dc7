"""The instructions that an editor shows before and behind an address."""

from __future__ import annotations

import pytest
from interactive.dap.client import Client, Refused
from interactive.gdb.programs import build

SOURCE = """\
void take(int *count) { ++*count; }
static int twice(int number)
{
    return 2 * number;
}
int main(int count, char **words)
{
    take(&count);
    return twice(count);
}
"""
END = 0x100000000000
"""Nothing of a program is there."""


@pytest.fixture(scope="module")
def stopped():
    """An editor with a program that stands in `twice`, and the address of that place."""
    program = build(SOURCE, "-g", "-O0")
    source = program.with_name("program.c")
    with Client() as editor:
        editor.launch({source: [{"line": 4}]}, program=str(program))
        yield editor, editor.stopped("breakpoint")["frame"]["instructionPointerReference"]


def ask(editor, reference, count, **further):
    return editor.request("disassemble", memoryReference=reference, instructionCount=count, **further)["instructions"]


def address(instruction):
    return int(instruction["address"], 0)


def end(instruction):
    return address(instruction) + len(instruction.get("instructionBytes", "").split())


def test_instructions_before_and_behind_follow_each_other_with_functions_and_lines(stopped):
    editor, here = stopped
    found = ask(editor, here, 40, instructionOffset=-20)
    assert [end(each) for each in found[:-1]] == [address(each) for each in found[1:]]
    assert address(found[20]) == int(here, 0)
    assert (found[20]["symbol"], found[20]["line"], found[20]["location"]["name"]) == ("twice", 4, "program.c")
    assert {"take", "twice", "main"} <= {each.get("symbol") for each in found}
    (call,) = [each for each in found if each["instruction"].startswith("call") and "<take>" in each["instruction"]]
    assert (call["symbol"], call["line"]) == ("main", 8)
    assert not [each for each in found if "presentationHint" in each]


@pytest.mark.parametrize("function", ["twice", "memcpy", "_start"])
def test_what_is_before_is_what_is_behind_seen_from_there(stopped, function):
    """With debug information, in a library, and in code that has symbols only."""
    editor, _ = stopped
    here = editor.request("evaluate", expression=f"(long) &{function}")["result"]
    before = ask(editor, here, 30, instructionOffset=-30)
    assert end(before[-1]) == int(here)
    assert ask(editor, before[0]["address"], 30) == before
    assert ask(editor, before[0]["address"], 10, instructionOffset=20) == before[20:]
    assert ask(editor, here, 5, offset=address(before[7]) - int(here)) == before[7:12]


def test_what_cannot_be_read_is_invalid_and_as_many_as_asked_for(stopped):
    editor, here = stopped
    for start in (-5, 0, 3):
        found = ask(editor, hex(END), 4, instructionOffset=start)
        assert [address(each) for each in found] == [END + start + at for at in range(4)]
        assert {each["presentationHint"] for each in found} == {"invalid"}
    assert len(ask(editor, "0x2", 6, instructionOffset=-4)) == 6
    assert len(ask(editor, hex(2**64 - 1), 6, instructionOffset=-4)) == 6
    far = ask(editor, here, 5, instructionOffset=-10_000)
    assert sorted(map(address, far)) == [address(each) for each in far]
    assert ask(editor, here, 0) == []


def test_odd_requests_are_refused(stopped):
    editor, here = stopped
    for arguments, why in (
        ({"instructionCount": 1}, "`memoryReference` is missing"),
        ({"memoryReference": here}, "`instructionCount` is missing"),
        ({"memoryReference": "main", "instructionCount": 1}, "main is no address"),
        ({"memoryReference": "0x1", "offset": -2, "instructionCount": 1}, "no address -1"),
        ({"memoryReference": here, "instructionCount": -1}, "from 0 to"),
        ({"memoryReference": here, "instructionCount": 10**6}, "ask for 10000"),
        ({"memoryReference": here, "instructionOffset": -(10**6), "instructionCount": 1}, "too far away"),
    ):
        with pytest.raises(Refused, match=why):
            editor.request("disassemble", **arguments)
