"""`mopsus simulate generate formulas`: random formulas that are worth monitoring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.simulate.options import ComponentCount, ObservationCount, Seed
from mopsus.model.text import printable


def formulas(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Write a specification file for each; without, formulas are printed.", metavar="FOLDER"),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", help="How many formulas.", min=1, metavar="N")] = 100,
    components: ComponentCount = 3,
    observations: ObservationCount = 2,
    size: Annotated[int, typer.Option("--size", help="Operators and names of each.", min=2, metavar="N")] = 15,
    template: Annotated[
        Path | None,
        typer.Option("--template", help="A specification file in XML that has %form% in it.", metavar="FILE"),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds in which a formula's automaton must be found.", metavar="S")
    ] = 10.0,
    seed: Seed = 0,
) -> int:
    """Draw formulas that speak of every component, have an automaton, and can be monitored.

    `mopsus simulate generate formulas specs --components 4`
    """
    from functools import partial

    from mopsus.decentral.generate.formulas import generate_formulas, load_template, write_specification
    from mopsus.decentral.synthesis import from_formula
    from mopsus.decentral.traces import default_components
    from mopsus.logics.temporal.syntax import print_formula

    frame = load_template(template)
    drawn = generate_formulas(
        count,
        default_components(components, observations),
        seed=seed,
        size=size,
        synthesis=partial(from_formula, timeout_s=timeout),
    )
    for number, formula in enumerate(drawn):
        if folder is None:
            print(print_formula(formula), flush=True)
        else:
            write_specification(folder / f"{number}.xml", frame, formula)
    if folder is not None:
        print(f"{printable(str(folder))}: {count} formulas about {components} components")
    return 0
