"""Properties are printed so that reading gives them back, with every comment, and printing again changes nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec.prop.trees import automata

from mopsus.model import Property, Spec
from mopsus.spec import format_file, parse_file, print_spec
from mopsus.spec.debugging import formal
from mopsus.spec.errors import Findings
from mopsus.spec.prop.events import make_event, name_events
from mopsus.spec.prop.printer import print_file, print_formula
from mopsus.spec.prop.reader import read_formula, read_property
from mopsus.spec.source import Source

RANDOM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
WHOLE = """\
# what it is about
slice on q  # each queue

# where it begins
initialization { n = 0 }
state init accepting {  # nothing yet
    # made
    transition {
        # the call
        after event make(ret as q, "q->size" as size : int) {
            return q != 0  # it may fail
        }
        # fine
        success { n = size } ready  # go on
        failure broken
        # that is all
    }
    # no more
}
state ready import transitions from state init { transition { event #end() success { } } }
state broken non-accepting final report()
# the end
"""


def read(text):
    findings = Findings(Source(text, "p.prop"))
    automaton = read_property(findings)
    assert not findings.errors, findings.errors
    return automaton


@settings(RANDOM, max_examples=100)
@given(automata)
def test_a_printed_file_reads_as_what_was_printed(automaton):
    text = print_file(automaton, "")
    again = read(text)
    assert again == automaton, text
    assert print_file(again, text) == text


@settings(RANDOM, max_examples=60)
@given(automata)
def test_the_events_of_a_file_are_those_of_the_spec_that_it_stands_for(automaton):
    """Pointcuts can be written in a `.mop` file, and mean the same places and values there."""
    names = name_events(automaton)
    events = {names[each.event]: each.event for each in automaton.transitions()}
    for name, declared in events.items():
        event = make_event(name, declared, (), None)
        text = print_spec(Spec("S", events=(event,), properties=(Property("ere", "ere", name),)))
        assert parse_file(text, "s.mop").specs["S"].events == (event,)
        (found,) = formal(event)
        assert found.place == declared.place
        assert found.readings == {str(value.name): value.reading for value in declared.values}


@settings(RANDOM, max_examples=60)
@given(automata)
def test_a_formula_reads_as_the_states_of_its_file_with_events_by_name(automaton):
    names = name_events(automaton)
    text, places = print_formula(automaton, names.__getitem__)
    assert len(places) == len(text)
    findings = Findings(Source(text, ""))
    formula = read_formula(findings)
    assert not findings.errors, text
    assert [str(each.event) for each in formula.transitions()] == [
        names[each.event] for each in automaton.transitions()
    ]
    assert print_formula(formula, str)[0] == text


@settings(RANDOM, max_examples=60)
@given(automata)
def test_every_word_of_a_formula_knows_its_place_in_the_file(automaton):
    text = print_file(automaton, "")
    automaton = read(text)
    formula, places = print_formula(automaton, name_events(automaton).__getitem__)
    again = read_formula(Findings(Source(formula, "")))
    for copy, state in zip(again.states, automaton.states, strict=True):
        assert places[copy.name.start] == state.name.start
    for copy, block in zip(blocks_of(again), blocks_of(automaton), strict=True):
        assert not block.text or places[copy.starts[0]] == block.starts[0]


def blocks_of(automaton):
    yield from filter(None, [automaton.initialization])
    for transition in automaton.transitions():
        yield from filter(None, [transition.guard])
        yield from (end.block for _, end in transition.ends() if end.block is not None)


def test_comments_go_before_what_they_stand_before_or_beside():
    assert format_file(WHOLE, "p.prop") == (
        "# what it is about\n"
        "# each queue\n"
        "slice on q\n"
        "\n"
        "# where it begins\n"
        "initialization { n = 0 }\n"
        "\n"
        "# nothing yet\n"
        "state init accepting {\n"
        "    # made\n"
        "    transition {\n"
        "        # the call\n"
        '        after event make(ret as q, "q->size" as size : int) {\n'
        "            return q != 0  # it may fail\n"
        "        }\n"
        "        # fine\n"
        "        # go on\n"
        "        success { n = size } ready\n"
        "        failure broken\n"
        "    }\n"
        "    # that is all\n"
        "    # no more\n"
        "}\n"
        "\n"
        "state ready import transitions from state init {\n"
        "    transition { event #end() success { } }\n"
        "}\n"
        "\n"
        "state broken non-accepting final report()\n"
        "\n"
        "# the end\n"
    )


@settings(RANDOM, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(("\n", " "))), max_size=6))
def test_no_comment_is_lost_wherever_it_stands(places):
    """Comments are put between tokens of the text, at the ends of lines or on lines of their own."""
    bare = re.sub(r"\s*return q != 0\s*", " return q != 0 ", re.sub(r"#(?!end)[^\n]*", "", WHOLE))
    gaps = [match.start() for match in re.finditer(r"\n", bare)]
    text = bare
    chosen = sorted(((gaps[place % len(gaps)], lead) for place, lead in places), reverse=True)
    for number, (gap, lead) in enumerate(chosen):
        text = text[:gap] + f"{lead}# remark {number}" + text[gap:]
    printed = format_file(text, "p.prop")
    assert sorted(re.findall(r"# remark \d", printed)) == sorted(re.findall(r"# remark \d", text))
    assert format_file(printed, "p.prop") == printed
    assert parse_file(printed, "p.prop").specs == parse_file(bare, "p.prop").specs


@pytest.mark.parametrize("text", [WHOLE, WHOLE.replace("\n", "\r\n")])
def test_a_property_is_a_spec_that_a_mop_file_can_hold(text):
    spec = parse_file(text, "p.prop").specs["p"]
    assert parse_file(print_spec(spec), "p.mop").specs["p"] == spec
