"""How a verdict is told, and that nothing is told that is not certain."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.model import ObjectRef, Severity, TableMachine, Verdict, WitnessEvent
from mopsus.model.text import default_message, listing, printable, show_value
from mopsus.verdict import explain, plain_text


def machine(alphabet, table, categories, initial=0, names=None):
    sets = tuple(frozenset(c) for c in categories)
    return TableMachine(
        alphabet=tuple(alphabet),
        initial=initial,
        table=tuple(map(tuple, table)),
        categories=sets,
        names=tuple(names or [f"s{state}" for state in range(len(table))]),
        goal=frozenset().union(*sets),
        final=sets,
        creation=frozenset(alphabet),
        enable={},
        coenable={},
        alive=(frozenset(),) * len(table),
    )


HASNEXT = machine(
    ["hasnext", "next"], [[1, 2], [1, 0], [2, 2]], [[], [], ["match"]], names=["unknown", "more", "error"]
)


def verdict(events, category="match", severity=Severity.ERROR, **fields):
    binding = fields.pop("binding", {"i": 17})
    witness = tuple(WitnessEvent(name, binding, None, None, row) for row, name in enumerate(events, 1))
    row = fields.pop("row", len(witness) or None)
    return Verdict(
        "HasNext", "safe", category, None, True, binding, fields.pop("location", None), None, witness, severity, row
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"location": "trace.csv:12", "row": 12}, "HasNext: match for i=17 at trace.csv row 12"),
        ({"location": "app.py:3", "row": 12}, "HasNext: match for i=17 at app.py:3 (row 12)"),
        ({"location": "app.py:3", "row": None}, "HasNext: match for i=17 at app.py:3"),
        ({"row": 12}, "HasNext: match for i=17 at row 12"),
        ({"binding": {}}, "HasNext: match"),
        ({"binding": {"a": "x", "b": None}}, "HasNext: match for a='x', b=None"),
        ({"binding": {"o": ObjectRef("list", 2, "[1, 2]")}}, "HasNext: match for o=list#2 [1, 2]"),
    ],
)
def test_default_message(fields, message):
    assert default_message(verdict((), **fields)) == message


def test_steps_in_several_traces_name_each():
    row = WitnessEvent("next", {}, "b.csv:3", None, 3)
    told = explain(
        Verdict("S", "p", "match", None, True, {}, "b.csv:3", None, (replace(row, location="a.csv:3"), row), row=3)
    )
    assert plain_text(told).splitlines() == [
        "S: match at b.csv row 3",
        "   1. next()  at a.csv row 3",
        "   2. next()  at b.csv row 3",
    ]


def test_states_and_the_way_out():
    told = explain(verdict(["hasnext", "next", "next"]), HASNEXT)
    assert [step.state for step in told.steps] == ["more", "unknown", "error"]
    assert told.remarks == ("In state `unknown`, `hasnext` would have avoided `match`.",)
    assert plain_text(told).splitlines() == [
        "HasNext: match for i=17 at row 3",
        "   1. hasnext(i=17)  at row 1  -> more",
        "   2. next(i=17)  at row 2  -> unknown",
        "   3. next(i=17)  at row 3  -> error",
        "In state `unknown`, `hasnext` would have avoided `match`.",
    ]


def test_what_only_puts_it_off_is_no_way_out():
    # After `close`, another `close` avoids nothing: the next `use` is as wrong as this one.
    used = machine(["close", "use"], [[1, 0], [1, 2], [2, 2]], [[], [], ["match"]])
    assert explain(verdict(["close", "use"]), used).remarks == ()


def test_what_has_begun_need_not_have_begun_once_more():
    table = [[1, 3, 3], [3, 3, 2], [3, 3, 3], [3, 3, 3]]  # after the beginning, anything but `lost` ends the pattern
    lost = machine(["opened", "closed", "lost"], table, [[], [], ["match"], []])
    told = explain(verdict(["opened", "lost"]), replace(lost, creation=frozenset(["opened"])))
    assert told.remarks == ("In state `s1` only `lost` gives `match`.",)
    short = machine(["opened", "lost"], [[1, 3], [3, 2], [3, 3], [3, 3]], [[], [], ["match"], []])
    assert explain(verdict(["opened", "lost"]), replace(short, creation=frozenset(["opened"]))).remarks == ()


def test_what_goes_on_with_the_pattern_or_satisfies_the_formula_is_the_way_out():
    table = [[1, 4, 4, 4], [4, 2, 4, 4], [4, 2, 0, 3], [4, 4, 4, 4], [4, 4, 4, 4]]
    lost = machine(["begin", "write", "commit", "close"], table, [[], [], [], ["match"], []])
    told = explain(verdict(["begin", "write", "close"]), replace(lost, creation=frozenset(["begin"])))
    assert told.remarks == ("In state `s2`, `commit` would have avoided `match`.",)
    # In a formula, that nothing can go wrong any more is no end of a pattern.
    until = machine(
        ["make", "configure", "run"], [[0, 1, 2], [1, 1, 1], [2, 2, 2]], [[], ["validation"], ["violation"]]
    )
    until = replace(until, truth={"violation": False, "validation": True})
    told = explain(replace(verdict(["run"]), category="violation"), until)
    assert told.remarks == ("In state `s0`, `configure` would have avoided `violation`.",)


def test_before_the_first_event_there_was_no_verdict():
    page = machine(["login", "logout", "page"], [[1, 0, 0], [1, 0, 1]], [["match"], []])
    assert explain(verdict(["page"]), page).remarks == ("In state `s0`, `login` would have avoided `match`.",)


def test_without_a_machine_only_events():
    told = explain(verdict(["next", "next"]))
    assert [step.state for step in told.steps] == [None, None]
    assert told.remarks == ()


def test_a_sink_says_that_it_was_reached_before():
    told = explain(verdict(["next", "next"]), HASNEXT)
    assert told.remarks == ("Already `match` before this `next`.",)


def test_only_one_event_gives_it():
    three = machine("abc", [[1, 0, 0], [1, 1, 1]], [[], ["match"]])
    assert explain(verdict("ba"), three).remarks == ("In state `s0` only `a` gives `match`.",)


def test_every_event_gives_it():
    doomed = machine("ab", [[1, 1], [1, 1]], [[], ["match"]])
    assert explain(verdict("a"), doomed).remarks == ("In state `s0` every event gives `match`.",)


def test_good_news_needs_no_way_out():
    assert explain(verdict(["next"], severity=Severity.NOTE), HASNEXT).remarks == ()


def test_a_witness_without_its_beginning_names_only_certain_states():
    toggle = machine("tx", [[1, 0], [0, 2], [2, 2]], [[], [], ["match"]])  # t toggles, x in s1 is the match
    told = explain(verdict("ttx"), toggle, history=3)
    assert [step.state for step in told.steps][-1] == "s2"
    assert told.steps[0].state is None  # it may have been in s2 all along
    assert told.remarks[0] == "Only the last 3 events are known."
    complete = explain(verdict("ttttx"[1:]), toggle)
    assert [step.state for step in complete.steps] == ["s1", "s0", "s1", "s2"]


@pytest.mark.parametrize("events", [["hasnext", "hasnext"], ["hasnext", "unheard-of"], []])
def test_a_machine_that_does_not_fit_is_not_quoted(events):
    told = explain(verdict(events), machine(["hasnext", "next"], [[0, 0]], [[]]))
    assert [step.state for step in told.steps] == [None] * len(events)
    assert told.remarks == ()


@st.composite
def runs(draw):
    size, letters = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    table = draw(
        st.lists(st.lists(st.integers(0, size - 1), min_size=letters, max_size=letters), min_size=size, max_size=size)
    )
    bad = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    word = draw(st.lists(st.integers(0, letters - 1), min_size=1, max_size=12))
    made = machine("abc"[:letters], table, [["match"] if b else [] for b in bad])
    return made, word, draw(st.integers(1, 12))


@given(runs())
def test_a_named_state_is_the_true_one(run):
    """Whatever part of the slice the witness keeps, no state is named that the machine was not in."""
    made, word, history = run
    states = [made.initial]
    for letter in word:
        states.append(made.table[states[-1]][letter])
    if "match" not in made.categories[states[-1]]:
        return
    kept = word[-history:]
    told = explain(verdict([made.alphabet[letter] for letter in kept]), made, history)
    for step, state in zip(told.steps, states[-len(kept) :], strict=True):
        assert step.state in (None, made.names[state])
    if len(word) < history:
        assert all(step.state is not None for step in told.steps)


@given(st.text())
def test_printable_text_is_one_harmless_line(text):
    shown = printable(text, 50)
    assert shown.isprintable()
    if text.isprintable() and len(text) <= 50:
        assert shown == text
    assert printable("\x1b[31m") == "\\x1b[31m"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (True, "True"),
        ("1", "'1'"),
        ("a\x1b", "'a\\x1b'"),
        ((), "()"),
        ((1,), "(1,)"),
        ((1, "x"), "(1, 'x')"),
        (tuple(range(20)), "(0, 1, 2, 3, 4, 5, 6, 7, …)"),
        ("x" * 1000, "'" + "x" * 80 + "'…"),
        (ObjectRef("Door", 3, "<house.Door object at 0x7f00deadbeef>"), "Door#3"),
        (ObjectRef("Door", 3, "<Door open>"), "Door#3 <Door open>"),
    ],
)
def test_values_as_shown(value, shown):
    assert show_value(value) == shown


def test_an_integer_too_long_for_decimal_is_shown_in_part():
    assert show_value(10**6000) == hex(10**6000)[:80] + "…"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "`a`"),
        (["a", "b"], "`a` or `b`"),
        (["a", "b", "c"], "`a`, `b` or `c`"),
        (list("abcdef"), "`a`, `b`, `c`, `d`, `e` or 1 other"),
        (list("abcdefg"), "`a`, `b`, `c`, `d`, `e` or 2 others"),
    ],
)
def test_listing(names, text):
    assert listing(names) == text


def test_a_printed_verdict_is_its_message():
    one = verdict(["next"])
    assert str(one) == default_message(one)


def test_no_way_out_where_there_is_one_event():
    twice = machine(("done",), [[1], [2], [2]], [[], [], ["match"]])
    assert explain(verdict(["done", "done"]), twice).remarks == ()
