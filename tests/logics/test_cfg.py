"""The context-free logics at compile time: text, simplification, tables, conflicts, event sets, drawings."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logics.formulas import compiled
from logics.grammars import random_grammar

from mopsus.logics import FormulaError, LogicError, Request, load_logic
from mopsus.logics.cfg import CFG, sets, tables
from mopsus.logics.cfg.grammar import MAX_PRODUCTIONS, simplify
from mopsus.logics.cfg.syntax import parse_grammar
from mopsus.logics.machines.draw import draw

EVENTS = ("open", "close", "use")
LETTERS = ("a", "b", "c")
grammars = st.builds(lambda rng: random_grammar(rng, LETTERS), st.randoms(use_true_random=False))

LOCK = "S -> epsilon | S begin S end | S acquire S release"
LOCK_EVENTS = "acquire release begin end"


@given(grammar=grammars)
def test_printing_and_parsing_give_the_grammar_back(grammar):
    formula = CFG.parse(grammar, LETTERS)
    assert CFG.parse(CFG.print(formula), LETTERS) == formula


def test_text_is_printed_with_few_parentheses():
    formula = CFG.parse("S->(open(use)*|((close))+ )use | epsilon,T -> (S T)+", EVENTS)
    assert CFG.print(formula) == "S -> (open use* | close+) use | epsilon,\nT -> (S T)+"
    assert CFG.events(formula) == frozenset(EVENTS)
    assert CFG.categories(formula) == {"match", "fail", "exhausted"}


@pytest.mark.parametrize(
    ("text", "code", "offset", "length", "part"),
    [
        ("", "LOGIC-001", 0, 1, "no rules"),
        ("S", "LOGIC-001", 1, 1, "'->'"),
        ("S -> ", "LOGIC-001", 4, 1, "'epsilon'"),
        ("S -> | open", "LOGIC-001", 5, 1, "'epsilon'"),
        ("S -> open T -> use", "LOGIC-001", 12, 2, "','"),
        ("S -> (open", "LOGIC-001", 10, 1, "')'"),
        ("S -> open; T -> use", "LOGIC-001", 9, 1, "unexpected character ';'"),
        ("S -> * open", "LOGIC-001", 5, 1, "unexpected '*'"),
        ("S -> open T", "LOGIC-031", 10, 1, "neither an event nor has it a rule"),
        ("S -> opn close", "LOGIC-031", 5, 3, "did you mean 'open'?"),
        ("Side -> open Sid", "LOGIC-031", 13, 3, "did you mean 'Side'?"),
        ("S -> open, use -> S", "LOGIC-030", 11, 3, "'use' is an event"),
        ("S -> open S", "LOGIC-032", 0, 1, "derives no trace"),
        ("S -> " + "(" * 101 + "open | use" + ")* open" * 101, "LOGIC-008", None, 1, "nested more than 100 deep"),
        ("S -> " + "open " * 10_001, "LOGIC-007", 0, 1, "more than 10,000 symbols"),
    ],
)
def test_faults_are_placed_and_explained(text, code, offset, length, part):
    with pytest.raises(FormulaError) as caught:
        CFG.compile(CFG.parse(text, EVENTS), Request(EVENTS, frozenset({"match"})))
    assert caught.value.code == code
    assert offset in (None, caught.value.offset)
    assert caught.value.length == length
    assert part in f"{caught.value.message} {caught.value.hint}"


def test_the_word_epsilon_cannot_be_an_event_too():
    with pytest.raises(FormulaError, match="also the name of an event"):
        CFG.parse("S -> epsilon", ("epsilon",))


def test_useless_symbols_are_remarked_on_and_do_no_harm():
    machine = compiled("cfg", "S -> open | A use, A -> A use, B -> close", "open close use")
    assert [(remark.code, remark.message, remark.offset) for remark in machine.remarks] == [
        ("LOGIC-034", "'A' derives no trace", 19),
        ("LOGIC-034", "'S' never leads to 'B'", 31),
    ]
    assert len(machine.actions) == len(compiled("cfg", "S -> open", "open close use").actions)


def test_the_language_of_the_empty_trace_fails_at_every_event():
    machine = compiled("cfg", "S -> A A, A -> epsilon", "open use", "match", "fail")
    assert machine.reportable() == {"fail"}
    assert not any(machine.actions[0])


def test_what_can_never_fail_is_known():
    assert compiled("cfg", "S -> S open | open", "open", "fail").reportable() == frozenset()
    assert compiled("cfg", "S -> S open | open", "open use", "fail").reportable() == {"fail"}


@pytest.mark.parametrize(
    ("name", "grammar", "events", "ours", "thesis"),
    [
        ("SafeLock, simple", LOCK, LOCK_EVENTS, (50, 18), (50, 18)),
        ("HashMap", "S -> add U, U -> U unsafe | unsafe", "add unsafe remove", (6, 6), (6, 6)),
        ("HasNext", "S -> next next", "hasnext next", (4, 4), (5, 5)),
        (
            "ImprovedLeakingSync",
            "S -> sync B, B -> B begin M end | epsilon, M -> M begin M end | M access | epsilon",
            "sync begin end access",
            (22, 22),
            (19, 15),
        ),
        (
            "SafeFileWriter",
            "S -> S create W close | epsilon, W -> W write | W create W close | epsilon",
            "create write close",
            (20, 20),
            (18, 11),
        ),
        (
            "SafeFileInputStream, as SafeLock",
            "S -> epsilon | S begin S end | S create S close",
            "create close begin end",
            (50, 18),
            (20, 8),
        ),
        (
            "SafeLock, efficient",
            "S -> epsilon | S acquire M release A, M -> epsilon | M begin M end | M acquire M release, "
            "A -> epsilon | A begin | A end",
            LOCK_EVENTS,
            (50, 34),
            None,
        ),
    ],
)
def test_numbers_of_states(name, grammar, events, ours, thesis):  # mop.md §6.3; the thesis prints few of its grammars
    assert (len(compiled("lr", grammar, events).actions), len(compiled("lalr", grammar, events).actions)) == ours


THESIS_LALR = {  # mop.md §4.17: $, acquire, release, begin, end, goto S
    0: (None, 14, None, 16, None, 9),
    **dict.fromkeys((1, 2), (2, 2, 2, 2, 2, None)),
    **dict.fromkeys((3, 4, 5, 6), (3, 3, 3, 3, 3, None)),
    **dict.fromkeys((7, 8), (4, 4, 4, 4, 4, None)),
    9: ("accept", 15, None, 17, None, None),
    10: (None, 15, 3, 17, None, None),
    11: (None, 15, None, 17, 4, None),
    12: (None, 15, 7, 17, None, None),
    13: (None, 15, None, 17, 8, None),
    14: (None, 14, 1, 16, None, 10),
    15: (None, 14, 5, 16, None, 12),
    16: (None, 14, None, 16, 2, 11),
    17: (None, 14, None, 16, 6, 13),
}
COMPLETE = range(1, 9)
"""States of the thesis's table whose numbers are the lengths of what they reduce."""


def test_lalr_table_of_the_thesis_up_to_the_numbers_of_states():  # mop.md §4.17
    machine = compiled("lalr", LOCK, LOCK_EVENTS)
    same = {0: 0}
    work = [0]
    for theirs in work:  # grows while it is walked
        mine = same[theirs]
        end, *letters, goto = THESIS_LALR[theirs]
        cells = [*machine.actions[mine][:-1], tuple(each for each in machine.gotos[mine] if each >= 0)]
        if theirs in COMPLETE:
            for cell in machine.actions[mine]:
                (reduction,) = cell
                assert len(machine.productions[~reduction][1]) == end
            continue
        assert machine.actions[mine][-1] == ((~0,) if end == "accept" else ())
        for their_target, cell in zip([*letters, goto], cells, strict=True):
            assert len(cell) == (their_target is not None)
            if cell and their_target not in same:
                same[their_target] = cell[0]
                work.append(their_target)
            assert not cell or same[their_target] == cell[0]
    assert sorted(same) == sorted(THESIS_LALR)
    assert len(set(same.values())) == len(machine.actions)


def stack_after(machine, word):
    """The stack of a deterministic machine after a word, by the book; None if it fails."""
    stack = [0]
    for letter in [machine.alphabet.index(event) for event in word]:
        while True:
            cell = machine.actions[stack[-1]][letter]
            if not cell:
                return None
            if cell[0] >= 0:
                stack.append(cell[0])
                break
            head, body = machine.productions[~cell[0]]
            del stack[-len(body) :]
            stack.append(machine.gotos[stack[-1]][machine.nonterminals.index(head)])
    return stack


def test_acceptance_is_guaranteed_by_canonical_tables_only():  # mop.md §4.17 [E]
    formula = CFG.parse(LOCK, tuple(LOCK_EVENTS.split()))
    machines = {logic: compiled(logic, LOCK, LOCK_EVENTS) for logic in ("lr", "lalr")}
    viable, wrong = 0, {"lr": 0, "lalr": 0}
    for length in range(1, 7):
        for word in product(LOCK_EVENTS.split(), repeat=length):
            stacks = {logic: stack_after(machine, word) for logic, machine in machines.items()}
            assert (stacks["lr"] is None) == (stacks["lalr"] is None)
            if stacks["lr"] is None:
                continue
            viable += 1
            member = "match" in CFG.reference(formula, formula.alphabet, word)
            for logic, machine in machines.items():
                wrong[logic] += machine.matching(stacks[logic][-1]) != member
    assert viable == 616
    assert wrong == {"lr": 0, "lalr": 148}
    assert machines["lr"].guaranteed
    assert not machines["lalr"].guaranteed


def test_conflicts_are_told_with_state_items_letter_and_prefix():
    with pytest.raises(FormulaError) as caught:
        compiled("lr", "S -> S S | a | b", "a b")
    assert caught.value.code == "LOGIC-033"
    assert caught.value.message == (
        "the grammar is not LR(1): after 'a a' and before 'a' both 'S -> S S' is complete and 'S -> • a' goes on "
        "(state 4)"
    )
    assert "'cfg'" in caught.value.hint


def test_a_grammar_that_is_lr_but_not_lalr():
    grammar = "S -> a E c | a F d | b F c | b E d, E -> e, F -> e"
    assert compiled("lr", grammar, "a b c d e").deterministic
    with pytest.raises(
        FormulaError, match=r"not LALR\(1\): after 'a e' and before 'c' both 'E -> e' is complete and 'F"
    ):
        compiled("lalr", grammar, "a b c d e")
    assert compiled("cfg", grammar, "a b c d e").deterministic


def test_a_grammar_that_is_not_lr_has_conflicts_that_cfg_keeps():
    machine = compiled("cfg", "S -> a S a | b S b | epsilon", "a b")
    assert machine.conflicts() > 0
    assert machine.guaranteed
    assert not machine.deterministic


def test_event_sets_are_those_of_the_regular_expression_of_the_same_language():
    pattern, grammar = (
        "create next* update+ next",
        "S -> create N U next, N -> N next | epsilon, U -> U update | update",
    )
    one, other = compiled("ere", pattern, "create update next"), compiled("cfg", grammar, "create update next")
    assert (other.creation, other.enable, other.coenable) == (one.creation, one.enable, one.coenable)
    assert other.alive[0] == one.alive[one.initial]


def test_event_sets_begin_with_nothing_before_the_start():  # mop.md §4.17 [S], the missing base case
    machine = compiled("cfg", "S -> a S b | c", "a b c")
    assert machine.enable["match"]["a"] == {frozenset(), frozenset("a")}
    assert machine.coenable["match"]["c"] == {frozenset("b")}
    assert machine.creation == frozenset("ac")


def test_failing_needs_every_event_to_create_and_only_some_event_to_come():  # mop.md §4.17 [S]
    machine = compiled("cfg", "S -> a S b | c", "a b c", "fail")
    assert machine.creation == frozenset("abc")
    assert machine.enable["fail"] == {}
    assert set(machine.alive) == {frozenset(map(frozenset, "abc"))}


@given(grammar=grammars)
@settings(max_examples=25, deadline=None)
def test_event_sets_have_all_that_the_words_of_the_language_show(grammar):
    formula = CFG.parse(grammar, LETTERS)
    try:
        machine = CFG.compile(formula, Request(LETTERS, frozenset({"match"})))
    except LogicError:
        return
    for length in range(1, 5):
        for word in product(LETTERS, repeat=length):
            if "match" in CFG.reference(formula, LETTERS, word):
                assert word[0] in machine.creation
                for at, event in enumerate(word):
                    assert frozenset(word[:at]) in machine.enable["match"][event]
                    after = frozenset(word[at + 1 :])
                    assert not after or after in machine.coenable["match"][event]


def test_too_many_event_sets_are_not_listed(monkeypatch):
    monkeypatch.setattr(sets, "MAX_UNIONS", 10)
    machine = compiled("cfg", "S -> S S | a | b | c", "a b c")
    assert machine.enable["match"] == {}
    assert machine.coenable["match"]["a"] == {frozenset()}
    assert machine.alive[0] == frozenset(map(frozenset, "abc"))


def test_forgotten_events_may_come_between_any_others():
    machine = compiled("lr_lazy", "S -> a b", "a b c")
    assert machine.enable["match"] == {}
    assert machine.creation == {"a"}


def test_canonical_tables_that_are_too_large_are_replaced_by_merged_ones(monkeypatch):
    monkeypatch.setattr(tables, "MAX_CELLS", 200)
    assert not compiled("cfg", LOCK, LOCK_EVENTS).guaranteed
    with pytest.raises(LogicError, match="too large") as caught:
        compiled("lr", LOCK, LOCK_EVENTS)
    assert caught.value.code == "LOGIC-007"
    assert "'lalr'" in caught.value.hint


def test_many_optional_symbols_are_no_problem():
    letters = [f"e{number}" for number in range(24)]
    machine = compiled("cfg", "S -> " + " ".join(f"{each}*" for each in letters), " ".join(letters))
    assert len(machine.productions) < 1000
    assert machine.creation == frozenset(letters)


def test_grammars_that_grow_beyond_bounds_are_refused():
    rng = Random(1)
    rules = [f"A{k} -> " + " | ".join(_many_optional(rng, k) for _ in range(20)) for k in range(20)]
    with pytest.raises(LogicError, match=f"more than {MAX_PRODUCTIONS:,} productions"):
        compiled("cfg", ", ".join(rules), " ".join(f"x{k} y{k}" for k in range(20)))


def _many_optional(rng, number):
    optional = " ".join(f"A{rng.randrange(20)}" for _ in range(8))
    return f"{optional} x{number} {optional} | epsilon"


def test_cycles_of_single_symbols_are_kept_apart_from_productions_to_themselves():
    grammar, _ = simplify(parse_grammar("S -> S | A, A -> S | a", ("a",)))
    assert [(each.head, each.body) for each in grammar.productions] == [("S", ("A",)), ("A", ("S",)), ("A", ("a",))]


def test_drawing_shows_states_shifts_and_gotos():
    text = draw(compiled("cfg", "S -> a S b | c", "a b c"), "text", "T")
    assert text.startswith("T: 10 states of LR(1) tables, starts in 0, reports match\n")
    assert ">  0 [S' -> • S]" in text
    assert " * 1 [S' -> S •]" in text
    assert "       a -> 2" in text
    assert "       S -> 1" in text


def test_drawing_says_what_it_leaves_out():
    letters = " ".join(f"e{number}" for number in range(300))
    drawing = compiled("cfg", f"S -> {letters}", letters).drawing()
    assert len(drawing.nodes) == 200
    assert all(edge.target < 200 for edge in drawing.edges)
    assert drawing.remarks == ("only the first 200 of 302 states are drawn",)
    assert compiled("cfg", "S -> S S | a", "a").drawing().remarks[0].startswith("not LR(1): 1 conflict,")


def test_lazy_logics_are_not_lazy_under_suffix():
    machine = load_logic("lr_lazy").compile(
        CFG.parse("S -> a b", LETTERS), Request(LETTERS, frozenset({"match"}), suffix=True)
    )
    assert machine.suffix
    assert not machine.lazy
