"""Stage 6: JUnit XML, so that a continuous-integration server shows each property as a test."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from mopsus.model import Severity
from mopsus.model.text import printable
from mopsus.report.reporter import Destination, Format, GroupedReporter, Options, Sink
from mopsus.report.summary import Summary, count, fault_details, fault_line, finding_line
from mopsus.verdict import Group, Groups, explain, plain_text


def render_junit(groups: Groups, summary: Summary, options: Options) -> str:
    """The report: a suite per spec, a case per property, which fails if it was violated.

    A run that stopped early has one more suite, with an `error`, because no property can then
    be said to have passed. So has one that could not see what its specs are about.
    """
    root = ElementTree.Element("testsuites", name="mopsus")
    for spec, properties in _suites(groups, summary).items():
        suite = ElementTree.SubElement(root, "testsuite", name=printable(spec))
        if summary.started is not None:
            suite.set("timestamp", summary.started.replace(tzinfo=None).isoformat(timespec="seconds"))
        for name, found in properties.items():
            case = ElementTree.SubElement(suite, "testcase", classname=printable(spec), name=printable(name), time="0")
            _add_findings(case, found, summary.spec(spec).doc, options)
        _count(suite)
    for fault in summary.faults:
        suite = ElementTree.SubElement(root, "testsuite", name="mopsus")
        name = f"fault: {printable(fault.code)}"
        case = ElementTree.SubElement(suite, "testcase", classname=printable(fault.spec), name=name, time="0")
        times = f"{count(fault.count, 'time')}: " if fault.count > 1 else ""
        # Forgiven ones are there to be read; a server must not fail a run for them that has not failed.
        kind = "system-out" if summary.forgiving else "error"
        told = ElementTree.SubElement(case, kind)
        if not summary.forgiving:
            told.set("type", printable(fault.error))
            told.set("message", f"{times}{fault_line(fault)}")
        told.text = "\n".join([f"{times}{fault_line(fault)}", *fault_details(fault)])
        _count(suite)
    for unseen in summary.refused:
        suite = ElementTree.SubElement(root, "testsuite", name="mopsus")
        about = "events" if unseen.event is None else unseen.event
        case = ElementTree.SubElement(
            suite, "testcase", classname=printable(unseen.spec), name=f"seen: {printable(about)}", time="0"
        )
        told = ElementTree.SubElement(case, "error", type="unseen", message=printable(unseen.message, 2000))
        told.text = "\n".join(printable(text, 2000) for text in (unseen.message, unseen.hint) if text)
        _count(suite)
    if summary.ended_by is not None or not summary.complete:
        suite = ElementTree.SubElement(root, "testsuite", name="mopsus")
        case = ElementTree.SubElement(suite, "testcase", classname="mopsus", name="run", time="0")
        reason = finding_line(summary.ended_by) if summary.ended_by is not None else "interrupted"
        ElementTree.SubElement(case, "error", type="stopped", message=reason).text = reason
        _count(suite)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{summary.elapsed_s or 0:.3f}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _make(destination: Destination, options: Options) -> Sink:
    return GroupedReporter(destination, options, render_junit)


FORMAT = Format("junit", "JUnit XML, for continuous integration", ".xml", _make)


def _suites(groups: Groups, summary: Summary) -> dict[str, dict[str, list[Group]]]:
    """The groups of each property of each spec; properties without any are there too."""
    suites: dict[str, dict[str, list[Group]]] = {
        spec.name: {prop.name: [] for prop in spec.properties} for spec in summary.specs if spec.properties
    }
    for group in groups:
        suites.setdefault(group.key.spec, {}).setdefault(group.key.property, []).append(group)
    return suites


def _add_findings(case: ElementTree.Element, found: list[Group], doc: str, options: Options) -> None:
    violations = [group for group in found if group.severity is Severity.ERROR]
    if violations:
        total = sum(group.count for group in violations)
        worst = violations[0]
        message = explain(worst.examples[0]).message
        failure = ElementTree.SubElement(case, "failure", type=printable(worst.key.category))
        failure.set("message", f"{count(total, 'violation')}: {message}" if total > 1 else message)
        failure.text = "\n\n".join(_tell(violations, doc, options))
    remarks = [group for group in found if group.severity is not Severity.ERROR]
    if remarks:
        ElementTree.SubElement(case, "system-out").text = "\n\n".join(_tell(remarks, doc, options))


def _tell(groups: list[Group], doc: str, options: Options) -> Iterator[str]:
    for group in groups:
        first = group.examples[0]
        text = plain_text(options.explain(first))
        times = f"\n({count(group.count, 'time')})" if group.count > 1 else ""
        about = f"\n{printable(doc, 1000)}" if doc else ""
        notes = "".join(f"\n{printable(note, 1000)}" for note in options.notes_on(group))
        yield f"{group.severity.value}: {text}{about}{times}{notes}"


def _count(suite: ElementTree.Element) -> None:
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", "0")
    suite.set("time", "0")
