"""Variables that are written and read, expressions that change, lines that are reached."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, observe

from mopsus.model import Place, PlaceKind, Reading, ReadingKind

pytestmark = pytest.mark.gdb

RESULT = Reading(ReadingKind.RESULT)


def write(what: str, after: bool = True) -> Place:
    return Place(PlaceKind.WRITE, what, after)


def test_a_global_is_written_read_and_accessed():
    program = build("""
        int counter, copy;
        void touch(int n) { counter = n; copy = counter + 1; }
        int main(void) { touch(5); touch(5); touch(9); return 0; }
    """)
    found = observe(
        program,
        {
            write("counter", after=False): [RESULT],
            write("counter"): [RESULT, Reading(ReadingKind.NAME, "n")],
            Place(PlaceKind.UPDATE, "counter + copy"): [RESULT],
        },
    )
    assert found == [
        ("write counter", [0]),
        ("after write counter", [5, 5]),
        ("update counter + copy", [0]),
        ("update counter + copy", [5]),
        ("write counter", [5]),
        ("after write counter", [9, 9]),
        ("update counter + copy", [11]),
        ("update counter + copy", [15]),
        ("open calls", [0]),
    ]


def test_reads_and_accesses():
    program = build("""
        int flag = 3, other;
        void look(void) { other = flag; }
        int main(void) { look(); flag = 4; look(); return 0; }
    """)
    found = observe(program, {Place(PlaceKind.ACCESS, "flag"): [Reading(ReadingKind.NAME, "flag")]})
    assert found == [("access flag", [3]), ("access flag", [4]), ("access flag", [4]), ("open calls", [0])]
    found = observe(program, {Place(PlaceKind.READ, "flag"): [Reading(ReadingKind.NAME, "flag")]})
    assert found == [("read flag", [3]), ("read flag", [4]), ("open calls", [0])]


def test_a_local_is_watched_in_every_call_of_its_function_and_no_longer():
    """Neither when the stack is used by others, nor in the caller when a call within a call writes its own."""
    program = build("""
        int noise(int n) { int a = n, b = n + 1, c = n + 2; return a + b + c; }
        int count(int depth) {
            int local = 100 * depth;
            if (depth) { count(depth - 1); local += 1; }
            return local;
        }
        int main(void) { count(1); noise(1); count(0); noise(2); return 0; }
    """)
    found = observe(program, {write("count::local"): [RESULT, Reading(ReadingKind.NAME, "depth")]})
    assert [values for name, values in found if name == "after write count::local" and values[0]] == [
        [100, 1],
        [101, 1],
    ]
    assert found[-1] == ("open calls", [0])
    assert all(values[1] == 0 for name, values in found[:-1] if values[0] == 0)


def test_a_member_behind_a_local_pointer():
    program = build("""
        struct queue { int size; };
        void push(struct queue *q) { q->size++; }
        int main(void) { struct queue q = {3}; push(&q); push(&q); return 0; }
    """)
    found = observe(program, {write("push::q->size"): [RESULT]})
    assert found == [("after write push::q->size", [4]), ("after write push::q->size", [5]), ("open calls", [0])]


def test_more_watchpoints_than_the_processor_has():
    program = build("""
        int a, b, c, d, e, f;
        int main(void) { a = 1; b = 2; c = 3; d = 4; e = 5; f = 6; return 0; }
    """)
    found = observe(program, {write(name): [RESULT] for name in "abcdef"}, "break main", "run", "observe", "continue")
    events = [entry for entry in found if entry[0].startswith("after")]
    assert events == [(f"after write {name}", [value]) for value, name in enumerate("abcdef", 1)]
    assert [name for name, _ in found].count("warning") == 2


def test_lines():
    program = build("""
        int main(void) {
            int sum = 0;
            for (int i = 0; i < 3; i++)
                sum += i;
            return sum - 3;
        }
    """)
    i = Reading(ReadingKind.NAME, "i")
    found = observe(program, {Place(PlaceKind.LINE, "program.c:5"): [i], Place(PlaceKind.LINE, "6"): []})
    assert found == [
        *(("line program.c:5", [n]) for n in range(3)),
        ("line 6", []),
        ("open calls", [0]),
    ]


def test_traps_that_were_discarded_are_deleted_on_the_way():
    program = build("""
        int work(int n) { int local = -1; local = n; return local; }
        int done(void) { return 0; }
        int main(void) { for (int i = 0; i < 60; i++) work(i); return done(); }
    """)
    count = "python observer.found.append(('few', [len(gdb.breakpoints()) < 20]))"
    place = write("work::local")
    found = observe(program, {place: [RESULT]}, "observe", "break done", "run", count)
    assert [values[0] for name, values in found if name.startswith("after") and values[0] >= 0][-1] == 59
    assert ("few", [True]) in found
