"""The JSON report keeps the schema that is published with it."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mopsus.model import Diagnostic, MopsusError, Span
from mopsus.model.result import Debugged
from mopsus.verdict import Ending

DOCS = Path(__file__).parents[2] / "docs" / "reference"
SCHEMA = json.loads((DOCS / "report.schema.json").read_text("utf-8"))
UNKNOWN = {"specs": (), "warnings": (), "started": None, "elapsed_s": None}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        UNKNOWN,
        {"error": MopsusError("row has 2 fields, expected 3", code="TRACE-003"), "interrupted": True},
        {"error": Diagnostic("TRACE-004", "no such column", Span("t.csv", 1, 1, 1, 2))},
        {"endings": (Ending("HasNext", "safe", False, 2, [{"i": 1}]), Ending("HasNext", "safe", None, 1, [{}]))},
        {"endings": ()},
        {"debugged": Debugged(3)},
        {"debugged": Debugged(None, "a property is violated", "queue.c:12", ("push at queue.c:12", "main"))},
    ],
)
@pytest.mark.parametrize("verdicts", ["sample", "evil", "none"])
def test_json_keeps_its_schema(sample, verdicts, changes):
    chosen = {"sample": sample.verdicts, "evil": (sample.evil,), "none": ()}[verdicts]
    Draft202012Validator(SCHEMA).validate(json.loads(sample.report("json", chosen, **changes)))


def test_the_schema_is_one_and_refuses_other_data(sample):
    Draft202012Validator.check_schema(SCHEMA)
    report = json.loads(sample.report("json"))
    for broken in ({**report, "version": 2}, {**report, "verdicts": [{}]}, {**report, "stats": {}}):
        assert not Draft202012Validator(SCHEMA).is_valid(broken)


def test_the_example_of_the_reference_page_keeps_the_schema():
    page = (DOCS / "reports.md").read_text("utf-8")
    example = page.split("```json\n")[1].split("```")[0]
    Draft202012Validator(SCHEMA).validate(json.loads(example))
