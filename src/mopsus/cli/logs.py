"""What `check` and `watch` do when their specs are about components: logs instead of traces."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import TraceFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from mopsus.events.component.log.read import LogFormat
    from mopsus.events.component.log.session import Dispatching
    from mopsus.events.trace import CheckResult, Format
    from mopsus.model import Spec
    from mopsus.report.summary import Heard

Roots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        help="Of a log of components: one that is there from the beginning; others must be forked. Repeatable.",
        metavar="PID",
    ),
]
Groups = Annotated[
    bool, typer.Option("--groups", help="Of a log of components: who is not selected belongs to its parent's group.")
]
NoForks = Annotated[
    bool, typer.Option("--no-forks", help="Of a log of components: it has no forks; `init` says what one runs.")
]
LoggingFormat = Annotated[
    str | None,
    typer.Option(
        "--log-format",
        help="Of a log of components that Python's `logging` wrote: its format, '%(asctime)s %(message)s'.",
        metavar="FORMAT",
    ),
]
Replay = Annotated[bool, typer.Option("--replay", help="Of a log of components: wait as long as `delayed by` says.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Of a log of components: tell what each monitor hears, as it happens.")
]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options that only logs of components have."""

    roots: Sequence[str] = ()
    groups: bool = False
    no_forks: bool = False
    log_format: str | None = None
    replay: bool = False
    verbose: bool = False

    def given(self) -> list[str]:
        """The names of those that were given."""
        names = {
            "--root": bool(self.roots),
            "--groups": self.groups,
            "--no-forks": self.no_forks,
            "--log-format": self.log_format is not None,
            "--replay": self.replay,
            "--verbose": self.verbose,
        }
        return [name for name, value in names.items() if value]


def are_about_components(specs: Sequence[Spec], options: LogOptions) -> bool:
    """Are the specs about components? `CommandError` if only some of them are, or if options say otherwise."""
    from mopsus.spec.component import about_components

    found = [spec.name for spec in specs if about_components(spec)]
    if found and len(found) < len(specs):
        other = next(spec.name for spec in specs if spec.name not in found)
        message = f"{found[0]} is about components, and {other} is not"
        raise CommandError(message, hint="check them one after the other", code="CLI-005")
    if not found and options.given():
        message = f"{options.given()[0]} is for logs of components, and no spec is about them"
        raise CommandError(message, hint="leave it out, or give an `.hml` file", code="CLI-005")
    return bool(found)


def dispatching_for(options: LogOptions, *, json: bool, at_end: bool = False) -> Dispatching:
    """How the events of components are to be dispatched."""
    from mopsus.events.component.log.session import Dispatching
    from mopsus.model.term import Pid

    if options.no_forks and (options.roots or options.groups):
        other = "--root" if options.roots else "--groups"
        raise CommandError(f"--no-forks and {other} exclude each other", hint="use one of them", code="CLI-005")
    tell: Callable[[str], None] | None = _tell if options.verbose else None
    roots: Literal["auto"] | list[Pid] | None = [Pid(root) for root in options.roots] or "auto"
    if options.no_forks:
        roots = None
    return Dispatching(
        roots=roots, groups=options.groups, replay=options.replay, accounts=json, at_end=at_end, tell=tell
    )


def _tell(text: str) -> None:
    print(text, file=sys.stderr)


def heard_of(result: CheckResult) -> Heard:
    """What a run over logs of components has heard, for reports."""
    from mopsus.events.component.log.checking import ComponentResult
    from mopsus.events.component.log.narrate import show_function
    from mopsus.events.component.occurrence import Kind
    from mopsus.report.summary import ComponentCounts, Heard

    assert isinstance(result, ComponentResult)
    counts = [
        ComponentCounts(
            account.component,
            None if account.function is None else show_function(account.function),
            account.selected,
            {kind.value: account.events[kind] for kind in Kind},
        )
        for account in result.accounts
    ]
    return Heard(result.undecided, tuple(counts))


def line_is_row(name: str, rows: Collection[int]) -> dict[int, int]:
    """The lines of rows of a log of components: every line is a row."""
    return {row: row for row in rows}


def log_format_of(format: TraceFormat | None) -> LogFormat | None:
    """The format of a log of components that was asked for."""
    from mopsus.events.component.log.read import LogFormat

    if format is None:
        return None
    try:
        return LogFormat(format.value)
    except ValueError:
        known = ", ".join(LogFormat)
        message = f"a log of components is no {format.value} file"
        raise CommandError(message, hint=f"its formats are {known}", code="CLI-005") from None


def trace_format_of(format: TraceFormat | None) -> Format | None:
    """The format of a trace that was asked for."""
    from mopsus.events.trace import Format

    if format is None:
        return None
    if format in (TraceFormat.TEXT, TraceFormat.TERMS):
        message = f"{format.value} is a format of logs of components, and no spec is about them"
        raise CommandError(message, hint="use csv, jsonl, parquet or arrow", code="CLI-005")
    return Format(format.value)
