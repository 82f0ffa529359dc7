"""A session over the toy machine: events, verdicts, points, stops."""

from __future__ import annotations

from interactive.sessions import start
from interactive.toy import STOP, Toy

PAIRS = """
Pairs(x) {
    event open before(x) : (line("0") || line("2")) && value(x = x)
    event close before(x) : line("7") && value(x = x)
    fsm: s0 [open -> s1] s1 [close -> s0]
    @fail {}
}
"""


def test_a_property_in_any_logic_stops_the_program():
    program = Toy([("put", "x", 1), ("put", "x", 1), ("put", "x", 2), *[("put", "y", 0)] * 5, STOP], {"x": 1, "y": 0})
    session, debugger = start(program, PAIRS)
    debugger.cont()
    assert program.pc == 2
    assert [str(verdict) for verdict in session.verdicts] == ["Pairs: fail for x=1 at toy:2"]
