"""Scenario files: every construct, every fault at its place, and nothing worse than an error whatever the text."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.interactive.scenario.model import Moment, Sort
from mopsus.interactive.scenario.syntax import load_scenario, parse_scenario
from mopsus.model import Acceptance
from mopsus.spec import SpecError
from mopsus.spec.source import Source

TEXT = """\
# what to do
initialization {
    last = None
    zoomed = False
}
on entering accepting state { last = checkpoint() }
on entering non-accepting state {
    if zoomed: suspend_execution()  # } is no end
    else:
        zoomed = True
}
on leaving state opened { print("}") }
on entering initial state { }
"""


def test_every_construct():
    scenario = parse_scenario(TEXT, "s.scn")
    assert scenario.initialization.text == "last = None\nzoomed = False"
    assert [(each.moment, each.sort, each.state) for each in scenario.reactions] == [
        (Moment.ENTERING, Sort.ACCEPTING, ""),
        (Moment.ENTERING, Sort.NON_ACCEPTING, ""),
        (Moment.LEAVING, Sort.NAMED, "opened"),
        (Moment.ENTERING, Sort.INITIAL, ""),
    ]
    assert scenario.reactions[0].code.text == "last = checkpoint()"
    assert scenario.reactions[1].code.text.startswith("if zoomed: suspend_execution()  # } is no end\nelse:")
    assert (scenario.reactions[1].code.span.line, scenario.reactions[1].code.span.column) == (8, 5)
    assert scenario.reactions[3].code.text == "pass"


def test_a_scenario_without_anything_reacts_to_nothing(tmp_path):
    file = tmp_path / "empty.scn"
    file.write_text("# nothing\n")
    scenario = load_scenario(file)
    assert (scenario.initialization, scenario.reactions, scenario.file) == (None, (), str(file))


@pytest.mark.parametrize(
    ("target", "concerned"),
    [
        ("state bad", {"bad"}),
        ("accepting state", {"init"}),
        ("non-accepting state", {"bad", "worse"}),
        ("initial state", {"init"}),
    ],
)
def test_the_states_that_a_reaction_is_about(target, concerned):
    states = {
        "init": Acceptance.ACCEPTING,
        "other": Acceptance.NEUTRAL,
        "bad": Acceptance.NON_ACCEPTING,
        "worse": Acceptance.NON_ACCEPTING,
    }
    (reaction,) = parse_scenario(f"on entering {target} {{ }}").reactions
    assert {name for name, acceptance in states.items() if reaction.concerns(name, acceptance)} == concerned


def test_states_that_the_property_does_not_have_are_told():
    scenario = parse_scenario("on entering state opend { }\non leaving state init { }", "s.scn")
    (found,) = scenario.unknown_states({"init", "opened"})
    assert (found.code, found.span.line, found.hint, found.warning) == ("DEBUG-020", 1, "did you mean 'opened'?", True)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("§entering state x { }", ["SPEC-001"]),
        ("on §enter state x { }", ["SPEC-001"]),
        ("on entering state §{ }", ["SPEC-001"]),
        ("on entering accepting §{ }", ["SPEC-001"]),
        ("on entering accepting state§", ["SPEC-001"]),
        ("on entering accepting state §{ x = 1", ["SPEC-003"]),
        ("on entering state x { a = §= 1 }\non leaving state y { §def }", ["SPEC-006", "SPEC-006"]),
        ("on entering state x { if y: §return }", ["SPEC-006"]),
        ("on entering state x { }\n§initialization { }\non §x", ["SPEC-001", "SPEC-001"]),
    ],
)
def test_faults_have_their_places(text, codes):
    pieces = text.split("§")
    source = Source("".join(pieces), "")
    places = [source.span(sum(map(len, pieces[: k + 1])), 0) for k in range(len(pieces) - 1)]
    with pytest.raises(SpecError) as caught:
        parse_scenario(source.text)
    found = [(each.code, each.span.line, each.span.column) for each in caught.value.diagnostics]
    assert [code for code, *_ in found] == codes
    lines = [(place.line, place.column) for place in places]
    # Python itself says where in a line it stumbles, which differs from version to version.
    assert [each[1:] if each[0] != "SPEC-006" else each[1:2] for each in found] == [
        place if code != "SPEC-006" else place[:1] for code, place in zip(codes, lines, strict=True)
    ]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SpecError) as caught:
        load_scenario(tmp_path / "none.scn")
    assert caught.value.code == "SPEC-029"


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, len(TEXT)),
    st.integers(0, 40),
    st.sampled_from(["", "{", "}", "#", '"', "'''", "on ", "state ", "\0", "é", "\n"]) | st.text(max_size=3),
)
def test_damaged_scenarios(start, length, filling):
    text = TEXT[:start] + filling + TEXT[start + length :]
    with contextlib.suppress(SpecError):
        parse_scenario(text)
