"""`mopsus simulate generate traces`: a folder of random traces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.simulate.options import ComponentCount, ObservationCount
from mopsus.model.text import printable


def traces(
    folder: Annotated[Path, typer.Argument(help="Where the files are written to.", metavar="FOLDER")],
    runs: Annotated[int, typer.Option("--runs", help="How many runs there are.", min=1, metavar="N")] = 200,
    first: Annotated[int, typer.Option("--first", help="The number of the first run.", min=0, metavar="N")] = 0,
    length: Annotated[int, typer.Option("--length", help="Events of each trace.", min=1, metavar="N")] = 60,
    components: ComponentCount = 3,
    observations: ObservationCount = 2,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="How observations are drawn: normal, binomial, beta-1, beta-2, or a file that says so.",
            metavar="NAME|FILE",
        ),
    ] = "normal",
    seed: Annotated[
        int | None, typer.Option("--seed", help="What chance begins with; by default as the profile says.", metavar="N")
    ] = None,
    invert: Annotated[bool, typer.Option("--invert", help="True observations become false, false ones true.")] = False,
) -> int:
    """Draw traces, a file for each component and run: `0-a.trace` is what component A observes in run 0.

    `mopsus simulate generate traces traces --runs 50 --profile beta-1`
    """
    from mopsus.decentral.generate.traces import generate_run, inverted, load_profile
    from mopsus.decentral.traces import default_components, write_run

    chosen = load_profile(profile)
    if seed is not None:
        chosen = replace(chosen, seed=seed)
    if invert:
        chosen = inverted(chosen)
    observed = default_components(components, observations)
    for number in range(first, first + runs):
        write_run(folder, number, generate_run(chosen, number, observed, length))
    print(f"{printable(str(folder))}: {runs} runs of {components} components, {length} events each, seed {chosen.seed}")
    return 0
