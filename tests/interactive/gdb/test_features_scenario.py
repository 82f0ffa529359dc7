"""The features of scenarios and of what they command, by their numbers in the catalogue: 45 to 51, and 60."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, debug, events

pytestmark = pytest.mark.gdb

PROGRAM = """
    int level;
    int table[4];
    void rise(int n) { level += n; table[n % 4] = n; }
    int main(void) {
        for (int i = 1; i <= 5; i++) rise(i);
        return level;
    }
"""
LEVELS = """
    initialization { total = 0 }
    state init accepting {
        transition { event rise(n) { return total + n < 7 } success { total += n } init failure high }
    }
    state high non-accepting { transition { event rise(n) success high } }
"""


def react(scenario: str, *commands: str) -> list[str]:
    """What a scenario prints about the levels: the lines that begin with `*`."""
    said = debug(build(PROGRAM), LEVELS, "verde exec set_quiet True", *(commands or ("run",)), scenario=scenario)
    return [line for line in said.splitlines() if line.startswith("*")]


def test_feature_45_reactions_run_in_the_order_of_writing_with_variables_that_last():
    found = react("""
        initialization { count = 0 }
        on entering state init { count += 1; print("* first", count) }
        on entering accepting state { print("* second", count) }
    """)
    assert found == [f"* {which} {count}" for count in range(1, 5) for which in ("first", "second")]


def test_feature_46_entering_and_leaving_states_named_or_by_kind():
    found = react("""
        on leaving state init { print("* leaving init for", new_state) }
        on entering initial state { print("* initial") }
        on leaving accepting state { print("* leaving accepting") }
        on entering non-accepting state { print("* entering high from", old_state) }
        on leaving non-accepting state { print("* leaving high") }
    """)
    loop = ["* leaving init for init", "* initial", "* leaving accepting"]
    assert found[:4] == ["* initial", *loop]
    assert sorted(found[4:]) == sorted(
        [
            *loop * 2,
            "* leaving init for high",
            "* leaving accepting",
            "* entering high from init",
            "* entering high from high",
            "* leaving high",
        ]
    )


def test_feature_47_scenarios_command_the_debugger():
    found = react("""
        on entering state high {
            print("*", execute("print level").strip())
            print("*", backtrace(1)[0])
            suspend_execution()
            after_breakpoint(lambda: print("* afterwards"))
        }
    """)
    assert found[0] == "* $1 = 6"
    assert found[1].startswith("* #0  rise (n=4)")
    assert found[2] == "* afterwards"


def test_feature_48_points_of_scenarios_call_back():
    found = react("""
        initialization {
            point = set_watchpoint("level", "w", lambda: print("* level", get("level")))
        }
        on entering non-accepting state { unset_watchpoint(point) }
    """)
    assert found == ["* level 1", "* level 3", "* level 6"]


def test_feature_49_what_a_command_gives_comes_back_to_the_scenario():
    found = react("""
        initialization { where = [] }
        on entering state init {
            where.append(get("level"))
            if len(where) == 4: print("*", where)
        }
    """)
    assert found == ["* [0, 0, 1, 3]"]


def test_feature_50_reactions_see_both_states():
    assert react("on entering state high { if old_state != new_state: print('*', old_state, new_state) }") == [
        "* init high"
    ]


def test_feature_51_stopping_at_the_second_visit():
    said = debug(
        build(PROGRAM),
        LEVELS,
        "run",
        "print n",
        scenario="""
            initialization { visits = 0 }
            on entering state high {
                visits += 1
                backtrace()
                if visits == 2: suspend_execution()
            }
        """,
    )
    assert "Stopped: the scenario of p1 stops the program here" in said
    assert said.splitlines()[-1] == "$1 = 5"
    assert len(events(said)) == 5


def test_feature_60_variables_memory_and_the_program_counter():
    found = react(
        """
        on entering state high {
            if get("n") == 4:
                set("n", 40)
                address = get("&level")
                set_memory(address, (100).to_bytes(4, "little"))
                print("*", get("n"), get("level"), get_memory(address, 4), get_pc() == get("$pc"))
        }
        """,
        "run",
        "python print('*', gdb.parse_and_eval('$_exitcode'))",
    )
    assert found == ["* 40 100 b'd\\x00\\x00\\x00' True", "* 145"]


def test_feature_60_steps_points_and_interrupts_are_the_developers_too():
    said = debug(
        build(PROGRAM),
        "state init { transition { event rise(n) success init } }",
        "break rise",
        "run",
        "set var n = 9",
        "print $pc == &rise",
        "delete",
        "watch table[1]",
        "continue",
        "delete",
        "set var $pc = $pc",
        "continue",
    )
    assert events(said)[0] == "rise{'n': 9}"
    assert "New value = 9" in said
    assert len(events(said)) == 5
