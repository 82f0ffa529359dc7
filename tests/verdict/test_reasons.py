"""How the steps of a formula with data are told in every form of report, and sent to another process."""

from __future__ import annotations

import io
import json

import pytest

from mopsus.bus import pack, unpack
from mopsus.model import Event, Parameter, Severity, Spec, Step, Verdict, WitnessEvent
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.model.text import show_value
from mopsus.report.html import render_html
from mopsus.report.json import JsonReporter, json_verdict
from mopsus.report.reporter import Options
from mopsus.report.summary import Summary
from mopsus.report.terminal import TerminalReporter
from mopsus.verdict import Groups, explain, plain_text
from mopsus.verdict.reasons import reasoned_events

WORKER = Pid("<0.20.0>")
SPEC = Spec("jobs", (Parameter("component"),), events=(Event("recv", ("component",), fields=("subject", "message")),))


def step(modality: str, message: object, fitted: bool = True, row: int = 1, **more: object) -> Step:
    return Step(modality, "recv", (WORKER, message), fitted, more.pop("binding", {}), row=row, **more)


VERDICT = Verdict(
    "jobs",
    "worker",
    "rejection",
    truth=False,
    final=True,
    binding={"component": WORKER},
    location=None,
    time=None,
    witness=(WitnessEvent("recv", {"component": WORKER}, row=2),),
    severity=Severity.ERROR,
    row=2,
    steps=(
        step("[_ ? {job, N}]", (Atom("job"), 7), binding={"N": 7}, unfolded=("X",)),
        step("[_ ? N]", Atom("stop"), False, row=2),
        step("[_ ? stop]", Atom("stop"), row=2),
    ),
)


def test_steps_at_one_event_are_told_together():
    assert reasoned_events(VERDICT, SPEC) == [
        (
            WitnessEvent("recv", {"subject": WORKER, "message": (Atom("job"), 7)}, row=1),
            ("[_ ? {job, N}] fits, N=7; goes on with X",),
        ),
        (
            WitnessEvent("recv", {"subject": WORKER, "message": Atom("stop")}, row=2),
            ("[_ ? N] does not fit", "[_ ? stop] fits"),
        ),
    ]


def test_fields_without_names_are_numbered():
    assert list(reasoned_events(VERDICT, None)[0][0].binding) == ["1", "2"]


def test_as_plain_text():
    assert plain_text(explain(VERDICT, spec=SPEC)).splitlines() == [
        "jobs: rejection for component=<0.20.0> at row 2",
        "   1. recv(subject=<0.20.0>, message=(job, 7))  at row 1",
        "        [_ ? {job, N}] fits, N=7; goes on with X",
        "   2. recv(subject=<0.20.0>, message=stop)  at row 2",
        "        [_ ? N] does not fit",
        "        [_ ? stop] fits",
    ]


def test_a_long_explanation_is_cut_in_the_middle():
    steps = tuple(step("[_ ? N]", number, row=number) for number in range(1, 101))
    verdict = Verdict(**{name: getattr(VERDICT, name) for name in VERDICT.__slots__} | {"steps": steps})
    told = explain(verdict, spec=SPEC)
    assert [each.event.row for each in told.steps] == [1, *range(70, 101)]
    assert told.remarks == ("After the first event, 68 are left out.",)


def test_in_a_terminal():
    out = io.StringIO()
    reporter = TerminalReporter(out, Options(specs={SPEC.name: SPEC}, colour=False, width=150))
    reporter.add(VERDICT)
    reporter.finish(Summary((SPEC,)))
    assert "recv  subject=<0.20.0>, message=(job, 7)  [_ ? {job, N}] fits, N=7; goes on with X" in out.getvalue()


def test_as_json():
    assert json_verdict(VERDICT)["steps"][0] == {
        "modality": "[_ ? {job, N}]",
        "event": "recv",
        "data": ["<0.20.0>", ["job", 7]],
        "fitted": True,
        "binding": {"N": 7},
        "unfolded": ["X"],
        "location": None,
        "time": None,
        "row": 1,
    }
    out = io.StringIO()
    reporter = JsonReporter(out, Options(specs={SPEC.name: SPEC}))
    reporter.add(VERDICT)
    reporter.finish(Summary((SPEC,)))
    assert len(json.loads(out.getvalue())["verdicts"][0]["steps"]) == 3


def test_as_html():
    groups = Groups()
    groups.add(VERDICT)
    page = render_html(groups, Summary((SPEC,)), Options(specs={SPEC.name: SPEC}))
    assert "[_ ? {job, N}] fits, N=7; goes on with X" in page


def test_steps_survive_the_way_to_another_process():
    data = (
        WORKER,
        [Atom("a"), {String("k"): (1, Reference("#Ref<0.1.2.3>"))}, b"x", None, 2.5, 2**80],
    )
    verdict = Verdict(
        **{name: getattr(VERDICT, name) for name in VERDICT.__slots__}
        | {"steps": (Step("[_ ? N]", "recv", data, True, {"N": data[1]}, ("X",), "here", 1.5, 3),)}
    )
    arrived = unpack(Verdict, pack(verdict))
    assert arrived == verdict
    assert type(arrived.steps[0].data[0]) is Pid


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Atom("a"), "a"),
        (Pid("<0.1.2>"), "<0.1.2>"),
        (String("a"), "'a'"),
        ("a", "'a'"),
        ([1, Atom("b")], "[1, b]"),
        ({Atom("k"): (1,)}, "{k: (1,)}"),
        (Atom("evil\x1b[2J"), "evil\\x1b[2J"),
        (list(range(20)), "[0, 1, 2, 3, 4, 5, 6, 7, …]"),
    ],
)
def test_values(value, shown):
    assert show_value(value) == shown
