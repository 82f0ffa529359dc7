"""Events stepped inside of the program: the same verdicts, witnesses and stops as with traps."""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

import pytest
from interactive.gdb.programs import START, build, run_gdb
from interactive.gdb.sessions import at_prompt, debug, said_of

pytestmark = pytest.mark.gdb

QUEUE = """
    #include <stdbool.h>
    #include <stdio.h>
    #include <stdlib.h>
    struct item { int kind; };
    int limit = 3;
    int take(int x) { limit += x == 100; return x * 2; }
    int give(int x) { limit -= x == 100; return -x; }
    void use(struct item *item, unsigned char level, bool safe) { item->kind += level + safe; }
    int *make(int x) { int *made = malloc(sizeof *made); *made = x; return made; }
    void drop(int *made) { if (made) *made = -*made; }
    int main(int argc, char **argv) {
        long rounds = argc > 1 ? atol(argv[1]) : 20;
        struct item item = {0};
        for (long i = 0; i < rounds; i++) { take((int) i % 7); use(&item, (unsigned char) (250 + i), i % 2); }
        printf("%d %d\\n", item.kind, limit);
        fflush(stdout);
        int *made = make(5);
        drop(made);
        drop(made);
        give(3);
        take(3);
        take(4);
        puts("end");
    }
"""

PROPERTIES = {
    "arguments": """
        TakenAgain(x) {
            event take before(x) : call(take) && value(x = arg 1)
            event give before(x) : call(give) && value(x = arg 1)
            ere : take* give give* take
            @match { }
        }
    """,
    "names": """
        slice on x
        state init accepting { transition { event take(x) success taken } }
        state taken accepting {
            transition { event take(x) success taken }
            transition { event give(x) success given }
        }
        state given accepting { transition { event take(x) success again } }
        state again non-accepting
    """,
    "no parameter": """
        FewGives() {
            event take before() : call(take)
            event give before() : call(give)
            ltl : G (give -> X X !take)
            @violation { }
        }
    """,
    "results": """
        DroppedTwice(p) {
            event make after() returning(p) : call(make)
            event drop before(p) : call(drop) && value(p = arg 1)
            ere : make drop drop
            @match { }
        }
    """,
    "what is pointed to": """
        Kinds(kind) {
            event use before(kind; level, safe) : call(use) && value(kind = arg 2, level = level, safe = safe)
            event end before(kind) : call(drop) && value(kind = *made)
            ere : use* end
            @match { }
        }
    """,
    "fields": """
        Falls(made) {
            event make after(made; x) : call(make) && value(made = ret, x = *ret)
            event drop before(made; x) : call(drop) && value(made = made, x = *made)
            ere : make drop drop
            @match { }
        }
    """,
    "variables": """
        AtLimit(limit) {
            event take before(limit) : call(take) && value(limit = limit)
            event give before(limit) : call(give) && value(limit = limit)
            ere : take* give take
            @match { }
        }
    """,
}


@pytest.mark.parametrize("spec", PROPERTIES.values(), ids=PROPERTIES.keys())
def test_hooks_say_what_traps_say(spec):
    program = build(QUEUE)
    hooked, trapped = (debug(program, spec, option) for option in ("--hooks", "--no-hooks"))
    assert said_of(hooked) == said_of(trapped)
    assert not hooked["warnings"]


def test_what_the_debugger_must_read_is_said_and_trapped():
    program = build(QUEUE)
    spec = """
        Kinds(kind) {
            event use before(kind) : call(use) && value(kind = "item->kind")
            event drop before(kind) : call(drop) && value(kind = arg 1)
            ere : use use
            @match { }
        }
    """
    hooked, trapped = (debug(program, spec, option) for option in ("--hooks", "--no-hooks"))
    assert said_of(hooked) == said_of(trapped)
    said = at_prompt(program, spec, "run", "verde hooks")
    assert "use is seen by traps, not by a hook: `item->kind` is read by the debugger" in said
    assert "use: the program stops for each event: `item->kind` is read by the debugger" in said
    assert "drop: stepped inside of the program" in said


SHORT = """
    __attribute__((noinline)) int twice(int x) { return 2 * x; }
    __attribute__((noinline)) int back(int x) { do { x -= 3; } while (x > 0); return x; }
    int main(void) { return twice(back(5)) + twice(2); }
"""


def test_a_function_that_is_shorter_than_a_hook_is_trapped():
    spec = """
        Twice(x) {
            event twice before(x) : call(twice) && value(x = arg 1)
            event back before(x) : call(back) && value(x = arg 1)
            ere : twice
            @match { }
        }
    """
    program = build(SHORT, "-g", "-O2", "-falign-functions=1")
    assert debug(program, spec)["verdicts"]
    assert "twice is seen by traps, not by a hook: it is shorter than a hook" in at_prompt(program, spec, "run")


THREADS = """
    #include <pthread.h>
    #include <stdio.h>
    int step(int x) { return x; }
    int last(int x) { return x; }
    void *run(void *given) { for (int i = 0; i < 20000; i++) step((int) (long) given); return 0; }
    int main(void) {
        pthread_t threads[4];
        for (long k = 0; k < 4; k++) pthread_create(&threads[k], 0, run, (void *) k);
        for (int k = 0; k < 4; k++) pthread_join(threads[k], 0);
        last(2); step(2);
    }
"""

AFTER_LAST = """
    AfterLast(x) {
        event step before(x) : call(step) && value(x = arg 1)
        event last before(x) : call(last) && value(x = arg 1)
        fsm :
            even [ step -> odd last -> over ]
            odd [ step -> even last -> over ]
            over [ step -> bad last -> over ]
            bad [ ]
        @bad { }
    }
"""


def test_events_of_threads_are_all_stepped():
    report = debug(build(THREADS, "-g", "-O0", "-pthread"), AFTER_LAST)
    assert report["stats"]["events"] == 80_002
    assert [verdict["binding"]["x"] for verdict in report["verdicts"]] == [2]


def test_exceptions_and_jumps_pass_hooks():
    program = build(
        """
        #include <csetjmp>
        #include <cstdio>
        std::jmp_buf place;
        int attempt(int n) { if (n % 3 == 1) throw n; if (n % 3 == 2) std::longjmp(place, 1); return n; }
        int main() {
            int caught = 0;
            for (volatile int i = 0; i < 9; i = i + 1) {
                if (setjmp(place)) { caught += 100; continue; }
                try { attempt(i); } catch (int) { ++caught; }
            }
            std::printf("%d\\n", caught);
        }
        """,
        "-g", "-O0", language="c++",
    )  # fmt: skip
    spec = """
        Returned(n) {
            event attempt before(n) : call(attempt) && value(n = arg 1)
            event returned after(n; result) : call(attempt) && value(n = arg 1, result = ret)
            ere : attempt returned
            @match { }
        }
    """
    hooked, trapped = (debug(program, spec, option) for option in ("--hooks", "--no-hooks"))
    assert said_of(hooked) == said_of(trapped)


def test_the_developers_breakpoint_comes_first():
    program = build(QUEUE)
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.mop"
        spec.write_text(textwrap.dedent(PROPERTIES["arguments"]))
        said = run_gdb(
            program,
            [
                f"source {START}", f"verde load-property {spec}", "verde exec set_quiet", "break main", "run",
                "break take if x == 3", "continue", "print x", "backtrace", "delete 2", "continue", "print x",
            ],
        )  # fmt: skip
    assert "$1 = 3" in said
    assert "$2 = 3" in said
    assert "Stopped: TakenAgain" in said
    assert "agent" not in said


BUSY = """
    slice on x
    initialization { times = 0 }
    state init accepting { transition { %s success { times += 1 } init } }
"""
EACH = """
    initialization { seen = 0 }
    on entering state init {
        seen += 1
        if seen % 500 == 0: print("seen", seen)
    }
"""


@pytest.mark.parametrize(("event", "place"), [("event take(x)", "take"), ("after event take(x)", "after take")])
def test_a_hook_that_only_calls_the_debugger_is_given_up(event, place, tmp_path):
    scenario = tmp_path / "each.scn"
    scenario.write_text(textwrap.dedent(EACH))
    load = f"verde load-scenario {scenario}"
    said = at_prompt(build(QUEUE), BUSY % event, load, "break drop", "run 1001", "verde hooks", "continue")
    assert f"{place}: stepped inside of the program" not in said
    assert "the program stops for each event: somebody reacts to nearly every call" in said
    assert "seen 1000\n" in said


def test_a_hook_is_kept_where_somebody_reacts_now_and_then(tmp_path):
    """In most of these steps nothing happens."""
    scenario = tmp_path / "each.scn"
    scenario.write_text(textwrap.dedent(EACH).replace("state init", "state tenth").replace("500", "50"))
    spec = """
        slice on x
        initialization { times = 0 }
        state init accepting {
            transition { event take(x) { return times == 9 } success { times = 0 } tenth failure { times += 1 } init }
        }
        state tenth accepting { transition { event take(x) success { times += 1 } init } }
    """
    said = at_prompt(
        build(QUEUE), spec, f"verde load-scenario {scenario}", "break drop", "run 2000", "verde hooks", "continue"
    )
    assert "take: stepped inside of the program" in said
    assert "seen 150\n" in said


METHOD = """
    #include <cstdio>
    volatile int sink;
    struct Door {
        long id;
        __attribute__((noinline)) int open(int k) const { sink = sink + 1; return id * 10 + k; }
    };
    int main() {
        Door one{5}, other{6};
        Door *doors[] = {&one, &other};
        int sum = 0;
        for (int k = 0; k < 10; k++) sum += doors[k & 1]->open(k);
        std::printf("%d\\n", sum);
    }
"""
OPENED = """
    slice on door
    state init accepting {
        transition { event Door.open(this as door, k) { return k < 8 } success init failure late }
    }
    state late non-accepting
"""


def test_a_method_whose_compiler_has_changed_how_it_is_called_is_seen_by_traps():
    """It is given what its object has, and not the object."""
    program = build(METHOD, "-g", "-O2", language="c++")
    assert said_of(debug(program, OPENED)) == said_of(debug(program, OPENED, "--no-hooks"))
    assert "the compiler has changed how it is called" in at_prompt(program, OPENED, "run", "verde hooks")
