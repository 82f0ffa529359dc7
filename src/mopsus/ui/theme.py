"""The look that all pages share: colours for light and dark, the bar at the top, how verdicts are shown."""

from __future__ import annotations

from nicegui import ui

from mopsus.decentral.automaton import VERDICT_NAMES

ACCENT = "#00796b"

_STYLE = """
:root { --m-text: #263238; --m-faint: #90a4ae; --m-box: #ffffff; --m-line: #b0bec5; --m-page: #f5f7f8;
        --m-true: #2e7d32; --m-false: #c62828; --m-accent: #00796b; --m-lit: #b2dfdb;
        --m-kind-1: #1565c0; --m-kind-2: #7b1fa2; --m-kind-3: #2e7d32; --m-kind-4: #ef6c00; --m-kind-0: #546e7a; }
.body--dark { --m-text: #eceff1; --m-faint: #78909c; --m-box: #263238; --m-line: #546e7a; --m-page: #12181b;
        --m-true: #81c784; --m-false: #ef9a9a; --m-accent: #4db6ac; --m-lit: #00695c;
        --m-kind-1: #64b5f6; --m-kind-2: #ce93d8; --m-kind-3: #81c784; --m-kind-4: #ffb74d; --m-kind-0: #b0bec5; }
body { background: var(--m-page); color: var(--m-text); }
.m-card { background: var(--m-box); border: 1px solid var(--m-line); border-radius: 8px; padding: 12px; }
.m-title { font-size: 0.8rem; letter-spacing: 0.05em; text-transform: uppercase; color: var(--m-faint); }
.m-verdict { font-weight: 600; padding: 2px 10px; border-radius: 12px; color: white; background: var(--m-kind-0); }
.body--dark .m-drawing { background: #eceff1; border-radius: 6px; }
.m-automaton { cursor: zoom-in; }
.m-automaton.m-large { cursor: zoom-out; position: fixed; inset: 3vh 3vw; width: 94vw; z-index: 9000; padding: 16px;
        background: #eceff1; border-radius: 8px; box-shadow: 0 0 40px #0008; }
.m-automaton.m-large svg { max-width: 100% !important; height: 100%; }
.m-verdict-true { background: #2e7d32; } .m-verdict-false { background: #c62828; }
"""


def apply_theme() -> None:
    """Give the page that is being built its colours."""
    ui.colors(primary=ACCENT)
    ui.add_css(_STYLE)


def top_bar(*words: str) -> ui.header:
    """The bar at the top: the name, and what the page is about."""
    with ui.header().classes("items-center gap-3 py-2") as bar:
        ui.label("Mopsus").classes("text-lg font-bold")
        for word in words:
            ui.label(word).classes("opacity-80")
    return bar


class VerdictChip:
    """A verdict as a word on its colour."""

    def __init__(self) -> None:
        self._label = ui.label().classes("m-verdict")
        self.show(None)

    def show(self, verdict: bool | None, note: str = "") -> None:
        """Show a verdict, and what more to say of it."""
        self._label.text = f"{VERDICT_NAMES[verdict]}{' ' if note else ''}{note}"
        self._label.classes(
            remove="m-verdict-true m-verdict-false",
            add="" if verdict is None else f"m-verdict-{VERDICT_NAMES[verdict]}",
        )
