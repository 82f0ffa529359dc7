"""An automaton drawn in the browser, with the states marked in which it may be."""

from __future__ import annotations

from collections.abc import Collection

from nicegui import ui

from mopsus.logics.machines.draw import draw_mermaid
from mopsus.model.drawing import Drawable, Drawing

MOST_STATES = 40
"""A larger drawing says nothing to anyone, and is slow."""


def marked_diagram(drawing: Drawing, marked: Collection[int]) -> str:
    """A Mermaid diagram in which some nodes are marked."""
    lines = [draw_mermaid(drawing), "  classDef marked fill:#4db6ac,stroke:#00796b,color:#000"]
    lines += [f"  class n{number} marked" for number in sorted(marked)]
    return "\n".join(lines) + "\n"


class AutomatonView:
    """The drawing of one automaton at a time; it is drawn again only if it looks different."""

    def __init__(self) -> None:
        self._diagram = ui.mermaid("stateDiagram-v2\n").classes("w-full m-automaton m-drawing")
        self._words = ui.label().classes("text-sm")
        self._shown: tuple[Drawing | None, frozenset[int]] | None = None

    def show(self, automaton: Drawable | None, states: Collection[int]) -> None:
        """Show an automaton (None: none) and the states in which it may be."""
        drawing = None if automaton is None else automaton.drawing()
        wanted = (drawing, frozenset(states))
        if wanted == self._shown:
            return
        self._shown = wanted
        drawable = drawing is not None and len(drawing.nodes) <= MOST_STATES
        self._diagram.set_visibility(drawable)
        if drawing is None:
            self._words.text = "It has no automaton."
            return
        if drawable:
            self._diagram.set_content(marked_diagram(drawing, states))
        self._words.text = _in_words(drawing, states)


def _in_words(drawing: Drawing, states: Collection[int]) -> str:
    names = ", ".join(drawing.nodes[state].name for state in sorted(states))
    return f"{drawing.summary}. " + (f"In {names.replace(', ', ' or ')}." if states else "Not at work now.")
