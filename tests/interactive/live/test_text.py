"""The terminal form of the live view."""

from __future__ import annotations

import io

import pytest

from mopsus.interactive.live.picture import Automaton, Monitor, Node, Now
from mopsus.interactive.live.text import LEGEND, draw_monitor, wants_colour
from mopsus.model import Acceptance
from mopsus.model.drawing import Edge

AUTOMATON = Automaton(
    "efsm",
    (
        Node("init", "accepting", Acceptance.ACCEPTING),
        Node("ready"),
        Node("overflow", "non-accepting", Acceptance.NON_ACCEPTING),
        Node("lost", "fail for good", Acceptance.NON_ACCEPTING),
    ),
    (Edge(0, "new", 1), Edge(1, "push [n < size]", 1), Edge(1, "push [else]", 2)),
    0,
    "4 states",
)
MONITOR = Monitor(2, "queue", (AUTOMATON,), (Now("efsm", {0: 1, 2: 1200}, (1,), (2,)),))


def test_marks_say_what_colours_say():
    assert draw_monitor(MONITOR).splitlines() == [
        "monitor #2 queue",
        "  efsm: 4 states",
        "  > init [ok]",
        "        new --> ready",
        "  < ready",
        "        push [n < size] --> stays",
        "        push [else] ==> overflow",
        "  > overflow [!]  x1,200",
        "    lost [!] [fail for good]",
        f"  ({LEGEND})",
    ]


def test_the_colours_are_those_of_the_page():
    lines = draw_monitor(MONITOR, colour=True).splitlines()
    assert lines[2] == "\x1b[1;32m  > init [ok]\x1b[0m"
    assert lines[4] == "\x1b[90m  < ready\x1b[0m"
    assert lines[6].startswith("\x1b[33m")
    assert lines[7].startswith("\x1b[1;31m  > overflow")
    assert lines[8].startswith("\x1b[31m    lost")
    assert lines[3] == "        new --> ready"


@pytest.mark.parametrize(
    ("terminal", "around", "wanted"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_only_a_terminal_that_wants_colours_gets_them(terminal, around, wanted, monkeypatch):
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in around.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(Stream()) is wanted
