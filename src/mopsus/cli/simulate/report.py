"""`mopsus simulate report`: the results of an experiment as tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.options import Json


def report(
    results: Annotated[Path, typer.Argument(help="The database that an experiment has written.", metavar="RESULTS")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write a page, report.html, and its plots as PNG into this folder.", metavar="FOLDER"
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="A column to tell runs apart by; by default comps.", metavar="COLUMN"),
    ] = None,
    json: Json = False,
) -> int:
    """Compare algorithms by delay, messages, data, simplifications and convergence.

    `mopsus simulate report experiment.db -o report`
    """
    from mopsus.decentral.experiment.report.figures import FIGURES, compare
    from mopsus.decentral.experiment.report.page import render_page, render_text
    from mopsus.decentral.measures.store import Store

    with Store(results, must_exist=True) as store:
        comparison, title = compare(store, by or ("comps",)), store.title()
    if output is not None:
        from mopsus.decentral.experiment.report.plots import draw_plots

        plots = draw_plots(comparison, FIGURES, ("svg", "png"))
        output.mkdir(parents=True, exist_ok=True)
        for key, forms in plots.items():
            (output / f"{key}.png").write_bytes(forms["png"])
        page = render_page(title, comparison, {key: forms["svg"] for key, forms in plots.items()})
        (output / "report.html").write_text(page, encoding="utf-8")
    if json:
        import msgspec

        groups = [
            {
                **dict(zip(("alg", *comparison.by), group, strict=True)),
                "verdicts": comparison.verdicts[group]._asdict(),
                "figures": {key: found[group] for key, found in comparison.figures.items() if group in found},
            }
            for group in comparison.groups
        ]
        told = {
            "groups": groups,
            "disagreements": comparison.disagreements,
            "failed": [{**each.run._asdict(), "message": each.message} for each in comparison.failures],
        }
        print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
    else:
        print(render_text(comparison), end="")
    return 0
