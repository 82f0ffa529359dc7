"""Machines and tables of the MOP reference (mop.md, section named at each), with its corrections."""

from __future__ import annotations

import pytest
from logics.formulas import compiled, reported, run

from mopsus.logics import distinguish

MAP_EVENTS = "createC createI useI updateM"
MAP_PATTERN = "createC updateM* createI useI* updateM+ useI"


def sets(*texts):
    return {frozenset(text.split()) for text in texts}


def without(event, families):
    """A family without the sets that have the event itself: those of its first occurrences."""
    return {family for family in families if event not in family}


def test_unsafe_map_iterator_enable_sets_of_first_occurrences():  # §4.4
    enable = compiled("ere", MAP_PATTERN, MAP_EVENTS).enable["match"]
    assert without("createC", enable["createC"]) == sets("")
    assert without("createI", enable["createI"]) == sets("createC", "createC updateM")
    assert without("useI", enable["useI"]) == sets("createC createI", "createC createI updateM")
    assert without("updateM", enable["updateM"]) == sets("createC", "createC createI", "createC createI useI")


def test_unsafe_map_iterator_enable_sets_over_parameters():  # §4.4
    parameters = {"createC": "mc", "createI": "ci", "useI": "i", "updateM": "m"}
    enable = compiled("ere", MAP_PATTERN, MAP_EVENTS).enable["match"]

    def domains(event):
        return {frozenset("".join(parameters[each] for each in family)) for family in enable[event]}

    assert domains("createC") == {frozenset()}
    assert domains("createI") == {frozenset("mc")}
    assert domains("useI") == {frozenset("mci")}
    assert domains("updateM") == {frozenset("mc"), frozenset("mci")}


def test_unsafe_map_iterator_has_five_live_states_and_one_match():  # §4.14, corrected
    machine = compiled("ere", MAP_PATTERN, MAP_EVENTS, "match", "fail")
    assert len(machine.table) == 6
    assert sum("fail" in held for held in machine.categories) == 1
    assert sum("match" in held for held in machine.categories) == 1
    assert machine.creation == frozenset(MAP_EVENTS.split())  # `fail` can begin with any event
    assert compiled("ere", MAP_PATTERN, MAP_EVENTS).creation == {"createC"}


def test_unsafe_iterator_coenable_sets():  # §4.6
    machine = compiled("ere", "create next* update+ next", "create update next")
    parameters = {"create": "ci", "update": "c", "next": "i"}

    def domains(families):
        return {frozenset("".join(parameters[each] for each in family)) for family in families}

    coenable = machine.coenable["match"]
    assert domains(coenable["create"]) == {frozenset("ci")}
    assert domains(coenable["update"]) == {frozenset("i"), frozenset("ci")}
    assert domains(coenable["next"]) == {frozenset("ci")}


def test_unsafe_iterator_alive_sets_are_those_of_states():
    machine = compiled("ere", "create next* update+ next", "create update next")
    alive = [machine.alive[state] for state in run(machine, ["create", "next", "update", "next", "next"])]
    assert alive == [sets("create update next"), *[sets("update next")] * 2, sets("next"), set(), set()]


def test_emptiness_that_only_the_automaton_shows_fails_at_once():  # §4.14
    machine = compiled("ere", "(a a) & (a b)", "a b", "match", "fail")
    assert reported(machine, ["a", "a"]) == [{"fail"}, frozenset()]
    assert reported(machine, ["b"]) == [{"fail"}]
    assert len(machine.table) == 2  # the fail state, and one in which nothing was said yet


def test_suffix_of_a_star_b():  # §4.9
    total = compiled("ere", "a* b", "a b", "match", "fail")
    assert reported(total, "abb") == [frozenset(), {"match"}, {"fail"}]
    suffix = compiled("ere", "a* b", "a b", suffix=True)
    assert reported(suffix, "abb") == [frozenset(), {"match"}, {"match"}]


@pytest.mark.parametrize(
    "text",
    [
        "(hasnext (next | epsilon))* next next",
        "(hasnext+ next | hasnext)* next next",
        "((epsilon | ~empty hasnext) next^2 | ~empty hasnext next^3) & ~((~empty next | epsilon) next hasnext ~empty)"
        " | hasnext+ (next hasnext+)* next next (next | epsilon)",
    ],
)
def test_has_next_in_several_forms_is_one_machine(text):  # §6.1
    one = compiled("ere", "(hasnext | hasnext next)* next next", "hasnext next")
    other = compiled("ere", text, "hasnext next")
    assert distinguish(one, other, one.goal) is None
    assert (one.table, one.enable, one.coenable) == (other.table, other.enable, other.coenable)


def test_has_next_fails_in_ere_and_fsm_alike():  # §6.1
    ere = compiled("ere", "(hasnext hasnext* next)*", "hasnext next", "fail")
    fsm = compiled("fsm", "unsafe [ hasnext -> safe ] safe [ hasnext -> safe, next -> unsafe ]", "hasnext next")
    assert ere.table == fsm.table
    assert (ere.enable, ere.coenable, ere.alive, ere.final) == (fsm.enable, fsm.coenable, fsm.alive, fsm.final)


def test_has_next_machine_of_the_thesis():  # §6.1
    text = """start  [ default start, next -> unsafe, hasnext -> safe ]
              safe   [ next -> start, hasnext -> safe, dummy -> safe ]
              unsafe [ next -> unsafe, hasnext -> safe ]
              alias all_states = start, safe, unsafe
              alias safe_states = start, safe"""
    machine = compiled("fsm", text, "hasnext next dummy", "all_states", "safe_states", "unsafe", "fail")
    assert reported(machine, ["next", "hasnext", "next", "next", "dummy"]) == [
        {"all_states", "unsafe"},
        {"all_states", "safe_states"},
        {"all_states", "safe_states"},
        {"all_states", "unsafe"},
        {"fail"},
    ]
    assert len(compiled("fsm", text, "hasnext next dummy", "all_states").table) == 4
    assert machine.names == ("start", "safe", "unsafe", "fail")


SAFE_ENUM = """start       [ updateV -> start, createE -> enumCreated ]
               enumCreated [ useE -> enumCreated, updateV -> invalidEnum ]
               invalidEnum [ updateV -> invalidEnum ]"""


def test_safe_enum():  # §6.1, §4.11
    machine = compiled("fsm", SAFE_ENUM, "createE updateV useE")
    assert len(machine.table) == 4
    slices = {
        "updateV updateV": [],
        "updateV createE useE updateV useE": ["fail"],
        "updateV createE updateV useE": ["fail"],
        "createE useE": [],
    }
    for word, wanted in slices.items():
        assert [category for said in reported(machine, word.split()) for category in said] == wanted
    assert machine.creation == {"createE", "updateV", "useE"}


@pytest.mark.parametrize(
    ("expression", "machine"),
    [
        ("a b* c", "s [ a -> t ] t [ b -> t, c -> match_ ] match_ []"),
        ("(a | b)* c", "s [ a -> s, b -> s, c -> match_ ] match_ []"),
        (
            "~(a b) & ~epsilon",
            "s [ a -> t, default match_ ] t0 [ default match_ ] t [ b -> u, default match_ ]"
            " match_ [ default match_ ] u [ default match_ ] alias matching = t, t0, match_",
        ),
    ],
)
def test_one_language_is_one_machine_in_every_logic(expression, machine):
    ere = compiled("ere", expression, "a b c")
    goal = "matching" if "matching" in machine else "match_"
    fsm = compiled("fsm", machine, "a b c", goal)
    assert ere.table == fsm.table
    assert [("match" in held) for held in ere.categories] == [(goal in held) for held in fsm.categories]
    assert ere.enable["match"] == fsm.enable[goal]
    assert ere.coenable["match"] == fsm.coenable[goal]
    assert ere.alive == fsm.alive


def test_final_verdict_is_reported_once_and_a_passing_one_each_time():
    assert reported(compiled("ere", "a ~empty", "a b"), "abab") == [{"match"}, *[frozenset()] * 3]
    assert reported(compiled("ere", "a+", "a b"), "aaa") == [{"match"}] * 3


def test_verdict_of_the_empty_trace_is_reported_at_the_first_event():
    for text in ("~empty", "(a | b)*"):
        machine = compiled("ere", text, "a b")
        assert reported(machine, "ab") == [{"match"}, frozenset()]
        assert machine.names == ("start", "s0")
    assert reported(compiled("ere", "empty", "a", "fail"), "aa") == [{"fail"}, frozenset()]
    assert reported(compiled("ere", "epsilon | a ~empty", "a b"), "ab") == [{"match"}, frozenset()]


def test_reset_lets_a_failed_machine_go_on():  # §4.6, restart
    plain = compiled("fsm", "s [ a -> t ] t [ b -> s ]", "a b")
    failed = run(plain, "b")[-1]
    assert plain.alive[failed] == set()
    assert plain.final[failed] == {"fail"}
    reset = compiled("fsm", "s [ a -> t ] t [ b -> s ]", "a b", restart=frozenset({"fail"}))
    assert reset.alive[failed] == sets("a", "b")
    assert reset.final[failed] == {"fail"}  # said once, until a reset
    assert frozenset("b") in reset.enable["fail"]["a"]


def test_reset_by_another_property_is_possible_after_any_event():
    plain = compiled("ere", "a b", "a b")
    interrupted = compiled("ere", "a b", "a b", interrupted=True)
    assert plain.enable["match"]["a"] == sets("")
    assert interrupted.enable["match"]["a"] == sets("", "a", "b", "a b")
    dead = run(interrupted, "b")[-1]
    assert interrupted.alive[dead] == sets("a b")
