"""How a program ended under a debugger, as the reports say it."""

from __future__ import annotations

import json

import pytest

from mopsus.model.result import Debugged

STOPPED = Debugged(None, "Queue is in full", "queue.c:12", ("queue_push at queue.c:12", "main at queue.c:30"))


@pytest.mark.parametrize(
    ("debugged", "said"),
    [
        (Debugged(0), "the program ended with 0"),
        (Debugged(3), "the program ended with 3"),
        (Debugged(-11), "the program died of SIGSEGV (segmentation fault)"),
        (Debugged(None), "the program had not ended"),
        (STOPPED, "stopped at queue.c:12"),
    ],
)
def test_the_last_line_says_how_the_program_ended(sample, debugged, said):
    last = sample.report("terminal", (), debugged=debugged).strip().splitlines()[-1]
    assert last.split(" · ")[-1] == said


def test_a_stop_is_shown_with_its_stack(sample):
    text = sample.report("terminal", (), debugged=STOPPED)
    assert "stopped at queue.c:12: Queue is in full\n    queue_push at queue.c:12\n    main at queue.c:30\n" in text


def test_the_json_report_has_the_status_or_the_stop(sample):
    assert json.loads(sample.report("json", (), debugged=Debugged(3)))["program"] == {"status": 3, "stop": None}
    assert json.loads(sample.report("json", (), debugged=STOPPED))["program"] == {
        "status": None,
        "stop": {
            "reason": "Queue is in full",
            "location": "queue.c:12",
            "backtrace": ["queue_push at queue.c:12", "main at queue.c:30"],
        },
    }


def test_other_runs_have_no_program(sample):
    assert "program" not in json.loads(sample.report("json", ()))
