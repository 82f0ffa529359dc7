"""An automaton drawn in the browser, with the states marked in which it may be."""

from __future__ import annotations

from collections.abc import Collection

from nicegui import ui

from mopsus.logics.machines.draw import draw_mermaid
from mopsus.model.drawing import Drawable, Drawing

MOST_STATES = 40
"""A larger drawing says nothing to anyone, and is slow."""


class AutomatonView:
    """The drawing of one automaton at a time. It is drawn once; states are marked by its style."""

    def __init__(self) -> None:
        self._diagram = ui.mermaid("stateDiagram-v2\n").classes("w-full m-automaton m-drawing")
        self._diagram.on("click", js_handler="(event) => event.currentTarget.classList.toggle('m-large')")
        self._marks = ui.html(sanitize=False)
        self._diagram.set_visibility(False)
        self._words = ui.label().classes("text-sm")
        self._automaton: Drawable | None = None
        self._drawing: Drawing | None = None

    def show(self, automaton: Drawable | None, states: Collection[int]) -> None:
        """Show an automaton (None: none) and the states in which it may be."""
        if automaton is not self._automaton:
            self._automaton = automaton
            self._drawing = None if automaton is None else automaton.drawing()
            self._draw()
        if self._drawing is None:
            self._words.text = "It has no automaton."
        else:
            self._marks.content = f"<style>{_style(self._diagram.html_id, states)}</style>"
            self._words.text = _in_words(self._drawing, states)

    def _draw(self) -> None:
        drawable = self._drawing is not None and len(self._drawing.nodes) <= MOST_STATES
        self._diagram.set_visibility(drawable)
        if self._drawing is not None and drawable:
            self._diagram.set_content(draw_mermaid(self._drawing))


def _style(diagram: str, states: Collection[int]) -> str:
    """Rules that mark states; Mermaid has the names of nodes in the middle of their ids."""
    chosen = ", ".join(f'#{diagram} [id*="-state-n{state}-"] rect.basic' for state in sorted(states))
    return f"{chosen} {{ fill: #4db6ac !important; }}" if chosen else ""


def _in_words(drawing: Drawing, states: Collection[int]) -> str:
    names = " or ".join(drawing.nodes[state].name for state in sorted(states))
    return f"{drawing.summary}. " + (f"In {names}." if states else "Not at work now.")
