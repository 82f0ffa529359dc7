"""Stage 6: verdicts for people and machines: terminal, JSON, JUnit, SARIF, HTML.

Formats are loaded when they are asked for, so importing this package is cheap.
"""

from mopsus.report.messages import MESSAGES, ReportError
from mopsus.report.reporter import Format, Options, Sink, format_names, load_format, open_report
from mopsus.report.summary import RunStats, Summary

__all__ = [
    "MESSAGES",
    "Format",
    "Options",
    "ReportError",
    "RunStats",
    "Sink",
    "Summary",
    "format_names",
    "load_format",
    "open_report",
]
