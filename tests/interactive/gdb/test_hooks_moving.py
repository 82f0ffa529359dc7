"""First instructions that run elsewhere: they are run at both places, and do the same."""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.interactive.gdb.agent.moving import Beginning, Instruction, NoHookError

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="hooks are for x86-64")

THERE = 4096
COMPARE = b"\x83\xff"  # cmp edi, …
ONE, TWO = (b"\xb8" + struct.pack("<i", number) + b"\xc3" for number in (1, 2))  # mov eax, …; ret
FAR_JUMP = b"\xff\x25\x00\x00\x00\x00"


@pytest.fixture(scope="module")
def memory():
    memory = mmap.mmap(-1, 2 * THERE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


def instructions(address, *parts):
    """Of these bytes and texts."""
    found = []
    for code, text in parts:
        found.append(Instruction(address, code, text))
        address += len(code)
    return found


def run_both(memory, first, rest, values):
    """What a function says at its place, and with its first instructions elsewhere."""
    data, address = memory
    beginning = Beginning(first)
    data[: len(beginning.original) + len(rest)] = beginning.original + rest
    back = FAR_JUMP + struct.pack("<Q", address + len(beginning.original))
    moved = beginning.moved(address + THERE) + back
    data[THERE : THERE + len(moved)] = moved
    assert beginning.length == len(moved) - len(back)
    calls = [ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(address + place) for place in (0, THERE)]
    return [[call(value) for value in values] for call in calls]


@given(st.integers(0, 15), st.booleans(), st.integers(-128, 127), st.lists(st.integers(-200, 200), min_size=1))
def test_branches_lead_to_the_same_place(memory, condition, short, limit, values):
    branch = bytes((0x70 + condition, len(TWO))) if short else bytes((0x0F, 0x80 + condition, len(TWO), 0, 0, 0))
    first = instructions(memory[1], (COMPARE + struct.pack("b", limit), "cmp"), (branch, "jx"))
    here, there = run_both(memory, first, TWO + ONE, [*values, limit, limit - 1, limit + 1])
    assert here == there


@pytest.mark.parametrize("jump", [bytes((0xEB, len(TWO))), bytes((0xE9, len(TWO), 0, 0, 0))])
def test_jumps_lead_to_the_same_place(memory, jump):
    first = instructions(memory[1], (COMPARE + b"\0", "cmp"), (jump, "jmp"))
    assert run_both(memory, first, TWO + ONE, [0]) == [[1], [1]]


def test_calls_return_to_where_they_would_have(memory):
    called = b"\x48\x8b\x04\x24\xc3"  # mov rax, [rsp]; ret
    rest = b"\xc3"
    call = b"\xe8" + struct.pack("<i", len(rest))
    first = instructions(memory[1], (COMPARE + b"\0", "cmp"), (call, "call"))
    here, there = run_both(memory, first, rest + called, [0])
    assert here == there
    assert here[0] & 0xFFFFFFFF == (memory[1] + len(COMPARE) + 1 + len(call)) & 0xFFFFFFFF


def test_a_call_is_half_made_between_its_instructions():
    beginning = Beginning(instructions(0x1000, (b"\x90", "nop"), (b"\xe8\x10\x00\x00\x00", "call 0x1016")))
    assert [beginning.half_made(offset) for offset in (0, 1)] == [None, None]
    assert {beginning.half_made(1 + done) for done in (5, 12, 20)} == {(0x1006, 0x1016)}
    assert beginning.half_made(beginning.length) is None


def test_what_is_behind_a_call_stays_there():
    with pytest.raises(NoHookError, match="calls another function"):
        Beginning(instructions(0x1000, (b"\xe8\x10\x00\x00\x00", "call 0x1015"), (b"\x90", "nop")))


def test_data_that_is_named_by_its_distance_is_found(memory):
    read = b"\x8b\x05" + struct.pack("<i", 1)  # mov eax, [rip + 1], behind the `ret`
    target = memory[1] + len(read) + 1
    first = instructions(memory[1], (read, f"mov 0x1(%rip),%eax        # {target:#x}"), (b"\xc3", "ret"))
    assert run_both(memory, first, struct.pack("<i", 77), [0]) == [[77], [77]]


def test_each_instruction_is_found_at_either_place():
    first = instructions(0x1000, (b"\x85\xff", "test"), (b"\x74\x05", "je 0x1009"), (b"\xc3", "ret"), (b"\x90", "nop"))
    beginning = Beginning(first)
    places = [(0, 0), (2, 2), (4, 8), (5, 9), (6, 10)]
    assert [beginning.there(here) for here, _ in places] == [there for _, there in places]
    assert [beginning.here(there) for _, there in places] == [here for here, _ in places]


@pytest.mark.parametrize(
    ("code", "text", "why"),
    [
        (b"\xff\xd0", "call *%rax", "it calls another function in its first instructions"),
        (b"\xe3\x05", "jrcxz 0x1007", "its first instructions depend on where they are"),
        (b"\x0f\x05", "syscall", "its first instructions depend on where they are"),
    ],
)
def test_what_cannot_be_moved_is_refused(code, text, why):
    with pytest.raises(NoHookError, match=why):
        Beginning(instructions(0x1000, (code, text)))


def test_what_is_too_far_away_is_refused():
    beginning = Beginning(instructions(0x1000, (b"\xeb\x05", "jmp 0x1007")))
    with pytest.raises(NoHookError, match="too far"):
        beginning.moved(1 << 40)
