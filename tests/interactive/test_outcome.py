"""What goes into the process of a debugger, and what comes out of it, survives the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mopsus.bus import pack, unpack
from mopsus.interactive.crash import Crash
from mopsus.interactive.debugger import Where
from mopsus.interactive.outcome import INTERRUPTION, Doubt, Outcome, Stop, joined
from mopsus.interactive.setup import Setup, Watched
from mopsus.model import Severity, Unseen, Verdict, WitnessEvent

VERDICT = Verdict(
    spec="Queue",
    property="efsm",
    category="full",
    truth=None,
    final=True,
    binding={"q": 0x5555DEADBEEF},
    location="queue.c:12",
    time=0.25,
    witness=(WitnessEvent("push", {"q": 0x5555DEADBEEF}, "queue.c:12", 0.25, 17),),
    severity=Severity.ERROR,
    row=17,
)


def test_an_outcome_survives():
    outcome = Outcome(
        (VERDICT,), {"Queue": {"events": 17}}, None, Stop("full", "queue.c:12", ("push", "main")), None, ("odd",)
    )
    assert unpack(Outcome, pack(outcome)) == outcome


def test_an_outcome_without_a_stop_survives():
    outcome = Outcome(status=-11, error="gdb died", doubts=(Doubt("Queue", "pop", "-O2"),), started=2)
    assert unpack(Outcome, pack(outcome)) == outcome


def test_what_no_process_has_seen_is_unseen_whoever_looked_for_it():
    needless, sought, other = (
        Unseen("Queue", "pop", hint="nobody looked for it"),
        Unseen("Queue", "pop"),
        Unseen("Queue", "push"),
    )
    parent = Outcome(unseen=(needless, other))
    assert joined(parent, {7: Outcome(unseen=(needless,))}).unseen == (needless,)
    assert joined(parent, {7: Outcome(unseen=(sought,))}).unseen == (sought,)
    assert joined(parent, {7: Outcome()}).unseen == ()


def test_what_one_process_has_lost_is_lost_whatever_another_has_seen():
    """An event that was left out in a child was once forgotten, and the run was green."""
    lost = Unseen("Queue", "pop", possible=False, reason="nobody can say whose it is", lost=True)
    missing = Unseen("Queue", "pop", possible=False, reason="there is no function pop")
    assert joined(Outcome(), {7: Outcome(unseen=(lost,))}).unseen == (lost,)
    assert joined(Outcome(unseen=(lost,)), {7: Outcome()}).unseen == (lost,)
    assert joined(Outcome(unseen=(lost,)), {7: Outcome(unseen=(lost,))}).unseen == (lost,)
    assert joined(Outcome(unseen=(missing,)), {7: Outcome()}).unseen == ()  # the child has loaded what has it
    assert joined(Outcome(), {7: Outcome(unseen=(missing,))}).unseen == ()


def test_what_any_process_has_seen_nobody_doubts():
    """A child that did nothing once said that the event of its parent never happened."""
    stats = {name: {"Queue": {"seen": {"pop": count}}} for name, count in (("some", 1), ("none", 0))}
    doubt = Doubt("Queue", "pop", "it was compiled with -O2")
    some, none = Outcome(stats=stats["some"]), Outcome(stats=stats["none"], doubts=(doubt,))
    assert (joined(some, {7: none}).said, joined(none, {7: some}).said) == ([], [])
    assert joined(none, {7: none}).said == [
        "Queue: event pop never happened, as far as can be seen: it was compiled with -O2"
    ]


def test_programs_that_several_processes_start_are_counted():
    assert joined(Outcome(started=1), {7: Outcome(started=1)}).said == ["2 programs that it started were not watched"]


def test_a_run_is_interrupted_whichever_of_its_processes_that_was():
    child = Outcome(stop=Stop(INTERRUPTION, None))
    assert joined(Outcome(status=0), {7: child}).was_interrupted
    assert not joined(Outcome(stop=Stop("Queue: full", None)), {7: child}).was_interrupted
    assert not joined(Outcome(status=0), {7: Outcome(status=0)}).was_interrupted


@pytest.mark.parametrize(("number", "severity"), [(15, Severity.WARNING), (9, Severity.WARNING), (11, Severity.ERROR)])
def test_a_child_that_its_parent_ends_is_no_violation(number, severity):
    (died,) = Crash.seen("died", Where(None, None, None, 0.0), (), ()).verdicts()
    found = joined(Outcome(status=0), {7: Outcome((died,), status=-number)})
    assert [each.severity for each in found.verdicts] == [severity]


def test_a_setup_survives():
    setup = Setup((Watched("q.prop", "s.scn", None, True),), ("./queue", "-x", "17"), batch=True, record="t.csv")
    assert unpack(Setup, pack(setup)) == setup


@pytest.mark.parametrize("value", [b"\xff", (1, [b"x"]), "\ud800", 2**100, ("a",), ["a"]])
def test_values_of_a_verdict_are_the_same_in_the_outcome(value):
    """Bytes were texts once, so that a report showed quotes around what they look like."""
    verdict = replace(VERDICT, binding={"q": value})
    (found,) = unpack(Outcome, pack(Outcome((verdict,)))).verdicts
    assert repr(found.binding) == repr(verdict.binding)
