"""The automata of a session for a terminal: the listing of `mopsus draw`, with where its slices are.

The colours are those of the view in the browser, and every colour has a mark beside it, for terminals without.
"""

from __future__ import annotations

import os
from typing import TextIO

from mopsus.interactive.live.picture import Automaton, Monitor, Node, Now
from mopsus.model import Acceptance
from mopsus.model.text import printable

_GREEN, _RED, _LIGHT_RED, _BROWN, _GREY, _BOLD = "1;32", "1;31", "31", "33", "90", "1"
LEGEND = "> is in this state, < was before the last change, ==> was taken last, [!] not accepting, [ok] accepting"


def draw_monitor(monitor: Monitor, *, colour: bool = False) -> str:
    """Every automaton of a monitor with its current states, the last transition and the states before it."""
    parts = [
        "\n".join(_automaton(automaton, now, colour))
        for automaton, now in zip(monitor.automata, monitor.now, strict=True)
    ]
    return "\n".join([f"monitor #{monitor.number} {monitor.spec}", *parts, f"  ({LEGEND})"])


def wants_colour(stream: TextIO | None) -> bool:
    """Is it a terminal whose reader has not asked for none?"""
    return (
        stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def _automaton(automaton: Automaton, now: Now, colour: bool) -> list[str]:
    lines = [f"  {automaton.property}: {automaton.summary}", *(f"  {remark}" for remark in automaton.remarks)]
    for number, node in enumerate(automaton.nodes):
        lines.append(_node(number, node, now, colour))
        for position, edge in enumerate(automaton.edges):
            if edge.source == number:
                taken = position in now.taken
                target = "stays" if edge.target == number else printable(automaton.nodes[edge.target].name)
                line = f"        {printable(edge.label)} {'==>' if taken else '-->'} {target}"
                lines.append(_paint(line, _BROWN if taken else "", colour))
    return lines


def _node(number: int, node: Node, now: Now, colour: bool) -> str:
    count = now.counts.get(number, 0)
    mark = ">" if count else "<" if number in now.previous else " "
    sign = {Acceptance.ACCEPTING: " [ok]", Acceptance.NON_ACCEPTING: " [!]", Acceptance.NEUTRAL: ""}[node.acceptance]
    note = f" [{printable(node.note)}]" if node.note and node.note != node.acceptance else ""
    slices = f"  x{count:,}" if count > 1 else ""
    return _paint(f"  {mark} {printable(node.name)}{sign}{note}{slices}", _colour(number, node, now), colour)


def _colour(number: int, node: Node, now: Now) -> str:
    if number in now.counts:
        return {Acceptance.ACCEPTING: _GREEN, Acceptance.NON_ACCEPTING: _RED, Acceptance.NEUTRAL: _BOLD}[
            node.acceptance
        ]
    if number in now.previous:
        return _GREY
    return _LIGHT_RED if node.acceptance is Acceptance.NON_ACCEPTING else ""


def _paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code and colour else text
