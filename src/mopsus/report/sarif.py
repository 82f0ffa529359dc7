"""Stage 6: SARIF 2.1.0, for code-scanning pages and editors: a rule per property, a result per finding."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mopsus.model import Fault, MopsusError, Severity, Spec, Verdict, WitnessEvent
from mopsus.model.text import STANDARD_INPUT, file_line, position, printable, short_path, show_binding, show_place
from mopsus.report.reporter import Destination, Format, GroupedReporter, Options, Sink
from mopsus.report.summary import Summary, count, doc_link, fault_details, fault_line, finding_line
from mopsus.verdict import Explanation, Group, Groups, code_of
from mopsus.verdict.grouping import RANK

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Json = dict[str, Any]


def render_sarif(groups: Groups, summary: Summary, options: Options) -> str:
    """The report: rules from the specs, one result per group with its first witness as code flow."""
    rules = _rules(groups, summary)
    index = {rule["id"]: at for at, rule in enumerate(rules)}
    places = _Places(groups, summary, options)
    run: Json = {
        "tool": {"driver": {"name": "Mopsus", "rules": rules}},
        "invocations": [_invocation(summary)],
        "artifacts": [{"location": {"uri": _uri(source)}} for source in summary.sources if source != STANDARD_INPUT],
        "results": [_result(group, index, places, options) for group in groups],
        "columnKind": "unicodeCodePoints",
        "properties": {"events": summary.stats.events, "violations": groups.violations},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _make(destination: Destination, options: Options) -> Sink:
    return GroupedReporter(destination, options, render_sarif)


FORMAT = Format("sarif", "SARIF 2.1.0, for code scanning and editors", ".sarif", _make)


def _rule_id(spec: str, property_name: str) -> str:
    return f"{printable(spec)}/{printable(property_name)}"


def _rules(groups: Groups, summary: Summary) -> list[Json]:
    """A rule for each property of each spec, and for each property that gave a verdict, worst severity first seen."""
    levels: dict[tuple[str, str], Severity] = {}
    for spec in summary.specs:
        for prop in spec.properties:
            severities = [handler.severity or spec.severity or Severity.ERROR for handler in prop.handlers]
            worst = min(severities, key=RANK.__getitem__, default=spec.severity or Severity.ERROR)
            levels[spec.name, prop.name] = worst
    for group in groups:
        levels.setdefault((group.key.spec, group.key.property), group.severity)
    return [_rule(summary.spec(spec), name, level) for (spec, name), level in levels.items()]


def _rule(spec: Spec, property_name: str, level: Severity) -> Json:
    described = next(
        (f"{p.logic}: {' '.join(p.formula.split())}" for p in spec.properties if p.name == property_name), spec.name
    )
    rule: Json = {
        "id": _rule_id(spec.name, property_name),
        "name": printable(spec.name),
        "shortDescription": {"text": printable(described, 500)},
        "defaultConfiguration": {"level": level.value},
    }
    if spec.doc:
        rule["fullDescription"] = {"text": printable(spec.doc, 1000)}
    if link := doc_link(spec):
        rule["helpUri"] = link
    return rule


def _invocation(summary: Summary) -> Json:
    notes = [
        {
            "level": "warning" if notice.warning else "error",
            "message": {"text": "\n".join(filter(None, (finding_line(notice), printable(notice.hint, 2000))))},
            "descriptor": {"id": notice.code},
        }
        for notice in summary.notices
    ]
    notes += [_fault_note(fault, summary) for fault in summary.faults]
    error = summary.error
    if isinstance(error, MopsusError):
        notes.append({"level": "error", "message": {"text": finding_line(error)}, "descriptor": {"id": error.code}})
    invocation: Json = {
        "executionSuccessful": summary.trusted,
        "toolExecutionNotifications": notes,
    }
    if summary.started is not None:
        started = summary.started.astimezone(UTC)
        invocation["startTimeUtc"] = started.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
    return invocation


def _fault_note(fault: Fault, summary: Summary) -> Json:
    times = f", {count(fault.count, 'time')}" if fault.count > 1 else ""
    note: Json = {
        "level": "warning" if summary.forgiving else "error",
        "message": {
            "text": "\n".join([f"fault in {printable(fault.spec)}{times}: {fault_line(fault)}", *fault_details(fault)])
        },
        "descriptor": {"id": "FAULT-001"},
    }
    found = file_line(fault.place) if fault.place else None
    if found is not None:
        place = {"artifactLocation": {"uri": _uri(short_path(found[0]))}, "region": {"startLine": found[1]}}
        note["locations"] = [{"physicalLocation": place}]
    return note


def _result(group: Group, rule_index: dict[str, int], places: _Places, options: Options) -> Json:
    first = group.examples[0]
    key = group.key
    rule = _rule_id(key.spec, key.property)
    explanation = options.explain(first)
    times = [f"Seen {count(group.count, 'time')}."] if group.count > 1 else []
    notes = [printable(note, 1000) for note in options.notes_on(group)]
    result: Json = {
        "ruleId": rule,
        "ruleIndex": rule_index[rule],
        "level": group.severity.value,
        "message": {"text": "\n".join([explanation.message, *explanation.remarks, *times, *notes])},
        "occurrenceCount": min(group.count, 2**31 - 1),
        "partialFingerprints": {"mopsusFinding/v1": _fingerprint(group)},
        "properties": {"category": printable(key.category), "binding": show_binding(first.binding)},
    }
    if location := places.location(first):
        result["locations"] = [location]
    related = [places.location(example, show_binding(example.binding)) for example in group.examples[1:]]
    if any(related):
        result["relatedLocations"] = [location for location in related if location]
    if flow := _thread_flow(explanation, places):
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result


def _fingerprint(group: Group) -> str:
    """The same for the same finding in the next run."""
    key = group.key
    parts = (key.spec, key.property, key.category, key.place, *key.shape)
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:32]


def _thread_flow(explanation: Explanation, places: _Places) -> list[Json]:
    flow: list[Json] = []
    for step in explanation.steps:
        text = f"{printable(step.event.event)}({show_binding(step.event.binding)})"
        if step.state is not None:
            text += f" -> {printable(step.state)}"
        location = places.location(step.event, text)
        flow.append({"location": location or {"message": {"text": text}}})
    return flow


class _Places:
    """Places as SARIF has them: files with lines."""

    def __init__(self, groups: Groups, summary: Summary, options: Options) -> None:
        self._sources = summary.sources
        rows: dict[str, set[int]] = {}
        for verdict in (example for group in groups for example in group.examples):
            items: list[Verdict | WitnessEvent] = [verdict, *verdict.witness]
            for item in items:
                source, in_trace = self._source(item)
                if source and in_trace and item.row is not None:
                    rows.setdefault(source, set()).add(item.row)
        find = options.find_lines
        self._lines = {source: find(source, wanted) for source, wanted in rows.items()} if find else {}

    def location(self, item: Verdict | WitnessEvent, text: str = "") -> Json:
        """A SARIF location; empty if nothing is known."""
        location: Json = {}
        path, region = self._physical(item)
        if path:
            location["physicalLocation"] = {"artifactLocation": {"uri": _uri(path)}} | (
                {"region": region} if region else {}
            )
        elif place := show_place(item):
            location["logicalLocations"] = [{"fullyQualifiedName": place}]
        if location and text:
            location["message"] = {"text": text}
        return location

    def _source(self, item: Verdict | WitnessEvent) -> tuple[str, bool]:
        """The place, and whether it is a trace: without a location of its own, an event is in the only source."""
        place, in_trace = position(item.location, item.row)
        if in_trace and not place and len(self._sources) == 1:
            return self._sources[0], True
        return place, in_trace

    def _physical(self, item: Verdict | WitnessEvent) -> tuple[str, Json]:
        """The file, and the region in it as far as known; no file if the place is none."""
        source, in_trace = self._source(item)
        if in_trace:
            line = self._lines.get(source, {}).get(item.row or 0)
            return ("" if source == STANDARD_INPUT else source), ({"startLine": line} if line else {})
        found = file_line(source)
        if found is None:
            return "", {}
        path, line, column = found
        region: Json = {"startLine": line}
        if column is not None:
            region["startColumn"] = column
        if code := code_of(item):
            region["snippet"] = {"text": code}
        return short_path(path), region


def _uri(path: str) -> str:
    """A relative path stays relative, so that a viewer resolves it against its own checkout."""
    if Path(path).is_absolute():
        return "file://" + quote(Path(path).as_posix(), errors="replace")
    return quote(Path(path).as_posix(), errors="replace")
