"""Stage 6: the JSON report, written while verdicts come in, so that it may be larger than memory.

Its schema is `docs/reference/report.schema.json`. The verdicts come first in the file because
the rest is known only at the end; the order of an object's keys means nothing in JSON.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mopsus.model import (
    Diagnostic,
    Fault,
    MopsusError,
    ObjectRef,
    Severity,
    Spec,
    Step,
    Unseen,
    Value,
    Verdict,
    WitnessEvent,
)
from mopsus.model.result import ComponentCounts, Debugged
from mopsus.model.text import show_value
from mopsus.report.output import Output
from mopsus.report.reporter import Destination, Format, Options
from mopsus.report.summary import Summary
from mopsus.verdict import Ending, code_of, witness_turns

VERSION = 1
TEXT_LIMIT = 10_000
EXPLAINED = 100
"""How many verdicts of a property say what happened to the parts of its formula."""

_encode = json.JSONEncoder(allow_nan=False, separators=(", ", ": ")).encode


class JsonReporter:
    """Writes `{"version": 1, "specs": […], "verdicts": […], "stats": {…}}`, one verdict to a line."""

    def __init__(self, destination: Destination, options: Options) -> None:
        self._output = Output(destination)
        self._options = options
        self._explained: Counter[tuple[str, str]] = Counter()
        self._severities: Counter[Severity] = Counter()
        # Not written at once: a run that cannot even begin must not leave the beginning of a report.
        self._separator = f'{{"version": {VERSION}, "verdicts": [\n'

    def add(self, verdict: Verdict) -> None:
        self._severities[verdict.severity] += 1
        self._output.write(self._separator + _encode({**json_verdict(verdict), **self._turns(verdict)}))
        self._separator = ",\n"
        if self._options.live:
            self._output.flush()

    def _turns(self, verdict: Verdict) -> dict[str, Any]:
        """What happened to the parts of the formula, for the first verdicts of a property: it costs time."""
        key = (verdict.spec, verdict.property)
        if self._explained[key] >= EXPLAINED:
            return {}
        self._explained[key] += 1
        options = self._options
        found = witness_turns(verdict, options.machine(verdict), options.history, options.spec(verdict))
        if found is None:
            return {}
        turns = [turn for at in sorted(found) for turn in found[at]]
        return {"turns": [{"at": turn.position, "part": _text(turn.part), "value": turn.value} for turn in turns]}

    def finish(self, summary: Summary) -> None:
        stats = summary.stats
        rest = {
            "specs": [_json_spec(spec) for spec in summary.specs],
            "stats": {
                "events": stats.events,
                "ignored": stats.ignored,
                "bad_rows": stats.bad_rows,
                "verdicts": {severity.value: self._severities[severity] for severity in Severity},
                "elapsed_s": summary.elapsed_s,
                "specs": {_text(name): _json_counts(counts) for name, counts in stats.specs.items()},
            },
            "sources": [_text(source) for source in summary.sources],
            "started": summary.started.isoformat() if summary.started else None,
            "interrupted": summary.interrupted,
            "unseen": [_json_unseen(unseen, refused=summary.silence.refuses(unseen)) for unseen in summary.unseen],
            "faults": [_json_fault(fault) for fault in summary.faults],
            "warnings": [_json_finding(warning) for warning in summary.warnings],
            "error": _json_finding(summary.ended_by) if summary.ended_by is not None else None,
        }
        if summary.endings is not None:
            rest["at_end"] = [_json_ending(ending) for ending in summary.endings]
        if summary.heard is not None:
            rest["components"] = [_json_component(each) for each in summary.heard.components or ()]
            rest["undecided"] = _json_counts(summary.heard.undecided)
        if summary.debugged is not None:
            rest["program"] = _json_debugged(summary.debugged)
        lines = ",\n".join(f"{_encode(key)}: {_encode(value)}" for key, value in rest.items())
        start = "" if self._severities else self._separator.rstrip()
        self._output.write(f"{start}\n],\n{lines}}}\n")
        self._output.commit()


FORMAT = Format("json", "every verdict, for programs", ".json", JsonReporter)


def json_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON data, keyed as the `Verdict` fields."""
    return {
        "spec": _text(verdict.spec),
        "property": _text(verdict.property),
        "category": _text(verdict.category),
        "truth": verdict.truth,
        "final": verdict.final,
        "severity": verdict.severity.value,
        "binding": _json_binding(verdict.binding),
        **_json_position(verdict),
        "witness": [
            {"event": _text(item.event), "binding": _json_binding(item.binding), **_json_position(item)}
            for item in verdict.witness
        ],
        **({"steps": [_json_step(step) for step in verdict.steps]} if verdict.steps else {}),
        **({"remarks": [_text(remark) for remark in verdict.remarks]} if verdict.remarks else {}),
    }


def json_value(value: Value) -> Any:  # noqa: ANN401 - JSON data has no narrower type
    """A value as JSON data.

    What JSON has, is itself; atoms and identifiers are texts; a tuple is an array; a mapping is `{map}` with an array
    of its pairs; an object is `{type, serial, repr}`. Anything else (bytes, huge integers and strings, infinities) is
    `{type, repr}`.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, ObjectRef):
        return {"type": _text(value.type), "serial": value.serial, "repr": _text(value.text)}
    if isinstance(value, tuple | list):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {"map": [[json_value(key), json_value(value[key])] for key in value]}
    if isinstance(value, str) and len(value) <= TEXT_LIMIT:
        return _text(value)
    if isinstance(value, int) and value.bit_length() <= 64:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    return {"type": type(value).__name__, "repr": show_value(value)}


def _json_binding(binding: Mapping[str, Value]) -> dict[str, Any]:
    return {_text(name): json_value(value) for name, value in binding.items()}


def _json_step(step: Step) -> dict[str, Any]:
    return {
        "modality": _text(step.modality),
        "event": _text(step.event),
        "data": [json_value(value) for value in step.data],
        "fitted": step.fitted,
        "binding": _json_binding(step.binding),
        "unfolded": [_text(name) for name in step.unfolded],
        **_json_position(step),
    }


def _json_position(item: Verdict | WitnessEvent | Step) -> dict[str, Any]:
    location = None if item.location is None else _text(item.location)
    code = code_of(item)
    return {"location": location, "time": json_value(item.time), "row": item.row, **({"code": code} if code else {})}


def _json_spec(spec: Spec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "doc": spec.doc,
        "severity": spec.severity.value if spec.severity else None,
        "parameters": [parameter.name for parameter in spec.parameters],
        "properties": [{"name": p.name, "logic": p.logic, "formula": p.formula} for p in spec.properties],
    }


def _json_ending(ending: Ending) -> dict[str, Any]:
    return {
        "spec": _text(ending.spec),
        "property": _text(ending.property),
        "presumed": ending.truth,
        "count": ending.count,
        "examples": [_json_binding(binding) for binding in ending.examples],
    }


def _json_component(component: ComponentCounts) -> dict[str, Any]:
    return {
        "component": _text(component.component),
        "function": None if component.function is None else _text(component.function),
        "monitored": component.monitored,
        "events": dict(component.events),
    }


def _json_debugged(debugged: Debugged) -> dict[str, Any]:
    stop = {
        "reason": _text(debugged.reason),
        "location": None if debugged.location is None else _text(debugged.location),
        "backtrace": [_text(frame) for frame in debugged.backtrace],
    }
    found: dict[str, Any] = {"status": debugged.status, "stop": stop if debugged.reason else None}
    if debugged.children:
        found["children"] = [
            {"process": process, "status": status, "stopped": _text(reason) or None}
            for process, status, reason in debugged.children
        ]
    return found


def _json_counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _text(name): _json_counts(number) if isinstance(number, Mapping) else number for name, number in counts.items()
    }


def _json_finding(finding: MopsusError | Diagnostic) -> dict[str, Any]:
    span = finding.span if isinstance(finding, Diagnostic) else None
    return {
        "code": finding.code,
        "message": _text(finding.message),
        "hint": _text(finding.hint),
        "file": _text(span.file) if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
    }


def _json_fault(fault: Fault) -> dict[str, Any]:
    return {name: _text(value) if isinstance(value, str) else value for name, value in asdict(fault).items()}


def _json_unseen(unseen: Unseen, *, refused: bool) -> dict[str, Any]:
    return {
        "spec": _text(unseen.spec),
        "event": None if unseen.event is None else _text(unseen.event),
        "possible": unseen.possible,
        "refused": refused,
        "message": _text(unseen.message),
        "hint": _text(unseen.hint),
    }


def _text(text: str) -> str:
    """Text that every JSON reader accepts: not too long, and no lone surrogates, which strict readers refuse."""
    if len(text) <= TEXT_LIMIT and text.isascii():
        return text
    cut = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")
