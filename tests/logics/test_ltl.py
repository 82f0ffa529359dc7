"""LTL over events against its definition, the machines of the references, and what cannot be monitored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logics.formulas import ALPHABET, compiled, reported, run, words
from logics.temporal_formulas import all_formulas, formulas, lassos, light

import mopsus
from mopsus.logics import LogicError, Request, compile_spec, distinguish, load_logic
from mopsus.logics.ltl.compile import monitor_of
from mopsus.logics.ltl.implication import Implication
from mopsus.logics.ltl.normal import Normal
from mopsus.logics.ltl.reference import holds_on_lasso
from mopsus.logics.temporal.syntax import FUTURE, PAST, Op, combine

LTL = load_logic("ltl")
BOTH = frozenset({"violation", "validation"})


def machine_of(text, events, *goal):
    return compiled("ltl", text, events, *(goal or BOTH), allow_unmonitorable=True)


@given(
    formula=light(formulas(PAST | FUTURE, bounded=True)),
    word=words,
    goal=st.frozensets(st.sampled_from(sorted(BOTH)), min_size=1),
)
def test_machine_has_the_categories_of_the_definition(formula, word, goal):
    machine = LTL.compile(formula, Request(ALPHABET, goal, allow_unmonitorable=True))
    for length, state in enumerate(run(machine, word)[1:], 1):
        assert machine.categories[state] & goal == LTL.reference(formula, ALPHABET, word[:length]) & goal


@given(formula=formulas(PAST | FUTURE, bounded=True, max_leaves=8), lasso=lassos)
def test_a_verdict_is_true_of_the_whole_infinite_word(formula, lasso):
    """Here formulas may be far too large for the tableau."""
    prefix, loop = lasso
    held = holds_on_lasso(formula, [{event} for event in prefix], [{event} for event in loop])
    monitor = monitor_of(formula, ALPHABET)
    for state in run(monitor, prefix + loop * 4):
        assert monitor.categories[state] <= {"validation" if held else "violation"}


@given(formula=light(all_formulas), lasso=lassos)
def test_the_two_definitions_agree(formula, lasso):
    prefix, loop = lasso
    held = holds_on_lasso(formula, [{event} for event in prefix], [{event} for event in loop])
    assert LTL.reference(formula, ALPHABET, prefix + loop) <= {"?", "validation" if held else "violation"}


SHORT_LASSOS = [
    (prefix, loop)
    for prefix in [(), *((a,) for a in ALPHABET)]
    for loop in [*((a,) for a in ALPHABET), *((a, b) for a in ALPHABET for b in ALPHABET), ALPHABET]
]


@given(formula=light(formulas(PAST | FUTURE, max_leaves=3), 2), word=words.filter(lambda word: len(word) < 3))
def test_undecided_formulas_can_still_go_both_ways(formula, word):
    """If a lasso that begins with the word is found for either side, nothing is decided."""
    found = {
        holds_on_lasso(formula, [{event} for event in word + prefix], [{event} for event in loop])
        for prefix, loop in SHORT_LASSOS
    }
    decided = monitor_of(formula, ALPHABET).categories[run(monitor_of(formula, ALPHABET), word)[-1]]
    assert bool(decided) == (len(found) == 1)


def holds_at_end(formula, word, at):
    """Truth at a position of a word that ends: a next position must exist, for weak next it need not."""

    def value(part, where):
        return holds_at_end(part, word, where)

    parts, ahead, behind = formula.parts, range(at, len(word)), range(at, -1, -1)

    def until(left, right, positions):
        for position in positions:
            if right(position):
                return True
            if not left(position):
                return False
        return False

    def left(position):
        return value(parts[0], position)

    def right(position):
        return value(parts[1], position)

    match formula.op:
        case Op.TRUE | Op.FALSE:
            return formula.op is Op.TRUE
        case Op.ATOM:
            return word[at] == formula.name
        case Op.NOT:
            return not left(at)
        case Op.AND:
            return all(value(part, at) for part in parts)
        case Op.OR:
            return any(value(part, at) for part in parts)
        case Op.XOR:
            return sum(value(part, at) for part in parts) % 2 == 1
        case Op.IMPLIES:
            return not left(at) or right(at)
        case Op.IFF:
            return left(at) == right(at)
        case Op.NEXT:
            return at + 1 < len(word) and left(at + 1)
        case Op.WEAK_NEXT:
            return at + 1 == len(word) or left(at + 1)
        case Op.PREVIOUS:
            return at > 0 and left(at - 1)
        case Op.WEAK_PREVIOUS:
            return at == 0 or left(at - 1)
        case Op.EVENTUALLY:
            return any(map(left, ahead))
        case Op.ALWAYS:
            return all(map(left, ahead))
        case Op.ONCE:
            return any(map(left, behind))
        case Op.HISTORICALLY:
            return all(map(left, behind))
        case Op.UNTIL | Op.SINCE:
            return until(left, right, ahead if formula.op is Op.UNTIL else behind)
        case Op.WEAK_UNTIL:
            return until(left, right, ahead) or all(map(left, ahead))
        case Op.STRONG_RELEASE:
            return until(right, lambda position: left(position) and right(position), ahead)
    positions = ahead if formula.op is Op.RELEASE else behind
    return not until(lambda position: not left(position), lambda position: not right(position), positions)


@given(formula=formulas(PAST | FUTURE, max_leaves=6), word=words)
def test_what_is_presumed_is_the_truth_of_the_word_that_ends(formula, word):
    machine = LTL.compile(formula, Request(ALPHABET, BOTH, allow_unmonitorable=True, at_end=True))
    for length, state in enumerate(run(machine, word)[1:], 1):
        if not machine.categories[state]:
            assert machine.presumed[state] == holds_at_end(formula, word[:length], 0)


def test_presumed_at_the_end():
    machine = compiled("ltl", "[](a => <>b)", "a b", allow_unmonitorable=True, at_end=True)
    assert [machine.presumed[state] for state in run(machine, "abaab")[1:]] == [False, True, False, False, True]
    weak = compiled("ltl", "~o b", "a b", at_end=True)
    strong = compiled("ltl", "o b", "a b", at_end=True)
    assert weak.presumed[run(weak, "a")[-1]] is True
    assert strong.presumed[run(strong, "a")[-1]] is False


# -- machines of the references ------------------------------------------------------------------


def test_map_iterator_machine_of_the_thesis():  # mop.md §4.16
    machine = compiled("ltl", "[](useIter => (not updateMap S createColl))", "useIter createColl updateMap createIter")
    n0, n1, violation = 0, 2, 1
    assert machine.initial == n0
    assert machine.table == ((violation, n1, n0, n0), (violation,) * 4, (n1, n1, n0, n1))
    assert machine.categories == (frozenset(), {"violation"}, frozenset())
    assert machine.final[violation] == {"violation"}


def test_formulas_are_anchored_at_the_first_event():  # mop.md §4.16
    since = machine_of("a S b", "a b")
    assert reported(since, "ba") == [{"validation"}, set()]
    assert reported(since, "ab") == [{"violation"}, set()]
    later = machine_of("o(a S b)", "a b c")
    assert reported(later, "ba") == [set(), {"validation"}]
    assert reported(later, "bb") == [set(), {"validation"}]
    assert reported(later, "ca") == [set(), {"violation"}]
    assert reported(machine_of("(*)true", "a"), "a") == [{"violation"}]
    assert reported(machine_of("~(*)false", "a"), "a") == [{"validation"}]


def test_dual_since_holds_back_to_the_beginning():  # mop.md §3.6
    assert distinguish(machine_of("[](a ~S b)", "a b c"), machine_of("[]not (not a S not b)", "a b c"), BOTH) is None
    assert reported(machine_of("[](a ~S (a or b))", "a b c"), "bbc") == [set(), set(), {"violation"}]


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("F a", 2),
        ("G a", 2),
        ("a U b", 3),
        ("X X a", 5),
        ("(G a) or (G !a)", 4),
        ("F<=3 a", 6),
        ("G<=3 a", 6),
        ("G<=25 a", 28),
    ],
)
def test_state_counts_over_events(text, states):  # themis.md §10, where two letters are enough
    # A verdict is entered at an event, never held before the first one, so both models have the same states here.
    assert len(machine_of(text, "a b" if "b" in text else "a other").table) == states - ("U" in text)


@pytest.mark.parametrize("misprint", ["lt", "ptl1", "pttl1", "piti"])
def test_misprinted_names_are_no_logics(misprint):  # mop.md §3.1 [E]
    with pytest.raises(LogicError, match="unknown logic"):
        load_logic(misprint)


@pytest.mark.parametrize(
    ("ltl", "ere"),
    [
        ("not b U a", "(c)* b ~empty"),
        ("[](a => o b)", "(b | c | a b)* a (a | c) ~empty"),
        ("[](c => ((not b) S a))", "(b | a (a | c)* b)* c ~empty"),
        ("<>[0,2] a", "(b | c)^3 ~empty"),
        ("[](b => <*>a)", "c* b ~empty"),
    ],
)
def test_violations_as_a_pattern_are_the_same_machine(ltl, ere):
    one, other = compiled("ltl", ltl, "a b c"), compiled("ere", ere, "a b c")
    assert one.table == other.table
    assert ["violation" in held for held in one.categories] == ["match" in held for held in other.categories]
    assert one.enable["violation"] == other.enable["match"]
    assert one.coenable["violation"] == other.coenable["match"]
    assert one.alive == other.alive
    assert one.creation >= other.creation  # a formula is about all events, also those that cannot begin a violation


def test_has_next_is_the_same_machine_in_three_logics():  # mop.md §6.1
    ltl = compiled("ltl", "[](next => (*)hasnext)", "hasnext next")
    fsm = compiled("fsm", "unsafe [ hasnext -> safe ] safe [ hasnext -> safe, next -> unsafe ]", "hasnext next")
    ere = compiled("ere", "(hasnext hasnext* next)*", "hasnext next", "fail")
    assert ltl.table == fsm.table == ere.table
    assert ltl.alive == fsm.alive == ere.alive
    assert ltl.enable["violation"] == fsm.enable["fail"] == ere.enable["fail"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a W b", "(a U b) or []a"),
        ("a M b", "b U (a and b)"),
        ("a R b", "not (not a U not b)"),
        ("~o a", "o a"),
        ("<>[2,4] a", "o o (a or o(a or o a))"),
        ("a U[1,2] b", "a and o(b or (a and o b))"),
        ("[][1,inf] a", "o []a"),
        ("[](<*>[1,1] a => b)", "[]((*)a => b)"),
        ("[](a => (b S[1,2] c))", "[](a => (b and (*)(c or (b and (*)c))))"),
        ("<*> o a", "o a"),
        ("[](a => (*)<>b)", "not a and [](o a => <>b)"),
    ],
)
def test_laws(one, other):
    first, second = machine_of(one, "a b c"), machine_of(other, "a b c")
    assert distinguish(first, second, BOTH) is None


def test_events_that_are_all_there_is():
    """Without any other event, one of those spoken of must come."""
    assert reported(machine_of("[](a or b)", "a b"), "a") == [{"validation"}]
    assert reported(machine_of("[](a or b)", "a b c"), "ac") == [set(), {"violation"}]


# -- what cannot be decided ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[]<>a", "[](a => <>b)", "<>[]a"])
def test_formula_that_no_trace_decides_is_refused(text):  # themis.md §10: not monitorable
    with pytest.raises(LogicError) as caught:
        compiled("ltl", text, "a b c")
    assert caught.value.code == "LOGIC-017"
    assert "no trace can ever decide" in caught.value.message
    assert len(compiled("ltl", text, "a b c", allow_unmonitorable=True).table) == 1


def test_contradiction_that_no_part_shows_is_violated_at_once():
    assert reported(machine_of("[]<>a and <>[]b", "a b"), "a") == [{"violation"}]


def test_formula_that_some_traces_cannot_decide_gets_a_remark():
    [remark] = compiled("ltl", "a or (b and o[]<>c)", "a b c").remarks
    assert remark.code == "LOGIC-023"
    assert "after 'b'" in remark.message
    assert compiled("ltl", "[](a => o b)", "a b c").remarks == ()


def test_undecidable_formula_in_a_spec_has_a_place():
    text = "Fair(i) {\n  event a(i)\n  event b(i)\n  ltl : []<>a\n}\n"
    [spec] = mopsus.parse(text).values()
    with pytest.raises(LogicError) as caught:
        compile_spec(spec)
    [diagnostic] = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.line) == ("LOGIC-017", 4)
    assert compile_spec(spec, allow_unmonitorable=True).machines


# -- size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "<>[0,999999999999] a",
        "[](a => <>[0,5000]([][0,5000](b or o c)))",
        " and ".join(f"[](a{n} => <>(b{n} U o o o (a{n} or <*>b{n})))" for n in range(20)),
        " or ".join(f"(*)o a{n}" for n in range(20)),
    ],
)
def test_huge_formulas_are_refused_in_time(text, monkeypatch):
    monkeypatch.setattr("mopsus.logics.ltl.letters.MAX_WORK", 100_000)
    events = " ".join(["a", "b", "c", *(f"{letter}{n}" for letter in "ab" for n in range(20))])
    with pytest.raises(LogicError) as caught:
        compiled("ltl", text, events)
    assert caught.value.code == "LOGIC-007"


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("<>[3,1] a", 2, "not a range of steps"),
        ("a U[1s,2s] b", 3, "not a range of steps"),
        ("a and o[1,2] b", 7, "takes no bounds"),
    ],
)
def test_bounds_that_are_no_steps(text, offset, words):
    with pytest.raises(LogicError, match=words) as caught:
        LTL.parse(text, ("a", "b"))
    assert caught.value.offset == offset


# -- end to end ----------------------------------------------------------------------------------

UNSAFE_MAP = """
full-binding connected UnsafeMapIter(m, c, i) {
  creation event createC(m, c)
  event createI(c, i)
  event useI(i)
  event updateM(m)
  ltl : [](useI => ((not updateM) S createC))
}
"""


def test_unsafe_map_iterator_end_to_end():  # mop.md §6.1
    [spec] = mopsus.parse(UNSAFE_MAP).values()
    assert compile_spec(spec).warnings == ()  # no formula mentions createI: `connected` asks for it
    with spec.monitor() as monitor:
        emit = monitor.emit
        emit("createC", m=1, c=10)
        emit("createI", c=10, i=100)
        emit("createI", c=10, i=101)
        emit("useI", i=100)
        emit("updateM", m=2)
        emit("useI", i=100)
        assert monitor.verdicts == []
        emit("updateM", m=1)
        emit("useI", i=101)
        emit("useI", i=101)
    [verdict] = monitor.verdicts
    assert dict(verdict.binding) == {"m": 1, "c": 10, "i": 101}
    assert (verdict.category, verdict.truth, verdict.final) == ("violation", False, True)


# -- deadlines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "states"), [("[](a => <>[0,100] b)", 102), ("[](a => [][1,100] b)", 102)])
def test_only_the_nearest_of_many_deadlines_is_remembered(text, states):
    assert len(compiled("ltl", text, "a b c").table) == states


@given(
    one=formulas(FUTURE, bounded=True, max_leaves=3), other=formulas(FUTURE, bounded=True, max_leaves=3), lasso=lassos
)
def test_implications_are_true(one, other, lasso):
    normal = Normal()
    both = combine(Op.AND, (one, other))
    for weaker in (other, both, combine(Op.OR, (one, other)), combine(Op.UNTIL, (one, other))):
        for stronger in (one, both, combine(Op.RELEASE, (one, other))):
            if Implication(normal)(normal.add(stronger), normal.add(weaker)):
                words = [[{event} for event in part] for part in lasso]
                assert not holds_on_lasso(stronger, *words) or holds_on_lasso(weaker, *words)


def test_implications_that_matter_are_found():
    def implies(one, other):
        normal = Normal()
        numbers = [normal.add(LTL.parse(text, ("a", "b", "c"))) for text in (one, other)]
        return Implication(normal)(*numbers)

    assert implies("<>[0,3] a", "<>[0,5] a")
    assert not implies("<>[0,5] a", "<>[0,3] a")
    assert implies("[][0,5] a", "[][0,3] a")
    assert implies("<>[0,5] a", "<>a")
    assert implies("a U b", "<>b")
    assert implies("[](a and b)", "[]a")
    assert implies("[]a", "a")
    assert implies("o o a", "o o (a or b)")
    assert not implies("o a", "o o a")


@pytest.mark.parametrize(
    "patterns",
    [
        ("a xor ({})", "b <=> ({})"),
        ("a U ({})", "b R ({})"),
        ("({}) U a", "({}) R b"),
        ("a S ({})", "b ~S ({})"),
        ("o ({})", "a or ({})", "b and ({})"),
        ("({}) => a", "<>({})"),
    ],
)
def test_deep_formulas_do_not_exhaust_the_stack(patterns):
    text = "a"
    for level in range(95):
        text = patterns[level % len(patterns)].format(text)

    def from_below(frames):
        return machine_of(text, "a b c") if frames == 0 else from_below(frames - 1)

    assert len(from_below(150).table) < 100
