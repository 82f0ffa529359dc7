"""Values at a place: by name, number, expression; converted; and what is not there."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import build, observe

from mopsus.model import Place, PlaceKind, Reading, ReadingKind

pytestmark = pytest.mark.gdb

KINDS = """
    #include <stdbool.h>
    #define LIMIT 16
    #define TWICE(x) ((x) * 2)
    typedef unsigned char byte;
    enum colour { RED, GREEN = 7 };
    struct point { int x; double y; };
    struct box { struct point corner; int sides[3]; };
    int global = -4;
    char buffer[8] = "text";
    void all(long number, double fraction, bool truth, byte small, enum colour colour, const char *text,
             struct point *pointer, struct box box, char letter) { global += number; }
    int main(void) {
        struct point p = {3, 0.5};
        struct box box = {{1, 2.5}, {4, 5, 6}};
        int outer = 99;
        all(-5, 1.25, true, 200, GREEN, "hello", &p, box, 'q');
        return outer - 99;
    }
"""


def name(text: str, wanted: str | None = None) -> Reading:
    return Reading(ReadingKind.NAME, text, type=wanted)


def expression(text: str, wanted: str | None = None) -> Reading:
    return Reading(ReadingKind.EXPRESSION, text, type=wanted)


def argument(index: int, wanted: str | None = None) -> Reading:
    return Reading(ReadingKind.ARGUMENT, index=index, type=wanted)


def around(kind: ReadingKind, inner: Reading) -> Reading:
    return Reading(kind, inner=inner)


def values(program, readings, place="all"):
    found = observe(program, {Place(PlaceKind.CALL, place): readings})
    return found[0][1]


def test_values_come_as_their_types_suggest():
    names = ["number", "fraction", "truth", "small", "colour", "box", "letter", "global", "LIMIT"]
    found = values(build(KINDS), [*map(name, names), expression("TWICE(global) + LIMIT")])
    box = {"corner": {"x": 1, "y": 2.5}, "sides": [4, 5, 6]}
    assert found == [-5, 1.25, True, 200, 7, box, ord("q"), -4, 16, 8]


def test_values_are_converted_as_asked_for():
    readings = [
        name("text", "str"),
        name("text", "bytes"),
        name("buffer", "str"),
        name("letter", "str"),
        name("number", "float"),
        name("fraction", "int"),
        name("number", "bool"),
        name("number", "str"),
        expression("(char *) 0", "str"),
    ]
    found = values(build(KINDS), readings)
    assert found[:-1] == ["hello", "b'hello'", "text", "q", -5.0, 1, True, "-5"]
    assert found[-1] == "<unavailable: the pointer is null>"


def test_numbers_pointers_addresses_and_callers():
    pointee = around(ReadingKind.POINTEE, name("pointer"))
    address = around(ReadingKind.ADDRESS, name("global"))
    caller = around(ReadingKind.CALLER, name("outer"))
    readings = [argument(1), argument(9), argument(10), pointee, address, expression("&global"), caller]
    number, letter, none, pointee_, address_, same, caller_ = values(build(KINDS), readings)
    assert (number, letter, pointee_, caller_) == (-5, ord("q"), {"x": 3, "y": 0.5}, 99)
    assert none == "<unavailable: all has 9 arguments>"
    assert address_ == same != 0


def test_what_is_not_there_is_unavailable():
    readings = [
        name("nonsense"),
        expression("*(int *) 8"),
        Reading(ReadingKind.RESULT),
        around(ReadingKind.ADDRESS, expression("global + 1")),
    ]
    assert values(build(KINDS), readings) == [
        '<unavailable: No symbol "nonsense" in current context.>',
        "<unavailable: Cannot access memory at address 0x8>",
        "<unavailable: there is no result here>",
        "<unavailable: it has no address>",
    ]


def test_an_argument_that_was_optimised_out_is_unavailable_not_wrong():
    program = build(
        """
        static __attribute__((noinline)) int used(int kept, int dropped) { __asm__(""); return kept * 3; }
        int main(int count, char **words) { return used(count, count + 41) - 3; }
        """,
        "-g",
        "-O2",
    )
    kept, dropped = values(program, [name("kept"), name("dropped")], "used")
    assert kept == 1
    assert dropped == 42 or str(dropped).startswith("<unavailable")


def test_functions_without_debug_information_have_arguments_by_number():
    program = build(
        """
        #include <stdio.h>
        long many(long a, const char *b, long c, long d, long e, long f, long g, long h) { return a + h; }
        int main(void) { printf("%ld\\n", many(-1, "two", 3, 4, 5, 6, 7, -8)); return 0; }
        """,
        "-O0",
    )
    readings = [argument(1), argument(2, "str"), argument(6), argument(7), argument(8)]
    place, after = Place(PlaceKind.CALL, "many"), Place(PlaceKind.CALL, "many", after=True)
    found = observe(program, {place: readings, after: [argument(8), Reading(ReadingKind.RESULT)]})
    assert found[0] == ("call many", [-1, "two", 6, 7, -8])
    assert found[1] == ("after call many", [-8, -9])


def test_results_of_every_kind_of_type():
    program = build("""
        #include <complex.h>
        typedef struct { int a; double b; } mixed;
        typedef struct { float a, b; double c; } floats;
        typedef struct { long a[5]; } large;
        typedef struct { char c[3]; } odd;
        typedef union { double d; long l; } both;
        signed char small(void) { return -3; }
        unsigned wide(void) { return 4000000000u; }
        float single(void) { return 0.5f; }
        double number(void) { return -2.5; }
        long double longer(void) { return 1.5L; }
        char *text(void) { return "done"; }
        void nothing(void) {}
        mixed m(void) { mixed r = {1, 2.5}; return r; }
        floats f(void) { floats r = {1, 2, 3}; return r; }
        large l(void) { large r = {{1, 2, 3, 4, 5}}; return r; }
        odd o(void) { odd r = {{7, 8, 9}}; return r; }
        both b(void) { both r = {.l = 77}; return r; }
        int main(void) { small(); wide(); single(); number(); longer(); text(); nothing(); m(); f(); l(); o(); b(); }
    """)
    names = ["small", "wide", "single", "number", "longer", "text", "nothing", "m", "f", "l", "o"]
    places = {
        Place(PlaceKind.CALL, each, after=True): [Reading(ReadingKind.RESULT, type="str" if each == "text" else None)]
        for each in names
    }
    found = {where.removeprefix("after call "): got[0] for where, got in observe(program, places)}
    assert {each: found[each] for each in names} == {
        "small": -3,
        "wide": 4000000000,
        "single": 0.5,
        "number": -2.5,
        "longer": 1.5,
        "text": "done",
        "nothing": None,
        "m": {"a": 1, "b": 2.5},
        "f": {"a": 1.0, "b": 2.0, "c": 3.0},
        "l": {"a": [1, 2, 3, 4, 5]},
        "o": {"c": [7, 8, 9]},
    }


def test_results_of_classes_that_are_returned_in_memory_are_not_guessed():
    program = build(
        """
        struct Plain { int a, b; };
        struct Counted { long *count; Counted(long *c) : count(c) {} Counted(const Counted &o) : count(o.count) {}
                         ~Counted() {} };
        long number = 5;
        Plain plain() { return {1, 2}; }
        Counted counted() { return Counted(&number); }
        long &reference() { return number; }
        struct Thing { int factor = 4; int times(int n) { return n * factor; } };
        namespace deep { int inside(int n) { return n; } }
        int main() { plain(); counted(); reference(); Thing thing; thing.times(3); deep::inside(8); }
        """,
        language="c++",
    )
    result = Reading(ReadingKind.RESULT)
    found = observe(
        program,
        {
            **{Place(PlaceKind.CALL, each, after=True): [result] for each in ("plain", "counted", "reference")},
            Place(PlaceKind.CALL, "Thing.times"): [argument(1), name("factor"), expression("this->factor")],
            Place(PlaceKind.CALL, "deep::inside"): [argument(1)],
        },
    )
    plain, counted, reference, method, inside = found[:5]
    assert plain == ("after call plain", [{"a": 1, "b": 2}])
    assert str(counted[1][0]).startswith("<unavailable")
    assert reference == ("after call reference", [5])
    assert method == ("call Thing.times", [3, 4, 4])
    assert inside == ("call deep::inside", [8])
