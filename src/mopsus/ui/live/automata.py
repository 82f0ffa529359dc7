"""The panel of automata: those of the monitor that is looked at, coloured by all its slices or by one."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from nicegui import ui

from mopsus.interactive.live.picture import Automaton, Monitor, Slice
from mopsus.interactive.live.text import draw_monitor
from mopsus.ui.live.drawing import draw_automaton, in_words, legend, now_of_slice
from mopsus.ui.live.layout import MOST_STATES, lay_out


class AutomataView:
    """Drawings that are laid out when a monitor comes, and from then on only coloured."""

    def __init__(self) -> None:
        self._place = ui.column().classes("w-full gap-2")
        ui.html(legend(), sanitize=False)
        self._automata: tuple[Automaton, ...] = ()
        self._drawings: list[ui.html] = []
        self._words: list[ui.label] = []

    def show(self, monitor: Monitor | None, chosen: Slice | None) -> None:
        """Show a monitor's automata, or only what one slice does in them."""
        automata = () if monitor is None else monitor.automata
        if automata != self._automata:
            self._automata = automata
            self._build()
        if monitor is None:
            return
        for automaton, now, drawing, words in zip(automata, monitor.now, self._drawings, self._words, strict=True):
            shown = now if chosen is None else now_of_slice(chosen, automaton.property)
            layout = lay_out(automaton)
            if layout is not None:
                drawing.content = draw_automaton(automaton, layout, shown)
            elif automaton.nodes:
                listing = draw_monitor(replace(monitor, automata=(automaton,), now=(shown,)))
                drawing.content = f'<pre class="m-listing">{escape(listing)}</pre>'
            words.text = in_words(automaton, shown)

    def _build(self) -> None:
        self._place.clear()
        self._drawings, self._words = [], []
        with self._place:
            for automaton in self._automata:
                if len(self._automata) > 1:
                    ui.label(automaton.property).classes("text-sm font-bold")
                # The names in it are escaped where it is drawn.
                drawing = ui.html(sanitize=False).classes("w-full m-automaton m-live-drawing")
                drawing.on("click", js_handler="(event) => event.currentTarget.classList.toggle('m-large')")
                self._drawings.append(drawing)
                self._words.append(ui.label().classes("text-sm m-in-words"))
                if why := _undrawn(automaton):
                    ui.label(why).classes("text-sm")


def _undrawn(automaton: Automaton) -> str:
    """Why there is no drawing; empty if there is one."""
    if not automaton.nodes:
        return "This kind of property has no automaton."
    if len(automaton.nodes) > MOST_STATES:
        return f"An automaton of {len(automaton.nodes):,} states is listed, not drawn."
    return "" if lay_out(automaton) is not None else "It is drawn where Graphviz is installed, and listed elsewhere."
