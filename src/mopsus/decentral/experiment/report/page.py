"""The report of an experiment as one HTML page that asks nothing of the network, and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from mopsus.decentral.experiment.report.figures import FIGURES, Comparison, Distribution, Figure
from mopsus.decentral.measures.points import Value

FAILURES = 50
"""How many are named; all are in the results."""


def render_text(comparison: Comparison, figures: Sequence[Figure] = FIGURES) -> str:
    """The table for a terminal: means, and standard deviations in brackets."""
    head = ["alg", *comparison.by, "runs", "true", "false", "?"]
    shown = [figure for figure in figures if figure.key in comparison.figures]
    rows = [head + [figure.short for figure in shown]]
    for group in comparison.groups:
        verdicts = comparison.verdicts[group]
        cells = [*map(_plain, group), *map(str, (sum(verdicts), *verdicts))]
        rows.append(cells + [_mean(comparison.figures[figure.key].get(group)) for figure in shown])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *_notes(comparison)]) + "\n"


def render_page(title: str, comparison: Comparison, plots: Mapping[str, bytes]) -> str:
    """The page; `plots` are SVG by the key of their figure."""
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    failures = [f"<li>{escape(str(each.run))}: {escape(each.message)}</li>" for each in comparison.failures[:FAILURES]]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{sum(map(sum, comparison.verdicts.values())):,} runs; means, and standard deviations in brackets</p>",
        *(f'<p class="error">{escape(note)}</p>' for note in _notes(comparison)),
        "<h2>Figures</h2>",
        _table(comparison),
        "<h2>Verdicts</h2>",
        _verdicts(comparison),
        *(["<h2>Plots</h2>", _plots(plots)] if plots else []),
        *(["<h2>Failed</h2>", f"<ul>{''.join(failures)}</ul>"] if failures else []),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} · Mopsus</title>\n<style>{style}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _notes(comparison: Comparison) -> list[str]:
    """What a reader must know first."""
    notes = []
    if count := len(comparison.failures):
        notes.append(f"{count:,} run{'s' * (count > 1)} failed, not in the table")
    if count := comparison.disagreements:
        notes.append(f"{count:,} time{'s' * (count > 1)} algorithms have found different verdicts for the same")
    return notes


def _table(comparison: Comparison) -> str:
    shown = [figure for figure in FIGURES if figure.key in comparison.figures]
    head = ["algorithm", *comparison.by, *(figure.short for figure in shown)]
    titles = ["", *("" for _ in comparison.by), *(figure.title for figure in shown)]
    rows = [
        [escape(each) for each in map(_plain, group)]
        + [_cell(comparison.figures[figure.key].get(group)) for figure in shown]
        for group in comparison.groups
    ]
    return _rows(head, rows, titles)


def _verdicts(comparison: Comparison) -> str:
    rows = [
        [*(escape(each) for each in map(_plain, group)), *(f"{number:,}" for number in comparison.verdicts[group])]
        for group in comparison.groups
    ]
    return _rows(["algorithm", *comparison.by, "true", "false", "undecided"], rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]], titles: Sequence[str] = ()) -> str:
    heads = "".join(
        f'<th title="{escape(title)}">{escape(name)}</th>' if title else f"<th>{escape(name)}</th>"
        for name, title in zip(head, titles or [""] * len(head), strict=True)
    )
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _plots(plots: Mapping[str, bytes]) -> str:
    # What stands before the element is for files of their own.
    drawn = (svg[svg.index(b"<svg") :].decode("utf-8") for svg in plots.values())
    return f'<div class="plots">{"".join(f"<figure>{svg}</figure>" for svg in drawn)}</div>'


def _mean(found: Distribution | None) -> str:
    return "" if found is None else f"{found.mean:.2f} ({found.deviation:.2f})"


def _cell(found: Distribution | None) -> str:
    return "" if found is None else f"{found.mean:,.2f} <small>({found.deviation:,.2f})</small>"


def _plain(value: Value) -> str:
    return "" if value is None else str(value)
