"""Stage 6: the errors of reports, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "FAULT-001": "Code of a spec (a condition, action, handler, guard or block) has raised an error. The exit status "
    "is 2, unless --on-fault ignore is given.",
    "FAULT-002": "Code of a spec has raised an error, and --on-fault stop was given: what happened since was not "
    "checked.",
    "REPORT-001": "A report file cannot be written: its folder is missing, is read-only, the disk is full, or another "
    "run writes to it.",
    "REPORT-002": "There is no report format of that name, built in or installed.",
    "REPORT-003": "An installed report format cannot be loaded, or is not a `mopsus.report.Format`.",
    "REPORT-004": "Whoever was reading the report closed the pipe before it was complete.",
    "REPORT-005": "A baseline file of accepted violations is missing, damaged, or of another version.",
    "SEEN-001": "An event of a spec, or all of them, cannot occur in the inputs or in the program: what they name is "
    "not there. The exit status is 2, unless --allow-silent is given.",
    "SEEN-002": "None of a spec's events ever occurred, so nothing was checked. For recorded traces the exit status is "
    "2, unless --allow-silent is given.",
    "SEEN-003": "An event of a spec never occurred, and --strict was given, for which the exit status is 2.",
    "SEEN-004": "A spec did not see everything: the program made processes that were let go, or a trace that looks "
    "like something else has nothing that the spec names. With --strict, or in traces, the exit status is 2.",
}


class ReportError(MopsusError):
    """A report cannot be made or written."""

    code = "REPORT-001"
