"""`mopsus check`: recorded traces against specs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import AllowUnmonitorable
from mopsus.cli.progress import ProgressBar
from mopsus.model import MopsusError

if TYPE_CHECKING:
    from mopsus.events.trace import CheckResult
    from mopsus.events.trace.session import OnVerdict, TraceMonitor
    from mopsus.logics import CompiledSpec
    from mopsus.model import Diagnostic, Machine, Spec, Verdict
    from mopsus.report import Options, Reporter
    from mopsus.verdict import Endings

SPEC_SUFFIX = ".mop"
VIOLATED, INTERRUPTED = 1, 130


class TraceFormat(StrEnum):
    """The formats of a trace."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


class BadRows(StrEnum):
    """What to do about a row that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


Files = Annotated[
    list[str], typer.Argument(help="Spec files (`*.mop`) and traces, in any order.", metavar="SPEC… TRACE…")
]
ExtraSpecs = Annotated[
    list[Path] | None, typer.Option("--spec", "-s", help="A spec file, whatever its name ends in.", metavar="FILE")
]
History = Annotated[
    int, typer.Option(help="How many events a witness has at the most; 0 turns witnesses off.", min=0, metavar="N")
]
BadRowPolicy = Annotated[
    BadRows, typer.Option("--bad-rows", help="Stop at a row that cannot be used, or leave it out.")
]
MaxViolations = Annotated[
    int | None, typer.Option("--max-violations", help="Stop after this many violations.", min=1, metavar="N")
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Junit = Annotated[Path | None, typer.Option(help="Also write a JUnit XML report.", metavar="FILE")]
Sarif = Annotated[Path | None, typer.Option(help="Also write a SARIF 2.1.0 report.", metavar="FILE")]
Html = Annotated[Path | None, typer.Option(help="Also write a self-contained HTML page.", metavar="FILE")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print one line, and only if there is something to say.")]
NoCode = Annotated[bool, typer.Option("--no-code", help="Refuse specs that contain Python code.")]


def check(
    files: Files,
    spec: ExtraSpecs = None,
    format: Annotated[
        TraceFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="`csv`, `jsonl`, `parquet` or `arrow`, if the detection by content errs.",
            metavar="FORMAT",
        ),
    ] = None,
    history: History = 32,
    bad_rows: BadRowPolicy = BadRows.STOP,
    max_violations: MaxViolations = None,
    json: Json = False,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    quiet: Quiet = False,
    no_code: NoCode = False,
    allow_unmonitorable: AllowUnmonitorable = False,
    at_end: Annotated[
        bool,
        typer.Option("--at-end", help="Also say of each undecided instance whether it presumably holds at the end."),
    ] = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar, even on a terminal.")] = False,
) -> int:
    """Check recorded traces against specs.

    A trace is a CSV, JSON-lines, Parquet or Arrow file, also compressed by gzip or zstd; a folder of them; a quoted
    pattern such as `'logs/*.csv.gz'`; or `-` for standard input. Several are read one after the other as one sequence
    of events, and all specs are checked in one pass.

    Column `event` names the event and a column named like a parameter has its value, unless the spec says otherwise
    (`row(…)`, `bind(…)`). Rows that no spec mentions are ignored and counted.

    With `--at-end`, a property that is still undecided when the traces end is presumably true or presumably false:
    what it would be if nothing more happened. That is no verdict and does not change the status.

    Status 0: nothing violated. 1: violations found. 2: the specs or traces could not be used to the end; what was found
    up to there is reported all the same.
    """
    from mopsus.events.trace import Format, find_lines
    from mopsus.events.trace import check as check_traces
    from mopsus.report import Options

    spec_files, traces = sort_out(files, spec or ())
    if not traces:
        raise CommandError("no trace given", hint="name a file, a folder, or `-` for standard input", code="CLI-005")
    forced = Format(format.value) if format else None
    reports = {"junit": junit, "sarif": sarif, "html": html}
    options = Options(history=history, quiet=quiet, find_lines=partial(find_lines, format=forced))
    compiled = load_specs(spec_files, at_end=at_end, allow_unmonitorable=allow_unmonitorable)
    run = Run(compiled, reports, options, json=json, allow_code=not no_code, at_end=at_end)
    show_progress = sys.stderr.isatty() and not no_progress and not quiet
    with ProgressBar(show_progress) as bar:
        result = check_traces(
            run.specs,
            traces,
            on_verdict=run.report,
            bad_rows=bad_rows.value,
            max_violations=max_violations,
            format=forced,
            progress=bar.update,
            open_monitor=run.open_monitor,
        )
    run.finish(result)
    if result.interrupted:
        return INTERRUPTED
    return VIOLATED if result.violations else 0


def sort_out(files: Sequence[str], extra: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The specs and the traces among the arguments."""
    specs = [*extra, *(Path(name) for name in files if name.endswith(SPEC_SUFFIX))]
    if not specs:
        raise CommandError(
            "no spec given", hint=f"name a file that ends in {SPEC_SUFFIX}, or use --spec", code="CLI-005"
        )
    return specs, [name for name in files if not name.endswith(SPEC_SUFFIX)]


class Run:
    """What `check` and `watch` have in common: specs, monitors, reports."""

    def __init__(
        self,
        loaded: tuple[dict[str, CompiledSpec], list[Diagnostic]],
        reports: Mapping[str, Path | None],
        options: Options,
        *,
        json: bool,
        allow_code: bool,
        at_end: bool = False,
    ) -> None:
        self._compiled, self._warnings = loaded
        self.specs = [compiled.spec for compiled in self._compiled.values()]
        self._history = options.history
        self._allow_code = allow_code
        self._endings: Endings | None = None
        if at_end:
            from mopsus.verdict import Endings

            self._endings = Endings()
        self._started = datetime.now().astimezone()
        self._reporters = self._open_reports(reports, options, json)

    def _open_reports(self, files: Mapping[str, Path | None], options: Options, json: bool) -> list[Reporter]:
        from mopsus.report import open_report

        machines = {
            (name, prop.name): machine
            for name, compiled in self._compiled.items()
            for prop, machine in zip(compiled.spec.properties, compiled.machines, strict=True)
        }
        options = replace(options, specs=tuple(self.specs), machines=machines, draw=draw_svg if can_draw() else None)
        reporters = [open_report("json" if json else "terminal", sys.stdout, options)]
        return reporters + [open_report(name, path, options) for name, path in files.items() if path is not None]

    def open_monitor(self, spec: Spec, on_verdict: OnVerdict) -> TraceMonitor:
        """A monitor of one of the specs."""
        from mopsus.monitor import Monitor

        compiled = self._compiled[spec.name]
        if self._endings is not None:
            from mopsus.cli.ending import EndingMonitor

            return EndingMonitor(
                compiled, on_verdict, self._endings, history=self._history, allow_code=self._allow_code
            )
        return Monitor(compiled, on_verdict, history=self._history, allow_code=self._allow_code)

    def report(self, verdict: Verdict) -> None:
        """Tell every report."""
        for reporter in self._reporters:
            reporter.add(verdict)

    def finish(self, result: CheckResult) -> None:
        """Complete the reports; raises what stopped the run, if something did."""
        from mopsus.report import RunStats, Summary

        stopped = result.error is not None or result.interrupted or result.full
        summary = Summary(
            specs=tuple(self.specs),
            stats=RunStats(
                events=result.rows,
                ignored=result.ignored,
                bad_rows=result.bad_rows,
                specs={name: asdict(counts) for name, counts in result.stats.items()},  # type: ignore[call-overload]  # a dataclass
            ),
            sources=tuple(result.sources),
            warnings=(*self._warnings, *result.warnings),
            error=result.error,
            elapsed_s=result.elapsed_s,
            started=self._started,
            interrupted=result.interrupted,
            endings=None if self._endings is None or stopped else tuple(self._endings),
        )
        failures: list[MopsusError] = []
        for reporter in self._reporters:
            try:
                reporter.finish(summary)
            except MopsusError as error:  # the other reports are wanted all the same
                failures.append(error)
        for failure in filter(None, (result.error, *failures)):
            raise failure


def load_specs(
    files: Sequence[Path], *, at_end: bool = False, allow_unmonitorable: bool = False
) -> tuple[dict[str, CompiledSpec], list[Diagnostic]]:
    """The specs of the files by name, with what there is to say about them."""
    from mopsus.logics import compile_spec
    from mopsus.spec import load_file

    compiled: dict[str, CompiledSpec] = {}
    warnings: list[Diagnostic] = []
    for file in files:
        read = load_file(file)
        warnings += read.warnings
        for name, spec in read.specs.items():
            if name in compiled:
                hint = "rename one of them, or check them one at a time"
                raise CommandError(f"there are two specs named {name}", hint=hint, code="CLI-002")
            compiled[name] = compile_spec(spec, read.source, at_end=at_end, allow_unmonitorable=allow_unmonitorable)
            warnings += compiled[name].warnings
    if not compiled:
        named = ", ".join(str(file) for file in files)
        raise CommandError(f"there is no spec in {named}", hint="a spec is `Name(parameters) { … }`", code="CLI-002")
    return compiled, warnings


def can_draw() -> bool:
    """Is Graphviz there?"""
    import shutil

    return shutil.which("dot") is not None


def draw_svg(machine: Machine) -> str:
    """The machine as an SVG element."""
    from mopsus.cli.picture import draw_picture

    text = draw_picture(machine, "svg").decode()
    return text[text.index("<svg") :]
