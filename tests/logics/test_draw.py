"""Drawings: what a person must be able to read off them, and that Graphviz accepts the DOT."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from logics.formulas import automata, compiled, requests

from mopsus.logics import FORMATS, LogicError, draw
from mopsus.logics.machines.draw import draw_dot, draw_mermaid, draw_text
from mopsus.logics.machines.finish import finish
from mopsus.model import Drawing, Edge, Node

MACHINE = compiled("fsm", "shut [ open -> wide ] wide [ read -> wide, close -> shut ]", "open read close peek poke")


def test_text_drawing():
    assert (
        draw(MACHINE, "text", "Door")
        == """\
Door: 3 states, starts in shut, reports fail
>  shut
       open        -> wide
       others      -> fail
   wide
       read        -> stays
       close       -> shut
       others      -> fail
 * fail [fail for good]
       every event -> stays
"""
    )


def test_text_drawing_says_what_a_state_reports():
    text = draw(compiled("ere", "a b*", "a b", "match", "fail"), "text")
    assert " * s1 [match]\n" in text
    assert " * fail [fail for good]\n" in text


def test_dot_drawing():
    dot = draw(MACHINE, "dot", 'say "door"')
    assert 'digraph "say \\"door\\"" {' in dot
    assert "start -> n0;" in dot
    assert 'n0 -> n1 [label="open"];' in dot
    assert 'n2 [label="fail\\n[fail for good]", peripheries=2];' in dot


def test_mermaid_drawing():
    mermaid = draw(MACHINE, "mermaid", "Door: one")
    assert mermaid.startswith("---\ntitle: Door#58; one\n---\nstateDiagram-v2\n")
    assert "  [*] --> n0\n" in mermaid
    assert "  n0 --> n1: open\n" in mermaid
    assert "  class n2 report\n" in mermaid


def test_an_event_called_others_is_not_confused_with_the_others():
    machine = compiled("ere", "a", "a others b c")
    assert "others, b, c" in draw(machine, "text")


def test_unknown_format_is_refused():
    with pytest.raises(LogicError, match="unknown drawing format 'gif'") as caught:
        draw(MACHINE, "gif")
    assert caught.value.code == "LOGIC-014"
    assert caught.value.hint == "there is: text, dot, mermaid"


@given(automaton=automata(), request=requests())
def test_every_transition_is_drawn_in_every_format(automaton, request):
    machine = finish(automaton, request)
    pairs = {(source, target) for source, row in enumerate(machine.table) for target in row}
    dot, mermaid = draw(machine, "dot"), draw(machine, "mermaid")
    for source, target in pairs:
        assert f"n{source} -> n{target} [" in dot
        assert f"n{source} --> n{target}: " in mermaid
    assert draw(machine, "text").count(" -> ") == len(pairs)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_the_dot():
    done = subprocess.run(["dot", "-Tsvg"], input=draw(MACHINE, "dot", 'a "b" \\ c').encode(), capture_output=True)
    assert done.returncode == 0
    assert b"<svg" in done.stdout


def test_formats_are_all_drawn():
    assert all(draw(MACHINE, form) for form in FORMATS)


DRAWING = Drawing(
    nodes=(Node("G"), Node("a", "an event", reports=True)),
    edges=(Edge(0, "", 1),),
    initial=None,
    summary="2 operators",
    remarks=("kept: 1 s", 'say "x"'),
)


def test_a_drawing_need_not_start_anywhere_nor_label_its_edges():
    assert draw_text(DRAWING, "T") == 'T: 2 operators\nkept: 1 s\nsay "x"\n   G\n        -> a\n * a [an event]\n'
    assert "start" not in draw_dot(DRAWING)
    assert 'label="kept: 1 s\\nsay \\"x\\"";' in draw_dot(DRAWING)
    mermaid = draw_mermaid(DRAWING)
    assert "[*]" not in mermaid
    assert "  n0 --> n1\n" in mermaid
    assert "  %% kept: 1 s\n" in mermaid


@pytest.mark.parametrize(
    ("logic", "formula"),
    [
        ("ere", "a b*"),
        ("fsm", "s [ a -> s ]"),
        ("ltl", "[](a => (*) b)"),
        ("ptltl", "a => (*) b"),
        ("cfg", "S -> a S b | a b"),
        ("srs", "a b -> #succeed ."),
        ("mtl", "a => <*>[0,5] b"),
    ],
)
def test_machines_of_every_kind_are_drawn_in_every_form(logic, formula):
    machine = compiled(logic, formula, "a b call return begin end")
    for form in FORMATS:
        assert draw(machine, form, logic)
    if shutil.which("dot"):
        source = draw(machine, "dot", logic).encode()
        assert subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, check=False).returncode == 0
