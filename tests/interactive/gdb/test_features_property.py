"""The features of properties, by their numbers in the catalogue of interactive runtime verification: 1 to 17."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, debug, events

pytestmark = pytest.mark.gdb

STEPS = """
    int last;
    void step(int n) { last = n; }
    void done(int code) { last = code; }
    int main(void) { for (int i = 1; i <= 4; i++) step(i); done(7); return 0; }
"""
TWO = """
    #include <stdlib.h>
    typedef struct { int count; } box;
    box *make(int room) { return calloc(1, sizeof(box)); }
    void put(box *target, int what) { target->count++; }
    void drop(box *old) { free(old); }
    int main(void) {
        box *a = make(2), *b = make(1);
        put(a, 10); put(b, 20); put(a, 11);
        drop(a);
        put(b, 21);
        return 0;
    }
"""


def steps(prop: str, *commands: str, **more: str) -> str:
    return debug(build(STEPS), prop, *commands, **more)


def test_feature_01_states_guards_two_ends_and_variables():
    said = steps("""
        initialization { total = 0 }
        state init accepting {
            transition { event step(n) { return total + n < 6 }
                         success { total += n } init
                         failure { print("too much:", total, n) } full }
        }
        state full non-accepting
    """)
    assert "too much: 3 3" in said
    assert "Stopped: p1: full" in said
    assert "total: 3" in said


def test_feature_02_the_state_init_is_needed():
    said = steps("state start { transition { event step(n) success start } }\nstate initial {}")
    assert "init" in said
    assert "error" in said.lower() or "no state" in said


def test_feature_03_states_are_accepting_or_not_or_neither():
    said = steps(
        "state init accepting { transition { event step(n) success middle } }\n"
        "state middle { transition { event step(n) success bad } }\n"
        "state bad non-accepting"
    )
    marks = [line.split(": ", 1)[1] for line in said.splitlines() if line.startswith("  Slice 0")]
    assert marks == ["middle (from init)", "bad (from middle) [non-accepting]"]


def test_feature_04_a_slice_in_a_final_state_is_forgotten():
    said = debug(
        build(TWO),
        """
        slice on b
        state init accepting { transition { after event make(ret as b) success live } }
        state live { transition { event drop(arg 1 as b) success gone } }
        state gone accepting final
        """,
        "break 12",
        "run",
        "verde exec get_current_states",
    )
    assert said.splitlines()[-1] in ("{'init', 'live'}", "{'live', 'init'}")


def test_feature_05_arriving_in_a_state_calls_its_function():
    said = steps(
        "state init { transition { event done() success end } }\nstate end accepting arrived()",
        functions='def arrived(): print("arrived!")',
    )
    assert "arrived!" in said


def test_feature_06_taking_an_end_calls_its_function():
    said = steps(
        """
        state init {
            transition { event step(n) { return n > 3 } success large() init failure small() init }
        }
        """,
        functions='def large(): print("large")\ndef small(): print("small")',
    )
    assert [line for line in said.splitlines() if line in ("large", "small")] == ["small"] * 3 + ["large"]


def test_feature_07_initialization_may_import_modules_and_gdb():
    said = steps("""
        initialization {
            import math
            import gdb
            root = math.isqrt(17)
        }
        state init { transition { event done() success { print("root", root, gdb.parse_and_eval("last")) } } }
    """)
    assert "root 4 4" in said


def test_feature_08_guards_say_yes_no_or_nothing():
    said = steps("""
        initialization { seen = [] }
        state init {
            transition { event step(n) { return None if n == 1 else n % 2 == 0 }
                         success { seen.append(("yes", n)) }
                         failure { seen.append(("no", n)) } }
            transition { event done() success { print(seen) } }
        }
    """)
    assert "[('yes', 2), ('no', 3), ('yes', 4)]" in said


def test_feature_09_guards_blocks_and_destinations_may_be_left_out():
    said = steps("""
        initialization { count = 0 }
        state init {
            transition { event step() { count < 99 } success { count += 1 } }
            transition { event done() success over }
        }
        state over accepting
    """)
    assert "over (from init) [accepting]" in said
    assert "count: 4" in said


def test_feature_10_a_block_may_return_the_destination():
    said = steps("""
        state init { transition { event step(n) success { return "high" if n > 2 else "low" } init } }
        state low { transition { event step(n) success { return "high" if n > 2 else "low" } low } }
        state high non-accepting
    """)
    assert "high (from low) [non-accepting]" in said


def test_feature_11_a_state_imports_the_transitions_of_another():
    said = steps("""
        state init { transition { event step(n) { return n == 2 } success second  failure init } }
        state second import transitions from state init {
            transition { event done() success over }
        }
        state over accepting
    """)
    # The transition of `init` leads back to it from there, too.
    assert "init (from second)" in said


def test_feature_12_comments():
    said = steps("""
        # nothing to see
        state init {   # nor here
            transition { event done()  # or here
                         success over }
        }
        state over accepting
    """)
    assert "over (from init)" in said


def test_feature_13_code_prints_and_runs_commands_of_the_debugger():
    said = steps("""
        initialization { import gdb }
        state init { transition { event done() success { print("now:"); gdb.execute("backtrace") } } }
    """)
    _, _, after = said.partition("now:\n")
    assert after.startswith("#0  done (code=7) at program.c:4")


@pytest.mark.parametrize("how", ["with the property", "afterwards"])
def test_feature_14_functions_come_from_files(how, tmp_path):
    functions = tmp_path / "names.py"
    functions.write_text('def show(): print("shown")\n')
    prop = tmp_path / "p.prop"
    prop.write_text("state init { transition { event done() success show() } }")
    lines = [f"verde load-property {prop} {functions}"]
    if how == "afterwards":
        lines = [f"verde load-property {prop}", f"verde load-functions {functions}"]
    from interactive.gdb.programs import START, run_gdb

    assert "shown" in run_gdb(build(STEPS), [f"source {START}", *lines, "run"])


def test_feature_15_several_monitors_each_on_its_own():
    said = debug(
        build(STEPS),
        [
            "state init { transition { event step(n) { return n == 2 } success two } }\nstate two non-accepting",
            "state init { transition { event step(n) { return n == 3 } success three } }\nstate three non-accepting",
        ],
        "run",
        "verde exec get_current_states",
        "verde set-current 1",
        "verde exec get_current_states",
        "continue",
    )
    assert said.index("{'init'}") < said.index("{'two'}") < said.index("Stopped: p2: three")
    assert events(said)[:2] == ["step{'n': 1}", "step{'n': 1}"]


def test_feature_16_slices_inherit_what_their_parent_had():
    said = debug(
        build(TWO),
        """
        slice on b
        initialization { room = 0
                         used = 0 }
        state init { transition { after event make(ret as b, room as size) success { room = size } open } }
        state open {
            transition { event put(arg 1 as b) { return used < room } success { used += 1 } failure overfull }
        }
        state overfull non-accepting
        """,
    )
    assert "Stopped: p1: overfull for b=" in said
    assert "at program.c:5" in said
    assert len(events(said)) == 6


def test_feature_17_one_object_under_different_names():
    said = debug(
        build(TWO),
        """
        slice on b
        state init { transition { after event make(ret as b) success live } }
        state live {
            transition { event put(target as b, what) success { print("put", what) } }
            transition { event drop(old as b) success gone }
        }
        state gone final
        """,
    )
    assert [line for line in said.splitlines() if line.startswith("put ")] == ["put 10", "put 20", "put 11", "put 21"]
