"""What is saved of a process without GDB's help: mappings, touched pages, registers of a sleeping thread."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.interactive.gdb.files import OpenFile, closed, open_files, seek
from mopsus.interactive.gdb.memory import PAGE, Mapping, Memory, lost, mappings, outside, touched
from mopsus.interactive.gdb.ptrace import out_of_system_call

PAGES = 12
FILE = ("08:01", 7)


@st.composite
def ranges(draw):
    """Ranges by address, none of which touch each other."""
    edges = sorted(draw(st.sets(st.integers(0, 40), max_size=12)))
    return list(zip(edges[::2], edges[1::2], strict=False))


@given(ranges(), ranges())
def test_what_lies_outside_is_what_no_range_has(first, known):
    def addresses(pairs):
        return {address for start, end in pairs for address in range(start, end)}

    found = list(outside(first, known))
    assert addresses(found) == addresses(first) - addresses(known)
    assert all(start < end for start, end in found)
    assert found == sorted(found)


@st.composite
def maps(draw):
    """Mappings as the kernel would list them; neighbours may differ in all but their place."""
    edges = sorted(draw(st.sets(st.integers(0, PAGES), max_size=8)))
    found = []
    for start, end in pairwise(edges):
        if not draw(st.integers(0, 3)):
            continue
        protection = draw(st.sampled_from(["rw-p", "r--p", "---p", "rwxp", "rw-s"]))
        file = draw(st.sampled_from([None, FILE]))
        shift = draw(st.sampled_from([0, 1]))
        offset = 0 if file is None else (start + shift) * PAGE
        found.append(Mapping(start * PAGE, end * PAGE, protection, file, offset, ""))
    return found


def of_page(listed, address):
    """What a page stands for: the file and the place in it, and what may be done with it; None for nothing."""
    for mapping in listed:
        if mapping.start <= address < mapping.end:
            place = None if mapping.file is None else mapping.offset + address - mapping.start
            return (mapping.file, place), set(mapping.protection) - {"-"}
    return None


@given(maps(), maps())
def test_a_mapping_is_lost_if_any_page_of_it_is(saved, now):
    def is_lost(old):
        for address in range(old.start, old.end, PAGE):
            before, after = of_page([old], address), of_page(now, address)
            if after is None or before[0] != after[0] or not before[1] <= after[1]:
                return True
        return False

    assert lost(saved, now) == next(filter(is_lost, saved), None)


@given(st.sets(st.integers(0, PAGES - 1)))
def test_only_touched_pages_are_saved(which):
    with mmap.mmap(-1, (PAGES + 2) * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        view = (ctypes.c_char * len(area)).from_buffer(area)
        start = ctypes.addressof(view) + PAGE
        del view
        for page in which:
            area[(page + 1) * PAGE] = 65 + page
        whole = Mapping(start, start + PAGES * PAGE, "rw-p", None, 0, "")
        found = {
            (address - start) // PAGE for low, high in touched(os.getpid(), whole) for address in range(low, high, PAGE)
        }
        assert found == which
        memory = Memory(os.getpid())
        for page in which:
            assert memory.read(start + page * PAGE, start + (page + 1) * PAGE)[0] == 65 + page
        memory.write(start + 3, b"written")
        memory.close()
        assert area[PAGE + 3 : PAGE + 10] == b"written"


def test_mappings_are_those_of_the_process():
    found = mappings(os.getpid())
    assert found == sorted(found, key=lambda mapping: mapping.start)
    assert any(mapping.name == "[stack]" and mapping.is_saved for mapping in found)
    assert not any(mapping.is_saved for mapping in found if mapping.name in ("[vdso]", "[vvar]"))
    assert not any(mapping.is_saved for mapping in found if mapping.protection == "r-xp" and mapping.file)


RAX, ORIG_RAX, RIP = 10, 15, 16


@pytest.mark.parametrize(
    ("rax", "orig_rax", "expected"),
    [
        (5, -1, (5, 1000)),  # in no system call
        (3, 1, (3, 1000)),  # after one
        (-4, 0, (-4, 1000)),  # after one that was interrupted for good
        *((code, 202, (202, 998)) for code in (-512, -513, -514, -516)),  # in one, to be done again
    ],
)
def test_a_thread_that_sleeps_in_the_kernel_sleeps_again(rax, orig_rax, expected):
    words = list(range(100, 127))
    words[RAX], words[ORIG_RAX], words[RIP] = rax, orig_rax, 1000
    found = list(struct.unpack("<27q", out_of_system_call(struct.pack("<27q", *words))))
    assert (found[RAX], found[RIP], found[ORIG_RAX]) == (*expected, -1)
    found[RAX], found[RIP], found[ORIG_RAX] = rax, 1000, orig_rax
    assert found == words


def test_places_in_files_are_put_back(tmp_path):
    path = tmp_path / "digits"
    path.write_text("0123456789")
    with path.open("rb", buffering=0) as file:
        number = file.fileno()
        file.seek(4)
        saved = {number: open_files(os.getpid())[number]}
        file.read()
        seek(os.getpid(), saved)
        assert file.read(2) == b"45"
        assert closed(saved, open_files(os.getpid())) is None
    assert closed(saved, {}) == f"{path} (descriptor {number}) was closed"
    assert closed(saved, {number: OpenFile("/other", 0)}) == f"descriptor {number} is /other now, and was {path}"
