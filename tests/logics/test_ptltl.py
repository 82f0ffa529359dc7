"""Past-time LTL: both forms of assignments and the machine against the definition, and the machines of the thesis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logics.formulas import ALPHABET, compiled, reported, run, words
from logics.temporal_formulas import past_formulas

import mopsus
from mopsus.logics import LogicError, Request, distinguish, load_logic
from mopsus.logics.ptltl.assignments import Gate, parallel, sequential

PTLTL = load_logic("ptltl")
BOTH = frozenset({"violation", "validation"})


@given(formula=past_formulas, word=words, goal=st.frozensets(st.sampled_from(sorted(BOTH)), min_size=1))
def test_machine_and_assignments_follow_the_definition(formula, word, goal):
    machine = PTLTL.compile(formula, Request(ALPHABET, goal))
    program, circuit = sequential(formula), parallel(formula)
    bits = wires = program.initial
    assert circuit.initial == bits
    for length, state in enumerate(run(machine, word)[1:], 1):
        wanted = PTLTL.reference(formula, ALPHABET, word[:length])
        assert machine.categories[state] & goal == wanted & goal
        bits, by_program = program.step(bits, word[length - 1])
        wires, by_circuit = circuit.step(wires, word[length - 1])
        assert bits == wires
        assert by_program == by_circuit == ("validation" in wanted)


def test_has_next_machine_of_the_thesis():  # §4.15
    machine = compiled("ptltl", "next => (*)hasNext", "next hasNext other", *BOTH)
    n0, n1, n2 = 0, 1, 2
    assert machine.initial == n0
    assert machine.table == ((n0, n1, n2), (n2, n1, n2), (n0, n1, n2))
    assert machine.categories == ({"violation"}, {"validation"}, {"validation"})
    assert reported(compiled("ptltl", "next => (*)hasNext", "next hasNext"), ["hasNext", "next", "next", "next"]) == [
        set(),
        set(),
        {"violation"},
        {"violation"},
    ]


def texts(form):
    return [("output" if step.target is None else f"b{step.target}", str(step.value)) for step in form.steps]


def parse(text, events="e1 e2 e3"):
    return PTLTL.parse(text, tuple(events.split()))


def test_bits_of_previous_are_assigned_after_all_that_read_them():  # §4.15, the caution
    assert texts(sequential(parse("(<*>e1 S (*)e3) and (*)e3"))) == [
        ("b0", "(e1 or b0)"),
        ("b2", "((b0 and b2) or b1)"),
        ("output", "(b2 and b1)"),
        ("b1", "e3"),
    ]
    # Of nested ones the outer is assigned first, for it reads the inner.
    assert texts(sequential(parse("(*)(*)e1"))) == [("output", "b1"), ("b1", "b0"), ("b0", "e1")]


def test_parallel_form_substitutes_what_was_assigned_before():  # §4.15, the thesis's example
    formula = parse("<*>e1 S e2")
    assert texts(sequential(formula)) == [("b0", "(e1 or b0)"), ("b1", "((b0 and b1) or e2)"), ("output", "b1")]
    assert texts(parallel(formula)) == [
        ("b0", "(e1 or b0)"),
        ("b1", "(((e1 or b0) and b1) or e2)"),
        ("output", "(((e1 or b0) and b1) or e2)"),
    ]


def test_equal_operators_share_a_bit():
    assert len(parallel(parse("<*>e1 or (e2 and <*>e1)")).initial) == 1


def test_long_chains_stay_small():
    """Each `<*>` appears twice in the one around it; written out, the right sides would be exponential."""
    text = "e1"
    for _ in range(30):
        text = f"<*>({text} xor (*)({text}))" if len(text) < 20_000 else f"<*>({text})"
    form = parallel(parse(text))
    assert form.step(form.initial, "e1")[1] in (True, False)


def test_access_needs_authentication():  # §6.1
    machine = compiled("ptltl", "access => <*>authenticate", "access authenticate", *BOTH)
    assert reported(machine, ["access", "authenticate", "access"]) == [
        {"violation"},
        {"validation"},
        set(),
    ]
    assert machine.final[run(machine, ["authenticate"])[-1]] == {"validation"}  # nothing can be violated any more


def test_pacer_commit_is_validated_after_both_answers():  # §5.4
    text = (
        "successPacer and <*>successRate and (*)(not (not successRate S successPacer))"
        " and (*)(not (not successRate S failureRate))"
    )
    machine = compiled("ptltl", text, "successPacer successRate failureRate", "validation")
    assert reported(machine, ["successRate", "successPacer"]) == [set(), {"validation"}]
    assert reported(machine, ["successRate", "failureRate", "successPacer"])[-1] == set()
    assert reported(machine, ["successRate", "successPacer", "successPacer"])[-1] == set()


def test_a_constant_value_is_reported_once():
    assert reported(compiled("ptltl", "false", "a b"), "ab") == [{"violation"}, set()]
    assert reported(compiled("ptltl", "[*]a", "a b"), "abab") == [set(), {"violation"}, set(), set()]
    assert reported(compiled("ptltl", "not <*>b", "a b", "validation"), "aaba") == [{"validation"}] * 2 + [set()] * 2


@pytest.mark.parametrize(
    ("past", "future"),
    [
        ("[*](a => (*)b)", "[](a => (*)b)"),
        ("[*](c => (not b S a))", "[](c => ((not b) S a))"),
        ("[*]not (a and <*>b)", "[](b => [](not a))"),
    ],
)
def test_what_must_always_have_held_is_one_machine_in_both_logics(past, future):
    one, other = compiled("ptltl", past, "a b c"), compiled("ltl", future, "a b c")
    assert distinguish(one, other, frozenset({"violation"})) is None
    assert one.table == other.table
    assert (one.enable, one.coenable, one.alive, one.final) == (other.enable, other.coenable, other.alive, other.final)


def test_too_many_states_are_refused(monkeypatch):
    monkeypatch.setattr("mopsus.logics.machines.automaton.MAX_STATES", 1000)
    text = " xor ".join("(*)" * depth + "(a)" for depth in range(1, 40))
    with pytest.raises(LogicError) as caught:
        compiled("ptltl", text, "a b")
    assert caught.value.code == "LOGIC-007"


def test_gates_are_few():
    assert {gate.value for gate in Gate} == {"true", "false", "event", "bit", "not", "and", "or", "xor"}


HAS_NEXT = """
HasNext(i) {
  event hasnext(i)
  event next(i)
  ptltl : next => (*)hasnext
  @violation
  @validation
}
"""


def test_has_next_end_to_end():  # §6.1
    [spec] = mopsus.parse(HAS_NEXT).values()
    first, second = "first", "second"
    with spec.monitor() as monitor:
        for event, iterator in [
            ("hasnext", first),
            ("next", second),
            ("next", first),
            ("next", first),
            ("next", first),
        ]:
            monitor.emit(event, i=iterator)
    violations = [verdict for verdict in monitor.verdicts if verdict.category == "violation"]
    assert [verdict.binding["i"] for verdict in violations] == [second, first, first]
    assert [(verdict.truth, verdict.final) for verdict in violations] == [(False, False)] * 3
