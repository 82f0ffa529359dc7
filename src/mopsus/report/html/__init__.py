"""Stage 6: one HTML file that holds the whole report and asks nothing of the network.

Every text goes through `_text`. A content-security policy stands behind that: nothing is
loaded from anywhere, and no script runs but the one whose hash the page itself gives.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from textwrap import dedent

from mopsus.model import Diagnostic, Machine, MopsusError, Property, Severity, Spec, Verdict
from mopsus.model.text import printable, show_binding, show_place, show_time
from mopsus.report.reporter import Destination, Format, GroupedReporter, Options, Sink
from mopsus.report.summary import (
    PRESUMED,
    Summary,
    count,
    doc_link,
    fault_details,
    fault_line,
    finding_line,
    show_rate,
    summary_line,
)
from mopsus.verdict import Explanation, Group, Groups

FORMULA_LINES = 40
OPEN_FINDINGS = 1
"""How many findings are unfolded when the page opens: enough to show that they unfold."""


def render_html(groups: Groups, summary: Summary, options: Options) -> str:
    """The page: what was found at a glance, each finding with its timeline and machine, then every spec."""
    here = files(__package__)
    style = here.joinpath("page.css").read_text("utf-8")
    script = here.joinpath("filter.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    body = [
        _header(groups, summary),
        *_notices(summary),
        _findings(groups, summary, options),
        _faults(summary),
        _endings(summary),
        _specs(groups, summary),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(_headline(groups, summary))} · Mopsus</title>\n<style>{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + f"\n<footer>{_text(summary_line(summary, groups))}</footer>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _make(destination: Destination, options: Options) -> Sink:
    return GroupedReporter(destination, options, render_html)


FORMAT = Format("html", "one self-contained page", ".html", _make)


def _text(text: str, limit: int = 2000) -> str:
    return escape(printable(text, limit))


def _headline(groups: Groups, summary: Summary) -> str:
    if groups.violations:
        return count(groups.violations, "violation")
    if summary.refused:
        return "Not everything could be seen" if summary.stats.events else "Nothing was seen"
    if summary.faults and not summary.forgiving:
        return "Specifications with faults"
    return "No violations" if summary.complete else "No violations so far"


def _header(groups: Groups, summary: Summary) -> str:
    stats = summary.stats
    if groups.violations:
        mood, mark = "error", "✗"
    elif summary.trusted:
        mood, mark = "good", "✓"
    else:
        mood, mark = "warning", "!"
    facts = [("events", f"{stats.events:,}"), ("specs", f"{len(summary.specs):,}"), ("findings", f"{len(groups):,}")]
    if stats.ignored:
        facts.append(("ignored", f"{stats.ignored:,}"))
    if stats.bad_rows:
        facts.append(("bad rows", f"{stats.bad_rows:,}"))
    if rate := show_rate(summary):
        number, _, unit = rate.rpartition(" ")
        facts.append((unit, number))
    tiles = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts)
    checked = ", ".join(_text(source) for source in summary.sources[:5])
    if len(summary.sources) > 5:
        checked += f" and {len(summary.sources) - 5} more"
    when = _text(summary.started.strftime("%Y-%m-%d %H:%M:%S %Z").strip()) if summary.started else ""
    about = " · ".join(part for part in (checked, when) if part)
    return (
        f'<header class="{mood}"><div class="mark" aria-hidden="true">{mark}</div>'
        f"<div><h1>{_text(_headline(groups, summary))}</h1><p>{about}</p></div><dl>{tiles}</dl></header>"
    )


def _notices(summary: Summary) -> Iterable[str]:
    findings: list[MopsusError | Diagnostic] = [*summary.notices]
    if isinstance(summary.error, MopsusError):
        findings.insert(0, summary.error)
    for finding in findings:
        kind = "warning" if isinstance(finding, Diagnostic) and finding.warning else "error"
        hint = f"<p>{_text(finding.hint)}</p>" if finding.hint else ""
        yield f'<aside class="{kind}"><strong>{_text(finding_line(finding))}</strong>{hint}</aside>'
    if summary.interrupted:
        yield '<aside class="warning"><strong>Interrupted: this is what had been found by then.</strong></aside>'


def _findings(groups: Groups, summary: Summary, options: Options) -> str:
    if not len(groups):
        return ""
    present = [severity for severity in Severity if groups.severities[severity]]
    boxes = "".join(
        f'<label><input type="checkbox" checked data-severity="{severity.value}">'
        f'<span class="chip {severity.value}">{severity.value}</span></label>'
        for severity in present
    )
    items = "\n".join(
        _finding(group, summary.spec(group.key.spec), options, unfolded=at < OPEN_FINDINGS)
        for at, group in enumerate(groups)
    )
    return (
        '<section><div class="bar"><h2>Findings</h2>'
        f'<div class="filters">{boxes if len(present) > 1 else ""}'
        '<input type="search" placeholder="Filter…" aria-label="Filter findings"></div></div>\n'
        '<div class="columns" aria-hidden="true"><span>severity</span><span>property</span><span>where</span>'
        f"<span>count</span></div>\n{items}\n</section>"
    )


def _finding(group: Group, spec: Spec, options: Options, *, unfolded: bool) -> str:
    key, first = group.key, group.examples[0]
    machine = options.machines.get((key.spec, key.property))
    explanation = options.explain(first)
    remarks = "".join(f'<p class="remark">{_code(remark)}</p>' for remark in explanation.remarks)
    others = _examples(group.examples[1:], group.more)
    notes = "".join(f'<p class="doc">{_text(note)}</p>' for note in options.notes_on(group))
    return (
        f'<details class="finding" data-severity="{group.severity.value}"{" open" if unfolded else ""}><summary>'
        f'<span><b class="chip {group.severity.value}">{group.severity.value}</b></span>'
        f"<span><b>{_text(key.spec)}</b><i>/{_text(key.property)}</i> <code>{_text(key.category)}</code></span>"
        f'<span class="where"><span>{_text(show_binding(first.binding))}</span>'
        f"<small>{_text(show_place(first))}</small></span>"
        f'<span class="count">{group.count:,}</span></summary>\n'
        f'<div class="story"><div>{_doc(spec)}{_source(explanation.code)}'
        f"{_timeline(explanation, group.severity)}{remarks}{others}{notes}</div>"
        f"{_machine(machine, spec, key.property, options)}</div></details>"
    )


def _timeline(explanation: Explanation, severity: Severity) -> str:
    rows = []
    for step in explanation.steps:
        item = step.event
        last = f' class="last {severity.value}"' if step is explanation.steps[-1] else ""
        when = f"<time>t={_text(show_time(item.time))}</time>" if item.time is not None else ""
        state = f'<span class="state">{_text(step.state)}</span>' if step.state is not None else ""
        code = _source(step.code)
        turns = "".join(f'<span class="turn">{_text(line)}</span>' for line in step.said())
        rows.append(
            f'<li{last}><span class="event">{_text(item.event)}</span>'
            f'<span class="binding">{_text(show_binding(item.binding))}</span>{state}'
            f'<span class="place">{_text(show_place(item, explanation.source))}{when}</span>{code}{turns}</li>'
        )
    return f'<ol class="timeline">{"".join(rows)}</ol>' if rows else ""


def _source(code: str) -> str:
    """A line of the program's code."""
    return f'<span class="source">{_text(code)}</span>' if code else ""


def _code(sentence: str) -> str:
    """A sentence with its `quoted` words as code."""
    parts = _text(sentence).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def _doc(spec: Spec) -> str:
    if not spec.doc:
        return ""
    text, link = _text(spec.doc), doc_link(spec)
    if link:
        shown = _text(link)
        text = text.replace(shown, f'<a href="{shown}" rel="noopener noreferrer">{shown}</a>', 1)
    return f'<p class="doc">{text}</p>'


def _examples(examples: list[Verdict], more: int) -> str:
    if not examples:
        return ""
    rows = "".join(
        f"<li>{_text(show_binding(example.binding))} <small>{_text(show_place(example))}</small></li>"
        for example in examples
    )
    rest = f"<li>… and {more:,} more</li>" if more else ""
    return f'<div class="others"><h3>Also seen</h3><ul>{rows}{rest}</ul></div>'


def _machine(machine: Machine | None, spec: Spec, property_name: str, options: Options) -> str:
    if machine is None or options.draw is None:
        return ""
    drawing = options.draw(machine)
    if not drawing:
        return ""
    # An XML declaration or doctype before the element is not allowed inside HTML.
    drawing = drawing[max(drawing.find("<svg"), 0) :]
    formula = next((_formula(prop) for prop in spec.properties if prop.name == property_name), "")
    return f'<figure class="machine">{drawing}<figcaption>{formula}</figcaption></figure>'


def _formula(prop: Property) -> str:
    lines = dedent(prop.formula).strip().splitlines()
    shown = "\n".join(
        _text(line, 300) for line in (lines if len(lines) <= FORMULA_LINES else [*lines[:FORMULA_LINES], "…"])
    )
    return f'<code class="formula">{shown}</code>'


def _faults(summary: Summary) -> str:
    if not summary.faults:
        return ""
    newline = "\n"
    rows = "".join(
        f"<tr><td><b>{_text(fault.spec)}</b></td><td>{_text(fault_line(fault))}"
        f"<pre>{newline.join(map(_text, fault_details(fault)))}</pre></td>"
        f"<td>{fault.count:,}</td></tr>"
        for fault in summary.faults
    )
    return (
        "<section><h2>Faults</h2><p>Errors in the code of specifications: what they would have found is not known.</p>"
        f"<table><thead><tr><th>spec</th><th>error</th><th>count</th></tr></thead><tbody>{rows}</tbody></table></section>"
    )


def _endings(summary: Summary) -> str:
    if summary.endings is None:
        return ""
    rows = "".join(
        f"<tr><td><b>{_text(ending.spec)}</b><i>/{_text(ending.property)}</i></td><td>{PRESUMED[ending.truth]}</td>"
        f"<td>{ending.count:,}</td><td>{_text(' · '.join(map(show_binding, ending.examples)))}</td></tr>"
        for ending in summary.endings
    )
    table = (
        "<table><thead><tr><th>property</th><th>presumed</th><th>instances</th><th>for example</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    told = table if rows else "<p>Every instance is decided.</p>"
    return f"<section><h2>At the end of the trace</h2>{told}</section>"


def _specs(groups: Groups, summary: Summary) -> str:
    counts: dict[tuple[str, str], dict[Severity, int]] = {}
    for group in groups:
        by_severity = counts.setdefault((group.key.spec, group.key.property), {})
        by_severity[group.severity] = by_severity.get(group.severity, 0) + group.count
    passed = f'<b class="chip good">{"ok" if summary.complete else "ok so far"}</b>'
    unseen = '<b class="chip warning">not seen</b>'
    faulty = '<b class="chip error">fault</b>'
    instead = dict.fromkeys((each.spec for each in summary.refused), unseen)
    instead |= dict.fromkeys((each.spec for each in summary.faults), faulty)
    rows = []
    for spec in summary.specs:
        for prop in spec.properties:
            found = counts.get((spec.name, prop.name), {})
            chips = " ".join(
                f'<b class="chip {severity.value}">{count(found[severity], severity.value)}</b>'
                for severity in Severity
                if severity in found
            )
            rows.append(
                f"<tr><td><b>{_text(spec.name)}</b><i>/{_text(prop.name)}</i></td><td>{_text(prop.logic)}</td>"
                f"<td>{_formula(prop)}</td><td>{chips or instead.get(spec.name, passed)}</td></tr>"
            )
    if not rows:
        return ""
    return (
        "<section><h2>Specifications</h2><table><thead><tr><th>property</th><th>logic</th><th>formula</th>"
        f"<th>result</th></tr></thead><tbody>{''.join(rows)}</tbody></table></section>"
    )
