"""How `.prop` files declare events: every kind of place and of value, and the names that specs give them."""

from __future__ import annotations

import pytest

from mopsus.model import Place, PlaceKind, Reading, ReadingKind
from mopsus.spec import parse_file
from mopsus.spec.debugging import formal


def spec_of(*events, head=""):
    transitions = "\n".join(f"transition {{ {event} success init }}" for event in events)
    return parse_file(f"{head}\nstate init {{\n{transitions}\n}}", "p.prop").specs["p"]


def only(event, head=""):
    (declared,) = spec_of(event, head=head).events
    (found,) = formal(declared)
    return declared, found


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        ("event queue_push()", Place(PlaceKind.CALL, "queue_push"), "queue_push"),
        ("event queue_push", Place(PlaceKind.CALL, "queue_push"), "queue_push"),
        ("before call queue_push()", Place(PlaceKind.CALL, "queue_push"), "queue_push"),
        ("after event fopen()", Place(PlaceKind.CALL, "fopen", True), "fopen_after"),
        ("event ns::Box::~Box()", Place(PlaceKind.CALL, "ns::Box::~Box"), "ns_Box_destructor"),
        ("event Class.method()", Place(PlaceKind.CALL, "Class.method"), "Class_method"),
        ('event "operator new(unsigned long)"()', Place(PlaceKind.CALL, "operator new(unsigned long)"), None),
        ("event line 12()", Place(PlaceKind.LINE, "12"), "line_12"),
        ("event 12()", Place(PlaceKind.LINE, "12"), "line_12"),
        ("event queue.c:12()", Place(PlaceKind.LINE, "queue.c:12"), "line_queue_c_12"),
        ('event line "a b.c:12"()', Place(PlaceKind.LINE, "a b.c:12"), "line_a_b_c_12"),
        ("event write counter()", Place(PlaceKind.WRITE, "counter"), "write_counter"),
        ("after event write counter()", Place(PlaceKind.WRITE, "counter", True), "write_counter_after"),
        ("event write q->size()", Place(PlaceKind.WRITE, "q->size"), "write_q_size"),
        ("event write cells[3]()", Place(PlaceKind.WRITE, "cells[3]"), "write_cells_3"),
        ('event write "board[i] + 1"()', Place(PlaceKind.WRITE, "board[i] + 1"), "write_board_i_1"),
        ("event read counter", Place(PlaceKind.READ, "counter"), "read_counter"),
        ("event access counter", Place(PlaceKind.ACCESS, "counter"), "access_counter"),
        ('event update "x + y"()', Place(PlaceKind.UPDATE, "x + y"), "update_x_y"),
        ("event syscall openat()", Place(PlaceKind.SYSCALL, "openat"), "syscall_openat"),
        ("after event syscall read()", Place(PlaceKind.SYSCALL, "read", True), "syscall_read_after"),
        ("event signal SIGUSR1()", Place(PlaceKind.SIGNAL, "SIGUSR1"), "signal_SIGUSR1"),
        ("event throw std::out_of_range()", Place(PlaceKind.THROW, "std::out_of_range"), "throw_std_out_of_range"),
        ("event catch ValueError()", Place(PlaceKind.CATCH, "ValueError"), "catch_ValueError"),
        ("event #end()", Place(PlaceKind.END), "end"),
        ("event #end", Place(PlaceKind.END), "end"),
        # words of the language that are functions of the program
        ("event write(arg 1 as fd)", Place(PlaceKind.CALL, "write"), "write"),
        ("event write", Place(PlaceKind.CALL, "write"), "write"),
        ("event signal(x)", Place(PlaceKind.CALL, "signal"), "signal"),
        ("event line(x)", Place(PlaceKind.CALL, "line"), "line"),
        # names that an event cannot have
        ("event var()", Place(PlaceKind.CALL, "var"), "call_var"),
        ("event 'yield'()", Place(PlaceKind.CALL, "yield"), "call_yield"),
    ],
)
def test_places(text, place, name):
    declared, found = only(text)
    assert found.place == place
    assert declared.name == (name or declared.name)
    assert declared.name.isidentifier()


NAME = Reading(ReadingKind.NAME, "p")


@pytest.mark.parametrize(
    ("text", "name", "reading"),
    [
        ("p", "p", NAME),
        ("p as q", "q", NAME),
        ("arg 3 as q", "q", Reading(ReadingKind.ARGUMENT, index=3)),
        ("ret", "ret", Reading(ReadingKind.RESULT)),
        ("ret as f", "f", Reading(ReadingKind.RESULT)),
        ("*p", "p", Reading(ReadingKind.POINTEE, inner=NAME)),
        ("&p as a", "a", Reading(ReadingKind.ADDRESS, inner=NAME)),
        ("^p", "p", Reading(ReadingKind.CALLER, inner=NAME)),
        (
            "^*arg 1 as x",
            "x",
            Reading(
                ReadingKind.CALLER,
                inner=Reading(ReadingKind.POINTEE, inner=Reading(ReadingKind.ARGUMENT, index=1)),
            ),
        ),
        ('"q->size" as n', "n", Reading(ReadingKind.EXPRESSION, "q->size")),
        ("{len(p)} as n", "n", Reading(ReadingKind.PYTHON, "len(p)")),
        ("p : int", "p", Reading(ReadingKind.NAME, "p", type="int")),
        ("*p as x : str", "x", Reading(ReadingKind.POINTEE, inner=NAME, type="str")),
        ("p : bytes as x", "x", Reading(ReadingKind.NAME, "p", type="bytes")),
        ("argument", "argument", Reading(ReadingKind.NAME, "argument")),
        ("returned", "returned", Reading(ReadingKind.NAME, "returned")),
    ],
)
def test_values(text, name, reading):
    declared, found = only(f"event f({text})")
    assert found.readings == {name: reading}
    assert declared.fields == (name,)


def test_values_by_which_traces_are_sliced_are_parameters_and_all_others_data():
    declared, found = only("event f(size : int, arg 1 as queue)", head="slice on queue")
    assert (declared.parameters, declared.fields) == (("queue",), ("size",))
    assert set(found.readings) == {"queue", "size"}


def test_events_that_differ_in_their_values_only_are_told():
    text = "state init {\n transition { event f(a) success s }\n}\nstate s {\n transition { event f() success init }\n}"
    found = parse_file(text, "p.prop").warnings
    assert [(each.code, each.span.line, each.span.column) for each in found] == [("SPEC-064", 5, 15)]
    assert "line 2" in found[0].message


def test_declarations_that_say_the_same_are_one_event():
    spec = spec_of("event f(a, b)", "before call f(b, a)", "event f(a)", "after event f(a)", "event f_2()")
    assert [(event.name, event.names) for event in spec.events] == [
        ("f", ("a", "b")),
        ("f_2", ("a",)),
        ("f_after", ("a",)),
        ("f_2_2", ()),
    ]
    assert spec.properties[0].formula.count("event f success") == 2
