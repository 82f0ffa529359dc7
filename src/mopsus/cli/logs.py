"""How `check` and `watch` read traces and logs of components, and what those that hear of components take."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import BadRowPolicy, BadRows, MaxViolations, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from mopsus.events.component.log.session import Dispatching
    from mopsus.model import Spec
    from mopsus.run.recorded import LogReading

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
    """How traces and logs are read. All but the first three are of logs of components only."""

    format: Annotated[
        TraceFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="`csv`, `jsonl`, `parquet` or `arrow`, of components `text`, `jsonl` or `terms`; if detection errs.",
            metavar="FORMAT",
        ),
    ] = None
    bad_rows: BadRowPolicy = BadRows.STOP
    max_violations: MaxViolations = None
    root: Roots = None
    groups: Groups = False
    no_forks: NoForks = False
    log_format: LoggingFormat = None
    replay: Replay = False
    verbose: Verbose = False

    def reading(self, specs: Iterable[Spec], *, json: bool, at_end: bool = False) -> LogReading:
        """How they are read; `CommandError` if options are for components, and no spec is about them."""
        from mopsus.run.recorded import LogReading
        from mopsus.spec.component import about_components

        dispatching = None
        if any(map(about_components, specs)):
            dispatching = dispatching_for(self, json=json, at_end=at_end)
        elif given := self._given():
            message = f"{given[0]} is for logs of components, and no spec is about them"
            raise CommandError(message, hint="leave it out, or give an `.hml` file", code="CLI-005")
        format = None if self.format is None else self.format.value
        return LogReading(format, self.bad_rows.value, self.log_format, dispatching)

    def _given(self) -> list[str]:
        names = {
            "--root": bool(self.root),
            "--groups": self.groups,
            "--no-forks": self.no_forks,
            "--log-format": self.log_format is not None,
            "--replay": self.replay,
            "--verbose": self.verbose,
        }
        return [name for name, value in names.items() if value]


def dispatching_for(options: LogOptions, *, json: bool, at_end: bool = False) -> Dispatching:
    """How the events of components are to be dispatched."""
    from mopsus.events.component.log.session import Dispatching
    from mopsus.model.term import Pid

    if options.no_forks and (options.root or options.groups):
        other = "--root" if options.root else "--groups"
        raise CommandError(f"--no-forks and {other} exclude each other", hint="use one of them", code="CLI-005")
    tell: Callable[[str], None] | None = _tell if options.verbose else None
    roots: Literal["auto"] | list[Pid] | None = [Pid(root) for root in options.root or ()] or "auto"
    if options.no_forks:
        roots = None
    return Dispatching(
        roots=roots, groups=options.groups, replay=options.replay, accounts=json, at_end=at_end, tell=tell
    )


def require_components(specs: Iterable[Spec]) -> None:
    """Refuse specs none of which is about components: they would see nothing."""
    from mopsus.spec.component import about_components

    if not any(map(about_components, specs)):
        raise CommandError("no spec is about components", hint="give an `.hml` file", code="CLI-005")


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
