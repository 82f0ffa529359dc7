"""`mopsus simulate experiment`: all runs that a file describes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.options import Json, Quiet
from mopsus.cli.progress import ProgressBar
from mopsus.model.text import printable

if TYPE_CHECKING:
    from mopsus.decentral.experiment.runs import Summary
    from mopsus.decentral.experiment.settings import Experiment

FAILED = 1
SHOWN = 20
NAMED = 5
"""How many reasons are printed, and how many runs for each; all are in the results, and in the JSON."""


def experiment(
    file: Annotated[
        Path, typer.Argument(help="Describes the experiment: TOML, or properties as THEMIS has them.", metavar="FILE")
    ],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Processes; by default one for each processor.", min=1, metavar="N"),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write all results to this file, too.", metavar="FILE")
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle", help="Copy the experiment with all that it needs into a folder; run nothing.", metavar="FOLDER"
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run algorithms on specifications and traces, and store what is measured.

    Results are in a SQLite database: table `bench` has a row for each run. If the command is stopped, even by force, it
    goes on where it was when it is given again. Runs that fail are named, and tried again the next time. Status 1 if
    there are any.
    """
    from mopsus.decentral.experiment.runs import check_specs, run_missing
    from mopsus.decentral.experiment.settings import load_experiment
    from mopsus.events.trace import Progress

    chosen = load_experiment(file)
    if bundle is not None:
        from mopsus.decentral.experiment.bundle import write_bundle

        print(f"{printable(str(write_bundle(chosen, bundle)))}: the experiment and all that it needs")
        return 0
    processes = jobs or os.cpu_count() or 1
    wanted = sys.stderr.isatty() and not quiet
    with ProgressBar(wanted, "specifications") as bar:
        discarded = check_specs(chosen, processes, lambda done, total: bar.update(Progress(done, done, total)))
    with ProgressBar(wanted, "runs") as bar:
        summary = run_missing(chosen, discarded, processes, lambda done, total: bar.update(Progress(done, done, total)))
    if parquet is not None:
        from mopsus.decentral.measures.store import Store, write_parquet

        with Store(chosen.results, must_exist=True) as store:
            write_parquet(store, parquet)
    if json:
        _print_json(chosen, discarded, summary)
    elif not quiet or summary.failures or summary.left:
        _print_summary(chosen, discarded, summary)
    return FAILED if summary.failures else 0


def _print_json(chosen: Experiment, discarded: Mapping[str, str], summary: Summary) -> None:
    import msgspec

    told = {
        "results": str(chosen.results),
        "runs": summary.runs,
        "finished": summary.finished,
        "finished_before": summary.before,
        "left": summary.left,
        "failed": [{**failure.run._asdict(), "message": failure.message} for failure in summary.failures],
        "discarded": discarded,
    }
    print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())


def _print_summary(chosen: Experiment, discarded: Mapping[str, str], summary: Summary) -> None:
    _print_some("not run", discarded.items())
    _print_some("failed", ((str(run), message) for run, message in summary.failures))
    told = [f"{summary.finished:,} of {summary.runs:,} runs have results"]
    told += [f"{summary.before:,} of them from before"] * bool(summary.before)
    told += [f"{len(summary.failures):,} failed"] * bool(summary.failures)
    told += [f"interrupted before {summary.left:,} of them"] * bool(summary.left)
    print(f"{printable(str(chosen.results))}: {', '.join(told)}")


def _print_some(what: str, named: Iterable[tuple[str, str]]) -> None:
    """Each reason once, with those that it is about."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in named:
        by_reason.setdefault(reason, []).append(name)
    for reason, names in list(by_reason.items())[:SHOWN]:
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        print(f"{what}: {', '.join(names[:NAMED])}{more}: {reason}")
    if len(by_reason) > SHOWN:
        print(f"… and for {len(by_reason) - SHOWN:,} further reasons")
