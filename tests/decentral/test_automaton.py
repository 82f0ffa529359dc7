"""Automata of monitors: from formulas, from other logics, from transitions; labels, cache."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.labels import transition_labels
from mopsus.decentral.synthesis import Cache, from_formula, from_machine, from_transitions, references_in
from mopsus.logics import FormulaError, LogicError, compile_formula, draw
from mopsus.logics.ltl import synthesise
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.temporal.syntax import FUTURE, PAST

PROPOSITIONS = ("a", "b", "c")
LETTERS = [frozenset(letter) for letter in chain.from_iterable(combinations(PROPOSITIONS, size) for size in range(4))]
letters = st.sampled_from(LETTERS)
some_formulas = formulas(PAST | FUTURE, atoms=PROPOSITIONS, bounded=True, max_leaves=6)


def run(automaton, word):
    state = 0
    for letter in word:
        state = automaton.step(state, letter)
    return automaton.verdicts[state]


@given(formula=some_formulas, word=st.lists(letters, max_size=5))
def test_a_formula_s_automaton_is_its_monitor(formula, word):
    automaton, monitor = from_formula(formula), synthesise(formula)
    assert len(automaton.states) == len(monitor.states)
    state = 0
    for letter in word:
        state = monitor.step(state, letter)
    assert run(automaton, word) is monitor.verdicts[state]


@given(formula=some_formulas, known=st.dictionaries(st.sampled_from(PROPOSITIONS), st.booleans()))
def test_what_can_follow_and_what_is_missing(formula, known):
    automaton = from_formula(formula)
    agreeing = [letter for letter in LETTERS if all((name in letter) == value for name, value in known.items())]
    for state in automaton.states:
        possible = {automaton.step(state, letter) for letter in agreeing}
        assert automaton.possible(state, known) == possible
        missing = automaton.missing(state, known)
        assert bool(missing) == (len(possible) > 1)
        assert missing.isdisjoint(known)
        for values in product((False, True), repeat=len(missing)):
            assert len(automaton.possible(state, known | dict(zip(missing, values, strict=True)))) == 1


@given(formula=some_formulas)
def test_labels_say_what_transitions_do(formula):
    automaton = from_formula(formula)
    for state in automaton.states:
        labels = transition_labels(automaton, state)
        assert tuple(labels) == automaton.targets(state)
        for letter in LETTERS:
            assert [target for target, label in labels.items() if holds(label, letter)] == [
                automaton.step(state, letter)
            ]
        for label in labels.values():
            assert no_literal_can_be_left_out(label)


def holds(label, letter):
    products = [] if label == "true" else label.split(" | ")
    return not products or any(all(literal_holds(each, letter) for each in cube.split(" & ")) for cube in products)


def literal_holds(literal, letter):
    return (literal.removeprefix("!") in letter) != literal.startswith("!")


def no_literal_can_be_left_out(label):
    if label == "true":
        return True
    cubes = [cube.split(" & ") for cube in label.split(" | ")]
    models = [letter for letter in LETTERS if holds(label, letter)]
    for number, cube in enumerate(cubes):
        others = cubes[:number] + cubes[number + 1 :]
        if all(any(all(literal_holds(each, letter) for each in other) for other in others) for letter in models):
            return False
        for literal in cube:
            shorter = [each for each in cube if each != literal]
            if all(letter in models for letter in LETTERS if all(literal_holds(each, letter) for each in shorter)):
                return False
    return True


def test_light_switch():  # the reference's vector
    made = from_formula("G(s -> X(l U !s))")
    given = from_transitions(
        [None, None, False],
        [(0, "!s", 0), (0, "s", 1), (1, "!s", 0), (1, "s & l", 1), (1, "s & !l", 2), (2, "true", 2)],
    )
    for word in product([frozenset(), {"s"}, {"l"}, {"s", "l"}], repeat=3):
        assert run(made, word) is run(given, word)
    assert made.verdicts == (None, None, False)
    assert transition_labels(made, 1) == {0: "!s", 1: "s & l", 2: "s & !l"}
    assert run(made, [{"s", "l"}, {"s"}]) is False


def test_concrete_syntax():
    automaton = from_formula("[](@sw1 -> <>(@li1 xor p)) W (a M b) R 1 && F<=3 ~q | G<=2(r)")
    assert set(automaton.inputs) <= {"sw1", "li1", "p", "a", "b", "q", "r"}
    assert references_in(parse_over_propositions("G(@sw1 -> X(@li1 U !@sw1))")) == {"sw1", "li1"}
    assert len(from_formula("G<=3 p").states) == 6
    with pytest.raises(FormulaError, match="a monitor and of a proposition") as caught:
        from_formula("G(a -> @a)")
    assert (caught.value.offset, caught.value.code) == (7, "DECENTRAL-012")


def machine(logic, text, events, **more):
    return compile_formula(logic, text, events, **more).machines[0]


def test_events_of_a_timestamp_happen_in_order():
    automaton = from_machine(machine("ere", "open close", ("open", "close"), goal=("match", "fail")))
    assert run(automaton, [{"open", "close"}]) is True
    assert run(automaton, [{"open"}, set(), {"close"}]) is True
    assert run(automaton, [{"close"}]) is False
    assert run(automaton, [{"open"}, {"open", "close"}]) is False


@given(
    text=st.sampled_from(["(a b)*", "a (b | c)* a", "~(a c)", "epsilon", "(a | b) c c*"]),
    word=st.lists(letters, max_size=5),
)
def test_machines_report_once(text, word):
    compiled = machine("ere", text, PROPOSITIONS, goal=("match", "fail"))
    automaton = from_machine(compiled)
    verdict, state = None, compiled.initial
    if "match" in compiled.final[state]:
        verdict = True
    for event in (name for letter in word for name in PROPOSITIONS if name in letter):
        state = compiled.table[state][compiled.alphabet.index(event)]
        if verdict is None and compiled.categories[state] & {"match", "fail"}:
            verdict = "match" in compiled.categories[state]
    assert run(automaton, word) is verdict


def test_categories_as_truth_values():
    formula = "start [go -> middle] middle [stop -> done] done []"
    done = machine("fsm", formula, ("go", "stop"), goal=("done",))
    with pytest.raises(DecentralError, match="'done' means true or false") as caught:
        from_machine(done)
    assert caught.value.code == "DECENTRAL-011"
    assert run(from_machine(done, {"done": False}), [{"go"}, {"stop"}]) is False
    past = from_machine(machine("ptltl", "b => <*> a", ("a", "b")))
    assert run(past, [{"a"}, {"b"}]) is None
    assert run(past, [{"b"}]) is False
    grammar = machine("cfg", "S -> a S b | epsilon", ("a", "b"))
    with pytest.raises(DecentralError, match="finitely many"):
        from_machine(grammar)


def test_transitions_that_overlap_are_refused():
    with pytest.raises(DecentralError, match="two states can follow state 0") as caught:
        from_transitions([None, True], [(0, "a", 0), (0, "b", 1)])
    assert caught.value.code == "DECENTRAL-010"
    with pytest.raises(DecentralError, match="final"):
        from_transitions([None, True], [(0, "a", 1), (1, "a", 0)])
    with pytest.raises(FormulaError, match="no 'o'"):
        from_transitions([None], [(0, "X a", 0)])


def test_parallel_transitions_are_alternatives_and_gaps_stay():
    automaton = from_transitions([None, True], [(0, "a", 1), (0, "a & b | c", 1)])
    assert transition_labels(automaton, 0) == {0: "!a & !c", 1: "a | c"}


@pytest.mark.parametrize(
    ("nodes", "roots", "verdicts"),
    [
        ((), (), ()),
        ((), (~1,), (None,)),
        (((0, ~0, 1),), (0,), (None,)),
        (((0, ~0, 1), (0, ~0, ~0)), (0,), (None,)),
        (((2, ~0, ~0),), (0,), (None,)),
        ((), (~1, ~1), (True, None)),
    ],
)
def test_what_is_no_automaton_is_refused(nodes, roots, verdicts):
    with pytest.raises(ValueError, match=r"automaton needs|node|transition|verdict"):
        Automaton(("a", "b"), verdicts, nodes, roots)


def test_cache(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "automata")
    first = cache.automaton("G(a -> X @m)")
    [file] = (tmp_path / "automata").iterdir()
    monkeypatch.setattr("mopsus.decentral.synthesis.from_formula", None)
    assert cache.automaton("[](a -> X(@m))") == first
    monkeypatch.undo()
    whole = file.read_bytes()
    for damaged in (
        b"",
        b'{"formula": "\xff"}',
        b"[" * 100_000,
        whole[:-9],
        whole.replace(b'"roots":[', b'"roots":[77,'),
    ):
        file.write_bytes(damaged)
        assert cache.automaton("G(a -> X @m)") == first
        assert len(list((tmp_path / "automata").iterdir())) == 1


def test_synthesis_ends_in_time(tmp_path):
    with pytest.raises(LogicError, match="too long"):
        Cache(tmp_path, timeout_s=0).automaton("G(a -> X(b U c))")
    assert list(tmp_path.iterdir()) == []


def test_drawing():
    drawn = draw(from_formula("a U b"), "text", "until")
    assert drawn.startswith("until: 3 states, reads b, a\n") or drawn.startswith("until: 3 states, reads a, b\n")
    assert "a & !b" in drawn
    assert "digraph" in draw(from_formula("a U b"), "dot")
