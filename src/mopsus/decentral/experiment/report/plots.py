"""Plots of figures by algorithm: boxes from a quarter to three quarters of the runs, whiskers from 5 % to 95 %.

Drawn by Matplotlib, which is in the extra `plots`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.report.figures import Comparison, Distribution, Figure, Group
from mopsus.decentral.measures.points import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLORS = ("#1c6fb8", "#a76400", "#c62f3b", "#1d8348", "#6d3fc0", "#5b6675")
WIDE_RANGE = 50.0
"""Boxes that differ by more are drawn on an axis of powers."""


def draw_plots(comparison: Comparison, figures: Sequence[Figure], forms: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """For each figure that was measured, by key, its plot in each form: `svg` or `png`."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise DecentralError(
            "plots need the package `matplotlib`",
            hint="install it with `pip install 'mopsus[plots]'`",
            code="DECENTRAL-085",
        ) from None
    drawn: dict[str, dict[str, bytes]] = {}
    # Of the same results the same files, and texts that a browser can search.
    with matplotlib.rc_context({"svg.hashsalt": "mopsus", "svg.fonttype": "none"}):
        for figure in figures:
            if found := comparison.figures.get(figure.key):
                canvas = Canvas(figsize=(7.2, 3.6), layout="constrained")
                _draw(canvas.add_subplot(), figure, comparison, found)
                drawn[figure.key] = {form: _rendered(canvas, form) for form in forms}
    return drawn


def _draw(axes: Axes, figure: Figure, comparison: Comparison, found: dict[Group, Distribution]) -> None:
    """The boxes of an algorithm have one colour; those of one size stand beside each other."""
    algorithms = list(dict.fromkeys(group[0] for group in comparison.groups))
    sizes = sorted({group[1:] for group in comparison.groups}, key=_sortable)
    width = 0.8 / len(algorithms)
    for number, algorithm in enumerate(algorithms):
        shown = [(place, found[algorithm, *size]) for place, size in enumerate(sizes) if (algorithm, *size) in found]
        if not shown:
            continue
        color = COLORS[number % len(COLORS)]
        places = [place + (number - (len(algorithms) - 1) / 2) * width for place, _ in shown]
        boxes = axes.bxp(
            [_box(each) for _, each in shown],
            positions=places,
            widths=width * 0.8,
            showmeans=True,
            showfliers=False,
            patch_artist=True,
            boxprops={"facecolor": f"{color}33", "edgecolor": color},
            medianprops={"color": color, "linewidth": 2},
            whiskerprops={"color": color},
            capprops={"color": color},
            meanprops={"marker": "D", "markersize": 4, "markerfacecolor": color, "markeredgecolor": color},
        )
        boxes["boxes"][0].set_label(str(algorithm))
    axes.set_xticks(range(len(sizes)), [", ".join(map(str, size)) for size in sizes])
    axes.set_xlabel(", ".join("components" if name == "comps" else name for name in comparison.by))
    axes.set_title(figure.title)
    axes.grid(axis="y", alpha=0.3)
    means = [each.mean for each in found.values() if each.mean > 0]
    if means and max(means) > WIDE_RANGE * min(means):
        axes.set_yscale("symlog", linthresh=max(min(means), 1e-3))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


def _box(found: Distribution) -> dict[str, float]:
    low, first, middle, third, high = found.quantiles
    return {"mean": found.mean, "med": middle, "q1": first, "q3": third, "whislo": low, "whishi": high}


def _rendered(canvas: Canvas, form: str) -> bytes:
    stream = io.BytesIO()
    canvas.savefig(stream, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return stream.getvalue()


def _sortable(size: Group) -> tuple[tuple[bool, Value], ...]:
    return tuple((isinstance(each, str), each) for each in size)
