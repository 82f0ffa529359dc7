"""What each format promises to its readers."""

import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from mopsus.model import (
    Diagnostic,
    Event,
    MopsusError,
    ObjectRef,
    Property,
    Severity,
    Span,
    Spec,
    Verdict,
    WitnessEvent,
)
from mopsus.report import Options, Summary, open_report
from mopsus.report.json import EXPLAINED, json_value
from mopsus.verdict import Ending

STOPPED = MopsusError("row has 2 fields, expected 3", hint="repair the file", code="TRACE-003")


def test_json_has_every_verdict_in_order(sample):
    report = json.loads(sample.report("json"))
    assert report["version"] == 1
    assert [item["row"] for item in report["verdicts"]] == [12, 22, 32, 42, 52, None]
    assert report["verdicts"][0]["witness"][0] == {
        "event": "hasnext",
        "binding": {"i": 17},
        "location": "trace.csv:10",
        "time": None,
        "row": 10,
    }
    assert report["stats"]["verdicts"] == {"error": 5, "warning": 1, "note": 0}


def test_json_without_verdicts_is_json(sample):
    assert json.loads(sample.report("json", ()))["verdicts"] == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1, 1),
        (1.0, 1.0),
        ("x", "x"),
        ((1, ("a",)), [1, ["a"]]),
        (2**64 - 1, 2**64 - 1),
        (b"\x00", {"type": "bytes", "repr": "b'\\x00'"}),
        (float("nan"), {"type": "float", "repr": "nan"}),
        (2**65, {"type": "int", "repr": "36893488147419103232"}),
        (ObjectRef("list_iterator", 4, "<it>"), {"type": "list_iterator", "serial": 4, "repr": "<it>"}),
    ],
)
def test_json_values(value, expected):
    shown = json_value(value)
    assert (type(shown), shown) == (type(expected), expected)


def test_junit_has_a_case_per_property(sample):
    root = ElementTree.fromstring(sample.report("junit"))
    cases = {f"{case.get('classname')}/{case.get('name')}": case for case in root.iter("testcase")}
    assert list(cases) == ["HasNext/safe", "Locks/order", "Locks/released", "Sockets/closed"]
    assert [name for name, case in cases.items() if case.find("failure") is not None] == ["HasNext/safe"]
    assert cases["HasNext/safe"].find("failure").get("message").startswith("5 violations: HasNext: match for i=17")
    assert cases["Locks/order"].find("system-out").text.startswith("warning: Locks: fail")
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "0")


@pytest.mark.parametrize("change", [{"error": STOPPED}, {"interrupted": True}])
def test_junit_of_a_run_that_stopped_early_is_an_error(sample, change):
    root = ElementTree.fromstring(sample.report("junit", (), **change))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "0", "1")


def test_junit_names_what_no_spec_declares(sample):
    root = ElementTree.fromstring(sample.report("junit", specs=()))
    assert [case.get("name") for case in root.iter("testcase")] == ["safe", "order"]


def test_sarif_has_what_readers_require(sample):
    report = json.loads(sample.report("sarif"))
    assert report["version"] == "2.1.0"
    (run,) = report["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) == 4
    assert rules[0]["helpUri"] == "https://example.org/hasnext"
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "warning", "warning", "error"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        for place in result["locations"]:
            assert place["physicalLocation"]["region"]["startLine"] >= 1
    first = run["results"][0]
    assert first["occurrenceCount"] == 5
    assert len(first["relatedLocations"]) == 2
    flow = first["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow] == [11, 12, 13]
    assert flow[-1]["location"]["message"]["text"] == "next(i=17) -> match"


@pytest.mark.parametrize(
    ("location", "row", "sources", "physical"),
    [
        ("trace.csv:7", 7, (), {"artifactLocation": {"uri": "trace.csv"}, "region": {"startLine": 8}}),
        ("a b.csv:7", 7, (), {"artifactLocation": {"uri": "a%20b.csv"}}),
        ("app.py:3:9", 7, (), {"artifactLocation": {"uri": "app.py"}, "region": {"startLine": 3, "startColumn": 9}}),
        ("/x/app.py:3", None, (), {"artifactLocation": {"uri": "file:///x/app.py"}, "region": {"startLine": 3}}),
        (None, 7, ("trace.csv",), {"artifactLocation": {"uri": "trace.csv"}, "region": {"startLine": 8}}),
        (None, 7, ("a.jsonl", "b.jsonl"), None),
        ("<stdin>:7", 7, ("<stdin>",), None),
        ("checkout page", 7, ("a.csv",), None),
    ],
)
def test_sarif_places(sample, location, row, sources, physical):
    verdict = replace(sample.verdicts[0], location=location, row=row, witness=())
    result = json.loads(sample.report("sarif", (verdict,), sources=sources))["runs"][0]["results"][0]
    assert result["locations"][0].get("physicalLocation") == physical


def test_sarif_fingerprint_survives_another_row(sample):
    def fingerprint(verdict):
        result = json.loads(sample.report("sarif", (verdict,)))["runs"][0]["results"][0]
        return result["partialFingerprints"]

    assert fingerprint(sample.verdicts[0]) == fingerprint(sample.verdicts[4])
    assert fingerprint(sample.verdicts[0]) != fingerprint(sample.verdicts[5])


def test_sarif_of_a_run_that_stopped_early(sample):
    (invocation,) = json.loads(sample.report("sarif", error=STOPPED))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][-1]["descriptor"] == {"id": "TRACE-003"}


def test_html_draws_the_machine_once_per_finding(sample):
    stream = io.StringIO()
    options = replace(sample.options, draw=lambda machine: f'<?xml version="1.0"?><svg id="m{len(machine.table)}"/>')
    reporter = open_report("html", stream, options)
    for verdict in sample.verdicts:
        reporter.add(verdict)
    reporter.finish(sample.summary)
    assert stream.getvalue().count('<figure class="machine"><svg id="m3"/>') == 1


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({}, "No violations"),
        ({"error": STOPPED}, "No violations so far"),
        ({"interrupted": True}, "No violations so far"),
    ],
)
def test_html_headline_is_honest(sample, changes, headline):
    assert f"<h1>{headline}</h1>" in sample.report("html", (), **changes)


def terminal(sample, verdicts=(), summary=None, **options):
    stream = io.StringIO()
    reporter = open_report("terminal", stream, replace(sample.options, **options))
    for verdict in verdicts:
        reporter.add(verdict)
    shown = stream.getvalue()
    reporter.finish(summary or replace(sample.summary, warnings=()))
    return shown, stream.getvalue()


def test_terminal_shows_each_finding_once_then_the_summary(sample):
    _, text = terminal(sample, sample.verdicts)
    assert text.count("HasNext/safe") == 1
    assert text.splitlines()[-1] == (
        "5 violations (1 unique), 1 warning in 12,000 events"
        " · 3 specs · 7 ignored · 2 bad rows skipped · 8.0 k events/s"
    )


def test_a_short_run_has_no_rate(sample):
    short = replace(sample.summary, elapsed_s=0.9)
    assert "events/s" not in terminal(sample, sample.verdicts, short)[1]


def test_terminal_quiet_is_silent_unless_there_is_something_to_say(sample):
    assert terminal(sample, (), quiet=True)[1] == ""
    assert len(terminal(sample, sample.verdicts, quiet=True)[1].splitlines()) == 1
    stopped = replace(sample.summary, error=STOPPED)
    assert terminal(sample, (), stopped, quiet=True)[1].rstrip().endswith("stopped early by TRACE-003")


def test_terminal_live_shows_verdicts_as_they_come(sample):
    before, whole = terminal(sample, sample.verdicts[:3], live=True)
    assert before.count("HasNext/safe") == 1
    assert "Ask hasnext before each next" in before
    assert "error: HasNext: match for i=19 at trace.csv row 32 (3 so far)" in before
    assert whole.removeprefix(before).startswith("3 violations (1 unique) in")


def test_terminal_colours_only_when_asked(sample):
    assert "\x1b[" not in terminal(sample, sample.verdicts)[1]
    assert "\x1b[" in terminal(sample, sample.verdicts, colour=True)[1]


def test_terminal_folds_into_a_narrow_window(sample):
    _, text = terminal(sample, sample.verdicts, width=40)
    assert max(map(len, text.splitlines()[:-1])) <= 40


def test_terminal_shows_warnings_where_they_are(sample):
    warning = Diagnostic("SPEC-050", "unused event", Span("a.mop", 2, 3, 2, 9), warning=True)
    _, text = terminal(sample, (), replace(sample.summary, warnings=(warning,)))
    assert "warning[SPEC-050]: unused event" in text
    assert "a.mop:2:3" in text


def test_notes_are_no_violations(sample):
    note = replace(sample.verdicts[0], severity=Severity.NOTE)
    _, text = terminal(sample, (note,))
    assert "no violations, 1 note in" in text


def test_options_default_to_a_plain_report(sample):
    stream = io.StringIO()
    reporter = open_report("terminal", stream, Options())
    reporter.add(sample.verdicts[0])
    reporter.finish(sample.summary)
    assert "→" not in stream.getvalue()  # no machine, so no states


ENDINGS = (
    Ending("HasNext", "safe", False, 5, [{"i": 1}, {"i": 2}, {"i": 3}]),
    Ending("HasNext", "safe", True, 1, [{"i": 9}]),
)


def test_the_end_of_the_trace_is_told_where_it_was_asked_for(sample):
    text = sample.report("terminal", (), endings=ENDINGS, warnings=())
    assert "At the end of the trace\n" in text
    assert "  HasNext/safe  presumably false  5 instances  i=1 · i=2 · i=3 · …\n" in text
    assert "  HasNext/safe  presumably true   1 instance   i=9\n" in text
    assert "<td>presumably false</td><td>5</td><td>i=1 · i=2 · i=3</td>" in sample.report("html", (), endings=ENDINGS)
    assert json.loads(sample.report("json", (), endings=ENDINGS))["at_end"][0] == {
        "spec": "HasNext",
        "property": "safe",
        "presumed": False,
        "count": 5,
        "examples": [{"i": 1}, {"i": 2}, {"i": 3}],
    }


@pytest.mark.parametrize("name", ["terminal", "html", "json"])
def test_nothing_is_said_of_the_end_unless_asked_for(sample, name):
    text = sample.report(name)
    assert "At the end of the trace" not in text
    assert "at_end" not in text


def test_all_decided(sample):
    assert "every instance is decided" in sample.report("terminal", (), endings=())
    assert "Every instance is decided." in sample.report("html", (), endings=())


DOOR = Spec("Door", events=(Event("open"), Event("enter")), properties=(Property("p", "ptltl", "enter => <*> open"),))


def entered(row):
    witness = (WitnessEvent("enter", {}, None, None, row),)
    return Verdict("Door", "p", "violation", False, False, {}, None, None, witness, Severity.ERROR, row)


@pytest.mark.parametrize("name", ["terminal", "junit", "html"])
def test_parts_of_the_formula_that_turned_are_told(name):
    stream = io.StringIO()
    reporter = open_report(name, stream, Options(specs={DOOR.name: DOOR}, width=100))
    reporter.add(entered(1))
    reporter.finish(Summary(specs=(DOOR,)))
    assert " = false" in stream.getvalue()


def test_json_tells_the_parts_that_turned_for_the_first_verdicts_of_a_property():
    stream = io.StringIO()
    reporter = open_report("json", stream, Options(specs={DOOR.name: DOOR}))
    for row in range(1, EXPLAINED + 2):
        reporter.add(entered(row))
    reporter.finish(Summary(specs=(DOOR,)))
    verdicts = json.loads(stream.getvalue())["verdicts"]
    assert [turn["value"] for turn in verdicts[0]["turns"]] == [False]
    assert verdicts[0]["turns"][0]["at"] == 0
    assert "turns" in verdicts[EXPLAINED - 1]
    assert "turns" not in verdicts[EXPLAINED]


@pytest.mark.parametrize("name", ["terminal", "junit", "sarif", "html"])
def test_notes_on_a_finding_are_shown_and_harmless(sample, name):
    stream = io.StringIO()
    options = replace(sample.options, notes=lambda group: [f"in {group.key.spec} <b>\x1b[31m"])
    reporter = open_report(name, stream, options)
    for verdict in sample.verdicts:
        reporter.add(verdict)
    reporter.finish(sample.summary)
    text = stream.getvalue()
    assert all(f"in {spec}" in text for spec in ("HasNext", "Locks"))
    assert "\x1b" not in text
    assert name not in ("html", "junit") or "<b>\\x1b" not in text
