"""Where everything is in the drawing of an automaton: computed once, by Graphviz, so that later only colours change.

Graphviz gets boxes of our own size for everything that has words, because the browser writes them in its own letters.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import textwrap
from dataclasses import dataclass
from functools import lru_cache

from mopsus.interactive.live.picture import Automaton

MOST_STATES = 40
"""A larger drawing says nothing to anyone."""

ROOM = (860, 480)
"""The size on the page, roughly: what fits better into it is drawn, from left to right or from top to bottom."""

LETTER, LINE, MARGIN = 7.6, 16, 12
"""In pixels: the width of a letter, the height of a line, the room at the sides of a box."""
LONGEST_NAME, LONGEST_NOTE, LONGEST_LINE, MOST_LINES = 28, 40, 24, 3
"""In letters: the name of a state, what is said of it, a line at an edge; and how many such lines."""


@dataclass(frozen=True, slots=True)
class Box:
    """A state: its middle, its size."""

    x: float
    y: float
    width: float
    height: float
    name: str
    note: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge: the path of its line, which ends where its head begins; the words at it, and where."""

    path: str
    words: tuple[str, ...]
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing with places: boxes and arrows in the order of its nodes and edges."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    start: str | None
    """The path of the arrow that comes from nowhere, to the state where it begins."""


@lru_cache(maxsize=64)
def lay_out(automaton: Automaton) -> Layout | None:
    """The layout; None without Graphviz, and for what is too large."""
    program = shutil.which("dot")
    if program is None or not 0 < len(automaton.nodes) <= MOST_STATES:
        return None
    found = [_asked(program, automaton, direction) for direction in ("LR", "TB")]
    return max(filter(None, found), key=_scale, default=None)


def _scale(layout: Layout) -> float:
    return min(ROOM[0] / layout.width, ROOM[1] / layout.height, 1.0)


def _asked(program: str, automaton: Automaton, direction: str) -> Layout | None:
    names = [(_cut(node.name, LONGEST_NAME), _cut(node.note, LONGEST_NOTE)) for node in automaton.nodes]
    labels = [_wrapped(edge.label) for edge in automaton.edges]
    source = _source(automaton, names, labels, direction).encode()
    try:
        done = subprocess.run([program, "-Tjson"], input=source, capture_output=True, check=True, timeout=20)
        answer = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    height = float(answer["bb"].split(",")[3])
    nodes = {each["name"]: each for each in answer["objects"]}
    edges = {each["id"]: each for each in answer.get("edges", ())}
    boxes = []
    for number, (name, note) in enumerate(names):
        found = nodes[f"n{number}"]
        x, y = _point(found["pos"], height)
        boxes.append(Box(x, y, 72 * float(found["width"]), 72 * float(found["height"]), name, note))
    arrows = []
    for number, words in enumerate(labels):
        found = edges[f"e{number}"]
        x, y = _point(found["lp"], height) if "lp" in found else (0.0, 0.0)
        arrows.append(Arrow(_path(found["pos"], height), words, x, y))
    start = _path(edges["start"]["pos"], height) if "start" in edges else None
    return Layout(float(answer["bb"].split(",")[2]), height, tuple(boxes), tuple(arrows), start)


def _source(automaton: Automaton, names: list[tuple[str, str]], labels: list[tuple[str, ...]], direction: str) -> str:
    lines = [
        f"digraph {{ rankdir={direction}; nodesep=0.35; ranksep=0.35;",
        'node [shape=box, fixedsize=true, label=""];',
    ]
    for number, (name, note) in enumerate(names):
        width = LETTER * max(len(name) + 2, 0.85 * len(note)) + 2 * MARGIN  # two for a number of slices
        height = LINE * (2 if note else 1) + MARGIN
        lines.append(f"n{number} [width={width / 72:.3f}, height={height / 72:.3f}];")
    if automaton.initial is not None:
        lines += ["start [shape=point, width=0.1];", f'start -> n{automaton.initial} [id="start"];']
    for number, (edge, words) in enumerate(zip(automaton.edges, labels, strict=True)):
        label = ""
        if words:
            width, height = LETTER * max(map(len, words)), LINE * len(words) + 8  # above the line, not on it
            cell = f'<TD FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height}"></TD>'
            label = f', label=<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0"><TR>{cell}</TR></TABLE>>'
        lines.append(f'n{edge.source} -> n{edge.target} [id="e{number}"{label}];')
    return "\n".join([*lines, "}"])


def _wrapped(label: str) -> tuple[str, ...]:
    lines = textwrap.wrap(label, LONGEST_LINE, break_on_hyphens=False)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], _cut(" ".join(lines[MOST_LINES - 1 :]), LONGEST_LINE)]
    return tuple(lines)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _point(text: str, height: float) -> tuple[float, float]:
    """Graphviz counts from the bottom."""
    x, y = map(float, text.split(",")[-2:])
    return x, height - y


def _path(text: str, height: float) -> str:
    """A spline of Graphviz as a path: `e,` is where the arrow's head ends, the others are points of Bézier curves."""
    words = text.split()
    ends = [_point(word[2:], height) for word in words if word.startswith("e,")]
    first, *rest = [_point(word, height) for word in words if word[0] not in "es"]
    curve = " ".join(f"{x:.1f},{y:.1f}" for x, y in rest)
    last = "".join(f" L {x:.1f},{y:.1f}" for x, y in ends)
    return f"M {first[0]:.1f},{first[1]:.1f} C {curve}{last}"
