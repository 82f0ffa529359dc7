"""Functions that are entered and return: recursion, tail calls, `longjmp`, exceptions, threads."""

from __future__ import annotations

import subprocess

import pytest
from interactive.gdb.programs import build, observe

from mopsus.model import Place, PlaceKind, Reading, ReadingKind

pytestmark = pytest.mark.gdb

ARGUMENT = Reading(ReadingKind.ARGUMENT, index=1)
RESULT = Reading(ReadingKind.RESULT)


def before(name: str) -> Place:
    return Place(PlaceKind.CALL, name)


def after(name: str) -> Place:
    return Place(PlaceKind.CALL, name, after=True)


def test_calls_of_a_recursion_return_with_their_own_arguments():
    program = build("""
        int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
        int main(void) { return factorial(5) - 100; }
    """)
    found = observe(program, {before("factorial"): [ARGUMENT], after("factorial"): [ARGUMENT, RESULT]})
    assert found == [
        *(("call factorial", [n]) for n in (5, 4, 3, 2, 1)),
        *(("after call factorial", pair) for pair in ([1, 1], [2, 2], [3, 6], [4, 24], [5, 120])),
        ("open calls", [0]),
    ]


def test_a_call_left_by_longjmp_does_not_return():
    """Though the program comes to where it would have returned to, with the stack as it would have been."""
    program = build("""
        #include <setjmp.h>
        jmp_buf place;
        int attempt(int n) { if (n < 3) longjmp(place, 1); return n; }
        int outer(int n) { return attempt(n); }
        int main(void) {
            for (int i = 0; i < 5; i++)
                if (!setjmp(place)) outer(i);
        }
    """)
    found = observe(program, {after("attempt"): [ARGUMENT, RESULT], after("outer"): [ARGUMENT, RESULT]})
    expected = [(f"after call {name}", [n, n]) for n in (3, 4) for name in ("attempt", "outer")]
    assert found == [*expected, ("open calls", [0])]


def test_a_call_left_by_an_exception_does_not_return():
    program = build(
        """
        struct Guard { ~Guard() {} };
        int attempt(int n) { Guard guard; if (n % 2) throw n; return n; }
        int outer(int n) { Guard guard; try { return attempt(n); } catch (int) { return -1; } }
        int main() { for (int i = 0; i < 4; i++) outer(i); }
        """,
        language="c++",
    )
    found = observe(program, {after("attempt"): [ARGUMENT, RESULT], after("outer"): [ARGUMENT, RESULT]})
    assert found == [
        ("after call attempt", [0, 0]),
        ("after call outer", [0, 0]),
        ("after call outer", [1, -1]),
        ("after call attempt", [2, 2]),
        ("after call outer", [2, 2]),
        ("after call outer", [3, -1]),
        ("open calls", [0]),
    ]


def test_a_tail_call_returns_with_its_caller():
    program = build(
        """
        #define APART __attribute__((noinline, noclone, noipa))
        APART int inner(int n) { return n + 1; }
        APART int outer(int n) { return inner(n * 10); }
        int main(void) { int sum = 0; for (int i = 1; i < 3; i++) sum += outer(i); return sum; }
        """,
        "-g",
        "-O2",
    )
    found = observe(program, {after("inner"): [ARGUMENT, RESULT], after("outer"): [ARGUMENT, RESULT]})
    assert found == [
        ("after call inner", [10, 11]),
        ("after call outer", [1, 11]),
        ("after call inner", [20, 21]),
        ("after call outer", [2, 21]),
        ("open calls", [0]),
    ]


def test_threads_have_calls_of_their_own():
    program = build(
        """
        #include <pthread.h>
        pthread_barrier_t together;
        long twice(long n) { pthread_barrier_wait(&together); return 2 * n; }
        void *work(void *n) { return (void *) twice((long) n); }
        int main(void) {
            pthread_t threads[3];
            pthread_barrier_init(&together, 0, 3);
            for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *) i);
            for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
        }
        """,
        "-g",
        "-pthread",
    )
    found = observe(program, {after("twice"): [ARGUMENT, RESULT]})
    assert sorted(values for name, values in found if name == "after call twice") == [[0, 0], [1, 2], [2, 4]]


def test_a_point_set_late_sees_open_calls_return():
    program = build("""
        int inner(int n) { return n; }
        int outer(int n) { return inner(n + 1) * 2; }
        int main(void) { return outer(3); }
    """)
    found = observe(program, {after("outer"): [ARGUMENT, RESULT]}, "break inner", "run", "observe", "continue")
    assert found == [("after call outer", [3, 8]), ("open calls", [0])]


def test_many_call_sites_leave_few_traps():
    calls = "".join(f"once({n});\n" for n in range(120))
    program = build(f"int once(int n) {{ return n; }}\nint main(void) {{ {calls} return 0; }}")
    count = "python observer.found.append(('traps', [len(debugger.calls._sites) < 60]))"
    found = observe(program, {after("once"): [ARGUMENT]}, "observe", "break 122", "run", count)
    assert [values[0] for name, values in found if name == "after call once"] == list(range(120))
    assert ("traps", [True]) in found


def test_inlined_functions_are_told_of():
    program = build(
        """
        static inline __attribute__((always_inline)) int twice(int n) { return 2 * n; }
        volatile int input = 4;
        int main(void) { return twice(input); }
        """,
        "-g",
        "-O2",
    )
    found = observe(program, {after("twice"): [ARGUMENT]})
    assert [name for name, _ in found] == ["warning", "open calls"]
    assert "inlined" in str(found[0][1][0])


def test_a_function_of_the_program_is_meant_and_not_one_of_a_library(tmp_path):
    (tmp_path / "other.c").write_text(
        "static int work(int n) { return n; }\nint other(int n) { return work(n) + 1; }\n"
    )
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "other.c", "-o", "libother.so"], cwd=tmp_path, check=True)
    source = "int other(int n);\nint work(int n) { return n; }\nint main(void) { other(5); work(1); return 0; }"
    program = build(source, "-g", f"{tmp_path}/libother.so", f"-Wl,-rpath,{tmp_path}")
    assert observe(program, {before("work"): [ARGUMENT]}) == [("call work", [1]), ("open calls", [0])]
    assert observe(program, {before("other"): [ARGUMENT]}) == [("call other", [5]), ("open calls", [0])]
