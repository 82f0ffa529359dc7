"""String rewriting: the definition, the automaton, the two strategies, and what is found out before a system runs.

Sections are those of the MOP reference (mop.md); [E] marks an error of the thesis that it corrects.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given
from logics.formulas import run
from logics.rewriting_systems import (
    ALPHABET,
    EQUALITY,
    EQUALITY_EVENTS,
    SAFE_LOCK,
    SAFE_LOCK_EVENTS,
    SORTING,
    systems,
    words,
)

from mopsus.logics import FormulaError, Request, draw, load_logic
from mopsus.logics.srs import compile as srs_compile
from mopsus.logics.srs.matcher import Matcher
from mopsus.logics.srs.reference import normal_form
from mopsus.logics.srs.rewriting import Budget, Exhausted, Rules, rewrite, rewrite_scanning
from mopsus.logics.srs.syntax import parse_system, print_system
from mopsus.model import RewriteMachine, TableMachine

STRATEGIES = {"srs": rewrite, "srs_scan": rewrite_scanning}


def compiled(text, events, *goal, logic="srs", **more):
    plugin = load_logic(logic)
    alphabet = tuple(events.split()) if isinstance(events, str) else events
    return plugin.compile(plugin.parse(text, alphabet), Request(alphabet, frozenset(goal or ("fail",)), **more))


def codes(machine):
    return [remark.code for remark in machine.remarks]


def after(system, word, rewriter):
    """The string, or the verdict, after a word of events."""
    rules = Rules(system)
    string = ()
    for event in word:
        result = rewriter(rules, (rules.start, *string, rules.symbols.index(event), rules.end), Budget(10_000, 10_000))
        if isinstance(result, str):
            return result
        string = result[1:-1]
    return tuple(rules.symbols[symbol] for symbol in string)


@pytest.mark.parametrize("logic", STRATEGIES)
@given(system=systems(), word=words)
def test_rewriting_is_that_of_the_definition(logic, system, word):
    assert after(system, word, STRATEGIES[logic]) == normal_form(system, word, scanning=logic == "srs_scan")


@pytest.mark.parametrize("logic", STRATEGIES)
@given(system=systems(), word=words)
def test_a_table_has_the_categories_of_the_definition(logic, system, word):
    plugin = load_logic(logic)
    machine = plugin.compile(system, Request(ALPHABET, frozenset({"succeed", "fail"})))
    if isinstance(machine, TableMachine):
        for length, state in enumerate(run(machine, word)[1:], 1):
            found = machine.categories[state] & machine.goal
            assert found == plugin.reference(system, ALPHABET, word[:length]) & machine.goal


@given(system=systems(), word=words)
def test_strategies_agree_where_no_finding_says_otherwise(system, word):
    """Newman's lemma: without open critical pairs, and without rules that starve, there is one normal form."""
    machine = load_logic("srs").compile(system, Request(ALPHABET, frozenset({"fail"})))
    decides = any(rule.verdict for rule in system.rules)
    if not machine.remarks and not decides:
        assert normal_form(system, word) == normal_form(system, word, scanning=True)


@given(system=systems())
def test_printing_and_parsing_give_the_system_back(system):
    again = parse_system(print_system(system), ALPHABET)
    assert again.rules == system.rules


def test_events_that_decide_are_never_missed():
    """Whatever word leads to a verdict, its last event is one that the machine waits for."""
    system = parse_system(SAFE_LOCK, SAFE_LOCK_EVENTS)
    waited = compiled(SAFE_LOCK, SAFE_LOCK_EVENTS).alive
    assert waited == {frozenset({"end"}), frozenset({"release"})}
    for word in product(SAFE_LOCK_EVENTS, repeat=4):
        if normal_form(system, word) == "fail" and normal_form(system, word[:-1]) != "fail":
            assert frozenset({word[-1]}) in waited


@given(system=systems(), word=words)
def test_events_that_decide_are_never_missed_in_any_system(system, word):
    rules = Rules(system)
    decided = srs_compile._decided(rules, ALPHABET)
    for scanning in (False, True):
        for length in range(1, len(word) + 1):
            now = normal_form(system, word[:length], scanning=scanning)
            before = normal_form(system, word[: length - 1], scanning=scanning)
            if isinstance(now, str) and not isinstance(before, str):
                assert now in decided[word[length - 1]]


# §4.18: the automaton


def step(matcher, state, symbol):
    """One move of the automaton as the thesis draws it: the next state, and how far the first cursor goes."""
    if symbol in matcher.forward[state]:
        return matcher.forward[state][symbol], 0
    if state == 0:
        return 0, 1
    return matcher.fail[state], matcher.depth[state] - matcher.depth[matcher.fail[state]]


def test_golden_1_the_automaton_of_locks_reads_begin_begin_acquire_begin_end():  # §4.18
    system = parse_system(SAFE_LOCK, SAFE_LOCK_EVENTS)
    rules = Rules(system)
    matcher, number = rules.matcher, {symbol: k for k, symbol in enumerate(rules.symbols)}
    moves = []
    state = first = 0
    for symbol in ["begin", "begin", "acquire", "begin", "end"]:
        while True:
            before = state
            state, action = step(matcher, state, number[symbol])
            first += action
            moves.append((before, symbol, state, first))
            if before == 0 or action == 0:
                break
    assert moves == [
        (0, "begin", 1, 0),
        (1, "begin", 0, 1),
        (0, "begin", 1, 1),
        (1, "acquire", 0, 2),
        (0, "acquire", 3, 2),
        (3, "begin", 0, 3),
        (0, "begin", 1, 3),
        (1, "end", 2, 3),
    ]
    assert matcher.match[2] == 0


def test_fail_of_a_state_is_its_longest_end_that_begins_a_left_side():  # §4.18 [E]
    matcher = Matcher([(1, 0, 0), (0, 0, 2)], 3)  # b a a, a a c
    baa, aa = 3, 5
    assert (matcher.depth[baa], matcher.depth[aa]) == (3, 2)
    assert matcher.fail[baa] == aa  # without the last step of the computation it would be the state of `a`
    assert matcher.depth[baa] - matcher.depth[matcher.fail[baa]] == 1


def test_a_backward_move_to_the_first_state_examines_the_symbol_again():  # §4.18 [E]
    system = parse_system("a b -> #fail . b c -> #succeed .", ALPHABET)
    assert all(after(system, ["a", "a", "b"], rewriter) == "fail" for rewriter in STRATEGIES.values())


@pytest.mark.parametrize("rewriter", STRATEGIES.values())
def test_a_match_on_the_last_symbol_is_seen(rewriter):  # §4.18 [E]
    system = parse_system("a b -> c .", ALPHABET)
    rules = Rules(system)
    assert rewriter(rules, (2, 0, 1), Budget(9, 9)) == (2, 2)  # and the splice takes exactly `a b`


@pytest.mark.parametrize("rewriter", STRATEGIES.values())
def test_matching_starts_afresh_after_a_replacement(rewriter):  # §4.18 [E]
    system = parse_system("a b -> c . c a -> b .", ALPHABET)
    assert after(system, ["a", "b", "a", "a", "b"], rewriter) == ("b", "c")


@pytest.mark.parametrize("rewriter", STRATEGIES.values())
def test_a_left_side_inside_a_longer_one_is_seen(rewriter):  # §4.18, output links
    system = parse_system("a b -> #fail . x a b c -> #succeed .", ("a", "b", "c", "x"))
    assert after(system, ["x", "a", "b"], rewriter) == "fail"


def test_golden_2_the_monitor_of_locks():  # §4.18
    system = parse_system(SAFE_LOCK, SAFE_LOCK_EVENTS)
    word = ["begin", "end", "begin", "acquire", "release", "acquire", "end"]
    strings = ["begin", "", "begin", "begin acquire", "begin", "begin acquire", "fail"]
    for rewriter in STRATEGIES.values():
        for length, string in enumerate(strings, 1):
            expected = string if string == "fail" else tuple(string.split())
            assert after(system, word[:length], rewriter) == expected


def test_strategies_agree_on_all_words_of_locks_up_to_length_7():  # §4.18
    system = parse_system(SAFE_LOCK, SAFE_LOCK_EVENTS)
    rng = Random(7)
    for word in [*product(SAFE_LOCK_EVENTS, repeat=4), *(rng.choices(SAFE_LOCK_EVENTS, k=7) for _ in range(500))]:
        assert after(system, word, rewrite) == after(system, word, rewrite_scanning) == normal_form(system, word)


def test_the_shorter_left_side_starves_the_longer():  # §4.18
    text = "a a -> b . a a b -> #fail ."
    machine = compiled(text, ALPHABET)
    assert "LOGIC-052" in codes(machine)
    system = parse_system(text, ALPHABET)
    assert normal_form(system, ["a", "a", "b"]) == after(system, ["a", "a", "b"], rewrite) == ("b", "b")


def test_of_equal_left_sides_the_first_wins():  # §4.18
    text = "a b -> #succeed . a b -> #fail ."
    assert normal_form(parse_system(text, ALPHABET), ["a", "b"]) == "succeed"
    assert codes(compiled(text, ALPHABET, "fail", "succeed")) == ["LOGIC-052"]


def test_strategies_differ_on_a_system_that_is_not_confluent():
    """After a replacement, only the incremental strategy looks at what stands before it at once."""
    system = parse_system("a X -> #fail . X c -> #succeed . b -> X c .", ALPHABET)
    assert after(system, ["a", "b"], rewrite) == "fail"
    assert after(system, ["a", "b"], rewrite_scanning) == "succeed"
    assert "LOGIC-050" in codes(compiled(print_system(system), ALPHABET))


# §6.1, §6.4: the systems


def test_equality_check_decides_every_string():  # §6.1 [E]
    system = parse_system(EQUALITY, EQUALITY_EVENTS)
    broken = parse_system(EQUALITY.replace("E done -> #fail .", ""), EQUALITY_EVENTS)
    rng = Random(1)
    undecided = 0
    for _ in range(400):
        word = [*rng.choices(EQUALITY_EVENTS[:3], k=rng.randint(0, 9)), "done"]
        equal = word.count("e0") == word.count("e1") == word.count("e2")
        assert after(system, word, rewrite) == ("succeed" if equal else "fail")
        undecided += not isinstance(after(broken, word, rewrite), str)
    assert undecided > 20  # what the rule is for
    assert after(broken, ["e0", "e1", "done"], rewrite) == ("E", "done")


def test_equality_check_has_no_findings():
    assert compiled(EQUALITY, EQUALITY_EVENTS).remarks == ()


@pytest.mark.parametrize("rewriter", STRATEGIES.values())
def test_the_series_of_the_maude_comparison_ends_empty_with_the_corrected_rule(rewriter):  # §6.4 [E]
    corrected = parse_system(SORTING, EQUALITY_EVENTS)
    printed = parse_system(SORTING.replace("E e1 -> e1 E", "e1 E -> E e1"), EQUALITY_EVENTS)
    for count in (1, 2, 5):
        word = [*["e2"] * count, *["e1"] * count, *["e0"] * count]
        assert after(corrected, word, rewriter) == ()
        if rewriter is rewrite:
            assert (after(printed, word, rewriter) == ()) == (count < 2)


def test_the_rule_as_printed_is_found_not_to_be_confluent():  # §6.4 [E]
    printed = SORTING.replace("E e1 -> e1 E", "e1 E -> E e1")
    found = compiled(printed, EQUALITY_EVENTS).remarks
    assert [remark.code for remark in found] == ["LOGIC-050"] * 5
    assert found[0].message == ("'e0 e1 E' becomes 'E E' if 'e0 e1' is rewritten first, 'e0 E e1' if 'e1 E' is")
    assert printed[found[0].offset :].startswith("e1 E -> E e1")
    assert compiled(SORTING, EQUALITY_EVENTS).remarks == ()


# Findings


def test_a_later_event_cannot_come_between():
    """`h h n` overlaps, but `h h` is always rewritten before `n` comes."""
    assert compiled("h n -> #epsilon . h h -> h . ^ n -> #fail .", "h n").remarks == ()


def test_an_overlap_with_a_symbol_that_rules_bring_back_is_told():
    found = compiled("h n -> #epsilon . h h -> h . b -> h h n . ^ n -> #fail .", "h n b").remarks
    assert [remark.code for remark in found] == ["LOGIC-050"]
    assert "'h h n' becomes '#epsilon' if 'h h' is rewritten first, 'h' if 'h n' is" in found[0].message


@pytest.mark.parametrize(
    "text", ["a -> a .", "a b -> b a . b a -> a b .", "a -> X . X -> Y . Y -> a .", "^ a -> a b a .", "a $ -> b a ."]
)
def test_rewriting_without_end_is_told(text):
    assert "LOGIC-051" in codes(compiled(text, ALPHABET))


def test_a_rule_that_moves_away_from_its_anchor_ends():
    assert codes(compiled("a $ -> a b .", ALPHABET)) == []
    assert codes(compiled("^ a -> b a .", ALPHABET)) == []


def test_many_findings_are_cut_short():
    text = " ".join(f"a{k} -> a{k} a{k} ." for k in range(9))
    found = compiled(text, " ".join(f"a{k}" for k in range(9))).remarks
    assert len(found) == 5
    assert found[-1].message.endswith("and 4 more like this")


# Machines


def test_a_system_with_few_strings_is_a_table_with_all_sets():
    text = "update use -> #fail . use use -> use . update update -> update . create -> #epsilon ."
    machine = compiled(text, "create update use")
    assert isinstance(machine, TableMachine)
    assert len(machine.table) == 3
    assert machine.alive[machine.initial] == {frozenset({"update", "use"})}
    assert frozenset({"update"}) in machine.enable["fail"]["use"]


def test_a_system_with_many_strings_is_rewritten_as_it_runs():
    machine = compiled(SAFE_LOCK, SAFE_LOCK_EVENTS)
    assert isinstance(machine, RewriteMachine)
    assert machine.goal == {"fail", "exhausted"}
    assert machine.reportable() == {"fail", "exhausted"}
    assert machine.creation == frozenset(SAFE_LOCK_EVENTS)
    assert machine.enable == {"fail": {}, "exhausted": {}}


def test_what_nobody_asked_for_does_not_begin_an_instance():
    text = "a b -> #fail . c -> #succeed ."
    assert compiled(text, ALPHABET).creation == {"a", "b"}
    assert compiled(text, ALPHABET, "fail", "succeed").creation == set(ALPHABET)
    assert compiled(text, ALPHABET, interrupted=True).creation == set(ALPHABET)


def test_a_system_that_decides_nothing_that_is_asked_for_reports_nothing():
    assert compiled(SAFE_LOCK, SAFE_LOCK_EVENTS, "succeed").reportable() == frozenset()


def test_rewriting_stops_at_its_budget():
    rules = Rules(parse_system("a b -> b a . b a -> a b .", ALPHABET))
    for rewriter in STRATEGIES.values():
        with pytest.raises(Exhausted):
            rewriter(rules, (0, 1), Budget(100, 100))


def test_drawing_has_the_rules_and_the_parts_of_left_sides():
    text = draw(compiled(SAFE_LOCK, SAFE_LOCK_EVENTS), "text", "SafeLock")
    assert text.startswith(
        "SafeLock: 4 rewriting rules, found by 7 states, reports exhausted, fail\nbegin end -> #epsilon .\n"
    )
    assert " * begin release [becomes #fail]\n" in text
    assert draw(compiled("^ a $ -> #fail . a b c c -> a .", ALPHABET), "dot").startswith("digraph")


# Texts


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "no rules"),
        ("a -> b -> c .", 7, "unexpected '->'"),
        ("a b -> c  b -> a .", 12, "unexpected '->'"),
        ("a -> #epsilon b -> c .", 14, "unexpected 'b'"),
        ("-> a .", 0, "has no symbol"),
        ("^ $ -> a .", 4, "has no symbol"),
        ("a ^ b -> c .", 2, "unexpected '^'"),
        ("a $ b -> c .", 4, "unexpected 'b'"),
        ("a -> b $ .", 7, "unexpected '$'"),
        ("a -> #fial .", 5, "unexpected character '#'"),
        ("a -> b #fail .", 7, "unexpected '#fail'"),
        ("a -> .", 5, "unexpected '.'"),
        ("a", 1, "ends too early"),
        ("a . b -> c .", 2, "unexpected '.'"),
        ("a -> b . z -> c .", 9, "unknown symbol 'z'"),
    ],
)
def test_faults_have_a_place(text, offset, message):
    with pytest.raises(FormulaError) as raised:
        parse_system(text, ALPHABET)
    assert message in raised.value.message
    assert raised.value.offset == offset


def test_a_misspelt_event_gets_a_suggestion():
    with pytest.raises(FormulaError) as raised:
        parse_system("aquire release -> #epsilon .", SAFE_LOCK_EVENTS)
    assert (raised.value.code, raised.value.hint) == ("LOGIC-002", "did you mean 'acquire'?")


def test_the_last_dot_may_be_left_out_and_comments_stand_anywhere():
    system = parse_system("a b -> #epsilon . // one\n # two\n ^ a -> /* three */ c", ALPHABET)
    assert print_system(system) == "a b -> #epsilon .\n^ a -> c ."


@pytest.mark.parametrize(
    "text",
    [
        "a " * 1_001 + "-> b .",
        "a -> " + "b " * 1_001 + ".",
        "a -> b . " * 10_001,
        " ".join(f"a X{k} -> X{k + 1} X0 ." for k in range(2_000)),
    ],
    ids=["long left side", "long right side", "many rules", "wide table"],
)
def test_huge_systems_are_refused(text):
    with pytest.raises(Exception, match="too large"):
        compiled(text, ALPHABET)


def test_large_systems_are_compiled_soon():
    rng = Random(3)
    text = " ".join(f"{' '.join(rng.choices('abc', k=8))} -> {' '.join(rng.choices('abc', k=7))} ." for _ in range(300))
    assert compiled(text, ALPHABET).alphabet == ALPHABET
    events = tuple(f"x{number}" for number in range(800))
    chain = " ".join(f"x{number} x{number + 1} -> x{number} ." for number in range(799))
    assert compiled(chain, events).alphabet == events
