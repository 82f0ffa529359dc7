"""What the panels of the live page say of a picture."""

from __future__ import annotations

import os
from dataclasses import replace
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ui import pictures

from mopsus.bus import pack, unpack
from mopsus.interactive.live.picture import Course, Picture, Place, Program, Said, Slice, Source
from mopsus.ui.live import panels


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(), ""),
        (Place("queue.c", 12, "push", "1"), "queue.c:12 in push"),
        (Place(os.path.abspath("queue.c"), 12, None, "2"), "queue.c:12, thread 2"),
        (Place(None, None, "push"), "in push"),
        (Place("/lib/libc.so"), "/lib/libc.so"),
    ],
)
def test_a_place(place, text):
    assert panels.place_text(place) == text


@pytest.mark.parametrize(
    ("program", "reason", "where"),
    [
        (Program(Course.WAITING, "p"), "", "No place in the source is known."),
        (Program(Course.STOPPED, "p", "a step", place=Place("a.c", 3)), "a step · a.c:3", "a.c:3"),
        (Program(Course.RUNNING, "p", place=Place("a.c", 3)), "", "last seen at a.c:3"),
        (Program(Course.ENDED, "p", status=0), "with 0", "No place in the source is known."),
        (Program(Course.ENDED, "p", status=-11), "by signal 11", "No place in the source is known."),
        (Program(Course.ENDED, "p", "killed"), "killed", "No place in the source is known."),
    ],
)
def test_how_the_program_stands(program, reason, where):
    assert panels.reason_text(program) == reason
    assert panels.where_text(program) == where


def test_slices_of_several_properties_are_told_apart():
    monitor = replace(pictures.door(), automata=(pictures.DOOR, pictures.SHOP))
    first = Slice("fsm", {"q": "0x5"}, "shut", 1, environment={"size": "3", "top": "None"})
    second = replace(first, property="efsm")
    rows = panels.slice_rows(replace(monitor, slices=(first, second)), panels.slice_key(second))
    assert [row["chosen"] for row in rows] == [False, True]
    assert [row["state"] for row in rows] == ["fsm: shut", "efsm: shut"]
    assert rows[0]["environment"] == "size=3, top=None"


def test_how_many_slices_there_are():
    monitor = pictures.crowd().monitors[0]
    assert panels.slice_note(monitor) == "12,345 slices; the 200 that moved last are listed"
    assert panels.slice_note(replace(monitor, inside=True)) == "12,345 slices; 200 of them are listed"
    assert panels.slice_note(pictures.door()) == "1 slice"


def test_the_newest_event_comes_first():
    rows = panels.event_rows((pictures.event(1, "a", 1), replace(pictures.event(2, "b", 2), monitor=0, time=None)))
    assert [(row["number"], row["event"], row["monitor"], row["time"]) for row in rows] == [
        (2, "b", "", ""),
        (1, "a", "#1", "0.010"),
    ]


def test_which_events_are_listed_is_told():
    assert panels.event_note(pictures.crowd()) == ""
    assert panels.event_note(pictures.running()) == "monitor #2 takes its 70,000 inside of the program"
    assert panels.event_note(replace(pictures.crowd(), event_count=9)) == "the last 0 of 9"


@given(st.lists(st.text("<>&\"' ab", max_size=12), min_size=1, max_size=5), st.data())
def test_nothing_of_the_program_s_becomes_markup(lines, data):
    current = data.draw(st.integers(10, 9 + len(lines)))
    shown = panels.source_html(Source("a.c", 10, tuple(lines), current))
    assert shown.count("<div") == len(lines) + 1
    assert shown.count("class=here") == 1
    assert all(escape(line) in shown for line in lines)
    said = panels.verdicts_html([Said(line, True, "c", explanation=tuple(lines)) for line in lines])
    assert said.count("<details") == len(lines)
    assert said.count(" open>") == 1
    assert all(escape(line.strip()) in said for line in lines)


def test_pictures_of_these_tests_are_what_debuggers_send():
    for each in (pictures.waiting(), pictures.running(), pictures.stopped(), pictures.ended(), pictures.crowd()):
        assert unpack(Picture, pack(each)) == each
