"""What goes into the process of a debugger, and what comes out of it, survives the way."""

from __future__ import annotations

from mopsus.interactive.outcome import Outcome, Stop
from mopsus.interactive.setup import Setup, Watched
from mopsus.model import Severity, Verdict, WitnessEvent

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
        (VERDICT,), {"Queue": {"events": 17}}, None, Stop("full", "queue.c:12", ("push", "main")), None, ["odd"]
    )
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_an_outcome_without_a_stop_survives():
    outcome = Outcome(status=-11, error="gdb died", warnings=[])
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_a_setup_survives():
    setup = Setup((Watched("q.prop", "s.scn", None, True),), ("./queue", "-x", "17"), batch=True, record="t.csv")
    assert Setup.from_json(setup.to_json()) == setup
