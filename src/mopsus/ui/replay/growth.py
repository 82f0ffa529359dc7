"""How the encodings of monitors grow and shrink over a run, as a chart."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from mopsus.decentral.simulate.recording import Recording

MOST_LINES = 8
"""Monitors with a line of their own, those with the largest encodings; the others are left out."""
MOST_POINTS = 1000
"""To a line; of more, the largest of each stretch is kept."""


def growth_lines(recording: Recording) -> dict[str, list[tuple[int, int]]]:
    """By monitor, the rounds in which its encoding had another size than before, with its entries."""
    lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for step in recording.steps:
        line = lines[step.monitor]
        if step.entries != (line[-1][1] if line else 0):
            line.append((step.round, step.entries))
    largest = sorted(
        (name for name in lines if lines[name]), key=lambda name: -max(entries for _, entries in lines[name])
    )
    return {name: _thinned(lines[name]) for name in largest[:MOST_LINES]}


def growth_chart(recording: Recording) -> dict[str, Any]:
    """The options of the chart, for ECharts; the round that is looked at is marked by `mark_round`."""
    lines = growth_lines(recording)
    series: list[dict[str, Any]] = [
        {
            "name": name,
            "type": "line",
            "step": "end",
            "showSymbol": False,
            "data": [*line, (recording.rounds, line[-1][1])],
        }
        for name, line in lines.items()
    ]
    # A line of its own, so that the mark is there even if nobody has an encoding.
    series.append({"name": "", "type": "line", "data": [], "markLine": {"symbol": "none", "silent": True, "data": []}})
    return {
        "animation": False,
        "grid": {"left": 45, "right": 15, "top": 30, "bottom": 30},
        "legend": {"type": "scroll", "data": list(lines), "top": 0},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "value", "min": 0, "max": recording.rounds, "minInterval": 1, "name": ""},
        "yAxis": {"type": "value", "minInterval": 1},
        "series": series,
    }


def mark_round(chart: dict[str, Any], number: int) -> None:
    """Mark a round in a chart."""
    chart["series"][-1]["markLine"]["data"] = [{"xAxis": number, "label": {"show": False}}]


def _thinned(line: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(line) <= MOST_POINTS:
        return line
    stretch = -(-len(line) // MOST_POINTS)
    return [max(line[at : at + stretch], key=lambda point: point[1]) for at in range(0, len(line), stretch)]
