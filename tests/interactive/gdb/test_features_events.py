"""The features of events and of their values, by their numbers in the catalogue: 19 to 35."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, debug, events

pytestmark = pytest.mark.gdb

PROGRAM = """
    #define LIMIT 12
    typedef struct { int size; int *data; } list;
    int counter;
    int *shared = &counter;
    int **deep = &shared;
    int add(list *to, int n) {
        int before = to->size;
        to->size += n;
        counter = to->size;
        return before;
    }
    int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
    int main(void) {
        list mine = {3, 0};
        int mark = 55;
        add(&mine, 4);
        add(&mine, 5);
        fact(3);
        return mark - 55 + mine.size - LIMIT;
    }
"""


def watched(event: str, *commands: str, source: str = PROGRAM, flags: tuple[str, ...] = ()) -> list[str]:
    """What happens at an event that a property with one state waits for."""
    return events(debug(build(source, *flags), f"state init {{ transition {{ {event} success init }} }}", *commands))


def test_feature_19_before_a_call_is_what_call_means():
    assert watched("event add(n)") == watched("before call add(n)") == ["add{'n': 4}", "add{'n': 5}"]


def test_feature_20_after_a_call_with_its_arguments_and_result():
    assert watched("after event fact(n, ret as product)") == [
        f"fact_after{{'n': {n}, 'product': {product}}}" for n, product in ((1, 1), (2, 2), (3, 6))
    ]


@pytest.mark.parametrize("line", ["program.c:10", "10", "line 10"])
def test_feature_21_lines(line):
    assert [event.partition("{")[2] for event in watched(f"event {line}(n, before)")] == [
        "'n': 4, 'before': 3}",
        "'n': 5, 'before': 7}",
    ]


def test_feature_22_writes_have_the_old_value_before_and_the_new_one_after():
    assert watched("before event write counter(ret as value)") == [f"write_counter{{'value': {n}}}" for n in (0, 7)]
    assert watched("after event write counter(ret as value)") == [
        f"write_counter_after{{'value': {n}}}" for n in (7, 12)
    ]
    assert len(watched("event access counter()")) == 2
    assert watched("event read shared()") == []


def test_feature_23_updates_of_an_expression():
    found = watched('event update "counter * 2 + 1"(ret as old, counter)')
    assert [event.partition("{")[2] for event in found] == ["'old': 1, 'counter': 7}", "'old': 15, 'counter': 12}"]


def test_feature_24_the_end_of_the_program():
    said = debug(
        build(PROGRAM),
        "state init { transition { event #end(ret as status) success { print('ended', status) } over } }\n"
        "state over accepting",
    )
    assert "ended 0" in said
    assert "over (from init) [accepting]" in said


def test_feature_25_the_initial_state_is_told_to_the_scenario():
    said = debug(
        build(PROGRAM),
        "state init accepting { transition { event add() success init } }",
        scenario="on entering initial state { print('from', old_state, 'to', new_state) }",
    )
    assert "from None to init" in said


def test_feature_27_threads_begin_by_calls_and_system_calls_and_signals_are_caught():
    threads = """
        #include <pthread.h>
        #include <signal.h>
        #include <unistd.h>
        void *work(void *n) { return n; }
        void handle(int n) { }
        int main(void) {
            pthread_t one;
            signal(SIGUSR1, handle);
            pthread_create(&one, 0, work, (void *) 8);
            pthread_join(one, 0);
            raise(SIGUSR1);
            write(1, "out\\n", 4);
            return 0;
        }
    """
    flags = ("-g", "-pthread")
    begun = watched("event pthread_create(arg 4 as given : int)", source=threads, flags=flags)
    assert begun == ["pthread_create{'given': 8}"]


def test_feature_28_names_are_arguments_locals_globals_members_and_macros():
    assert watched("event 9(n, to, before, counter, LIMIT)")[1].endswith("'before': 7, 'counter': 7, 'LIMIT': 12}")


def test_feature_29_arguments_by_number():
    assert watched("event add(arg 2 as n)") == ["add{'n': 4}", "add{'n': 5}"]


def test_feature_30_pointees_addresses_callers_and_results():
    found = watched(
        'event add(*shared as value, &counter as place, "&counter" as same, ^mark as mark, ^^nothing as far)'
    )
    assert len(found) == 2
    first = dict(part.split(": ") for part in found[0].partition("{")[2].rstrip("}").replace("'", "").split(", "))
    assert first["value"] == "0"
    assert first["place"] == first["same"]
    assert first["mark"] == "55"
    assert first["far"] == "<unavailable>"
    assert watched("after event add(ret as was)") == ["add_after{'was': 3}", "add_after{'was': 7}"]


def test_feature_31_expressions_of_the_program():
    assert watched('event add("to->size * 10 + n" as sum)') == ["add{'sum': 34}", "add{'sum': 75}"]


def test_feature_32_expressions_in_python():
    prop = """
        initialization { import gdb
                         factor = 3 }
        state init {
            transition { event add({[n * factor] * 2} as twice, {gdb.selected_frame().name()} as function)
                         success init }
        }
    """
    assert events(debug(build(PROGRAM), prop))[0] == "add{'twice': [12, 12], 'function': 'add'}"


def test_feature_33_types():
    found = watched("event add(n : float, arg 2 as flag : bool, n as text : str)")
    assert found[0] == "add{'n': 4.0, 'flag': True, 'text': '4'}"


def test_feature_34_aliases():
    assert watched("event add(n as amount)")[0] == "add{'amount': 4}"


def test_feature_35_pointees_of_pointees():
    assert watched("event fact(**deep as value)")[0] == "fact{'value': 12}"
