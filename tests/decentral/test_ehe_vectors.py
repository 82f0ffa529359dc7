"""The vectors of the thesis about expressions and encodings, by the definition and in the core."""

from __future__ import annotations

from oracle import ehe
from oracle.ehe import Atom
from oracle.tables import LIGHT

from mopsus import _core

S, L = "0", "1"
M0 = {Atom(1, S): True, Atom(2, S): True}
M1 = {Atom(1, L): True, Atom(2, L): False}


def literal(time, name, value=True):
    return Atom(time, name) if value else ("not", Atom(time, name))


def product(*literals):
    return ehe.conjunction(literals)


def expression(encoding, time, state):
    """The expression of the core, as one of the definition."""
    return ehe.disjunction(
        product(*(literal(at, str(name), value) for at, name, value in each))
        for each in encoding.expression(time, state)
    )


def memory(known):
    return _core.Memory([(atom.time, int(atom.name), value) for atom, value in known.items()])


def ticked(count):
    encoding = _core.Ehe(LIGHT.core)
    for _ in range(count):
        encoding.tick()
    return encoding


def test_rewriting_and_evaluation():
    known = {"s": True, "l": False}
    waiting = ("and", (("or", ("s", "l")), "pres"))
    assert ehe.rw(waiting, known) == "pres"
    assert ehe.evaluate(waiting, known) is None
    either_way = ("or", (("and", ("s", "l")), ("and", ("s", ("not", "l")))))
    assert ehe.evaluate(either_way, {"s": True}) is True


def test_the_light_goes_out():
    state = LIGHT.step(0, (True, True))
    assert state == 1
    assert LIGHT.step(state, (True, False)) == 2
    assert LIGHT.labelled.step(1, {S: True, L: False}) == 2


AFTER_TWO_TICKS = {
    (0, 0): True,
    (1, 0): literal(1, S, False),
    (1, 1): literal(1, S),
    (2, 0): literal(2, S, False),
    (2, 1): ehe.disjunction(
        [product(literal(1, S), literal(2, S), literal(2, L)), product(literal(1, S, False), literal(2, S))]
    ),
    (2, 2): product(literal(1, S), literal(2, S), literal(2, L, False)),
}


def test_expressions_after_two_ticks():
    defined = ehe.mov(LIGHT.labelled, {(0, 0): True}, 0, 2)
    assert defined.keys() == AFTER_TWO_TICKS.keys()
    encoding = ticked(2)
    for (time, state), expected in AFTER_TWO_TICKS.items():
        assert ehe.equivalent(defined[time, state], expected)
        assert ehe.equivalent(expression(encoding, time, state), expected)
    assert encoding.expression(2, 0) == [[(2, 0, False)]]
    assert encoding.expression(1, 2) == []
    assert encoding.expression(0, 0) == [[]]


def test_two_replicas_are_merged():
    whole = ehe.mov(LIGHT.labelled, {(0, 0): True}, 0, 2)
    merged = ehe.either(ehe.inc(whole, M0), ehe.inc(whole, M1))
    assert ehe.simplify(merged[1, 1]) is True
    assert ehe.equivalent(merged[2, 1], ("or", (literal(2, L), product(literal(1, S, False), literal(2, S)))))
    assert ehe.equivalent(merged[2, 2], ("or", (literal(2, L, False), product(literal(1, S), literal(2, S)))))
    for known in (M0, M1):
        assert ehe.sel(merged, known, 2) == 2
        assert ehe.ver_at(LIGHT.labelled, merged, known, 2) is False

    # The core joins what the two know, and needs no memory to conclude.
    replicas = [ticked(2), ticked(2)]
    for replica, known in zip(replicas, (M0, M1), strict=True):
        replica.update(memory(known))
    assert [replica.state(2) for replica in replicas] == [None, None]
    replicas[0].merge(replicas[1])
    assert replicas[0].state(1) == 1
    assert replicas[0].verdict(2) is False
    assert replicas[0].reasons(2) == [(1, 0, True), (2, 0, True), (2, 1, False)]


def test_the_size_of_expressions_is_that_of_the_model():
    # (0,0) true; (1,0) !s, (1,1) s; (2,0) !s, (2,1) !s&s | s&l, (2,2) s&s&!l.
    # An atom is 4 and its name, an operator 1.
    entries, constant = 6 * (4 + 4), 1
    atom = 4 + 1
    expressions = (atom + 1) + atom + (atom + 1) + (4 * atom + 1 + 2 + 1) + (3 * atom + 2 + 1)
    encoding = _core.Ehe(
        _core.Automaton(["s", "l"], LIGHT.verdicts, [(0, ~0, ~1), (0, ~0, 2), (1, ~2, ~1)], [0, 1, ~2])
    )
    encoding.tick()
    encoding.tick()
    assert encoding.data() == entries + constant + expressions
