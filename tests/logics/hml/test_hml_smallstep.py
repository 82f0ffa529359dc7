"""The linear reading in small steps: the rules of section 4.5, and that it agrees with the other definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from oracle.components import happening, occurrence, start
from oracle.modal import wholes, words

from mopsus.logics.hml.compile import Reading
from mopsus.logics.hml.erlang import parse_form
from mopsus.logics.hml.reference import verdicts
from mopsus.logics.hml.smallstep import derivations

VERDICTS = {"acceptance": True, "rejection": False, None: None}


@given(wholes(linear=True), words)
def test_small_steps_give_the_same_verdict(whole, word):
    trace = [start("jobs", "worker", 1), *word]
    assert derivations(whole, trace)[1] is VERDICTS[verdicts(Reading(linear=True), whole, trace)[-1]]


@pytest.mark.parametrize(
    ("formula", "trace", "steps"),
    [
        (
            "[_ <- _, m:f(T)]max X.([_ ? _]([_:_ ! K when K =:= T]ff and [_:_ ! K when K =/= T]X))",
            "init(W,L,{m,f,[7]}) recv(W,go) send(W,C,7)",
            "mChsL(mAct) mRec mChsL(mAct) mPar(mChsL(mAct), mChsR(mAct)) mConYR",
        ),
        ("tt or ff", "", "mDisYL"),
        ("ff or tt", "", "mDisYR"),
        ("[_ ? a]ff or ff", "", "mDisNR"),
        ("ff or [_ ? a]ff", "", "mDisNL"),
        ("tt and [_ ? a]ff", "", "mConYL"),
        ("[_ ? a]ff and tt", "", "mConYR"),
        ("ff and [_ ? a]ff", "", "mConNL"),
        ("[_ ? a]ff and ff", "", "mConNR"),
        ("max X.([_ ? a]X) and max Y.([_ ? b]Y)", "", "mTauL(mRec) mTauR(mRec)"),
        ("[_ ? a]ff", "recv(W,b) recv(W,b)", "mChsR(mAct) mVrd"),
    ],
)
def test_rules(formula, trace, steps):
    whole = parse_form(f"with m:f(_) check {formula}")
    found, _ = derivations(whole, [start("m", "f", 7), *(happening(occurrence(line)) for line in trace.split())])
    assert " ".join(map(str, found)) == steps
