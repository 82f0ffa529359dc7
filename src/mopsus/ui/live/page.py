"""The page of a debugging session: what is on it, and what its buttons ask of the debugger.

Each browser has its own page, which looks several times in a second whether a new picture has come. What a picture
shows is computed by its neighbours.
"""

from __future__ import annotations

from typing import Any

from nicegui import events, ui

from mopsus.interactive.live.picture import Course, Monitor, Picture, Saved, Slice
from mopsus.interactive.live.wire import Wish
from mopsus.ui.live import drawing, panels
from mopsus.ui.live.automata import AutomataView
from mopsus.ui.live.connection import Connection
from mopsus.ui.theme import apply_theme, top_bar

LOOK_S = 0.1
"""How often a page looks for a new picture."""

_STYLE = """
.m-live { display: grid; gap: 16px; width: 100%; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.m-live > div { display: flex; flex-direction: column; gap: 16px; min-width: 0; }
@media (max-width: 1000px) {
    .m-live { grid-template-columns: minmax(0, 1fr); }
    .m-live > div { display: contents; }
    .m-live .m-events table { min-width: 640px; }
}
.m-scroll { max-height: 40vh; overflow-y: auto; }
.m-live .q-table td { white-space: normal; overflow-wrap: anywhere; }
.m-live .q-table .chosen td { background: var(--m-lit); font-weight: 600; }
.m-live .q-table tbody tr { cursor: pointer; }
.m-live .m-events tbody tr { cursor: default; }
.m-live .m-events :is(td, th) { padding: 2px 6px; }
.m-live .m-events :is(td:nth-child(-n + 2), td:nth-child(n + 5)) { white-space: nowrap; overflow-wrap: normal; }
.m-live .m-checkpoints .q-btn { color: var(--m-accent); }
.body--dark { color-scheme: dark; }
.m-live .q-table, .m-live .q-table__card { background: var(--m-box); color: var(--m-text); }
.m-status { display: inline-flex; align-items: center; gap: 4px; padding: 2px 12px 2px 6px; border-radius: 14px;
        font-weight: 600; background: #fff; color: #263238; }
.m-status.running { color: #1b5e20; } .m-status.stopped { color: #b71c1c; }
.m-gone { background: #fff3e0; color: #5d4037; border: 1px solid #ffb74d; border-radius: 8px; padding: 8px 14px; }
.m-is-gone #popup { display: none !important; }
"""

_SLICES = [
    {"name": name, "label": name, "field": name, "align": "left", "sortable": True}
    for name in ("slice", "state", "environment")
]
_EVENTS = [
    {"name": name, "label": label, "field": name, "align": "left"}
    for name, label in (
        ("number", "#"),
        ("event", "event"),
        ("values", "values"),
        ("place", "place"),
        ("monitor", ""),
        ("time", "s"),
    )
]


class LivePage:
    """One browser's page on a debugging session."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._shown: Picture | None = None
        self._gone = False
        self._refused = connection.refusals[-1][0] if connection.refusals else 0
        self._number: int | None = None
        """Of the monitor that is looked at."""
        self._chosen: str | None = None
        """The key of the slice that is looked at alone."""
        self._tabs: dict[int, str] = {}
        self._rows: dict[Saved, ui.row] = {}
        """The checkpoints that are listed."""
        self._build()
        self._look()
        ui.timer(LOOK_S, self._look)

    # ---- what is on it

    def _build(self) -> None:
        apply_theme()
        ui.add_css(_STYLE + drawing.STYLE + panels.STYLE)
        with top_bar():
            self._name = ui.label().classes("opacity-80 m-program")
            with ui.element("span").classes("m-status") as self._status:
                self._icon = ui.icon("hourglass_empty")
                self._course = ui.label()
            self._reason = ui.label().classes("m-reason").style("overflow-wrap: anywhere; flex: 1 1 200px")
            self._continue = self._button("play_arrow", "continue", Wish.CONTINUE)
            self._interrupt = self._button("pause", "interrupt", Wish.INTERRUPT)
            self._checkpoint = self._button("add_location", "take a checkpoint", Wish.CHECKPOINT)
        self._end = ui.label("The debugger has ended. This is how everything stood last.").classes("m-gone w-full")
        self._end.set_visibility(False)
        with ui.element("div").classes("m-live"):
            with ui.element("div"):
                self._build_monitor()
            with ui.element("div"):
                self._build_program()

    def _build_monitor(self) -> None:
        with _card("Automaton", 1):
            self._choice = ui.tabs(on_change=lambda event: self._choose_monitor(event.value)).props(
                "dense align=left no-caps"
            )
            self._automata = AutomataView()
        with _card("Slices", 5) as card:
            card.classes("m-slices")
            with ui.row().classes("w-full items-center gap-3"):
                self._slice_note = ui.label().classes("text-sm")
                self._only = ui.button("show all again", icon="close", on_click=lambda: self._choose_slice(None))
                self._only.props("flat dense no-caps size=sm")
                search = ui.input(placeholder="search").props("dense clearable").classes("ml-auto")
            self._slices = ui.table(columns=_SLICES, rows=[], row_key="key", pagination=25).classes("w-full")
            self._slices.props("flat dense hide-no-data :rows-per-page-options=[25,100,0]")
            self._slices.props(""":table-row-class-fn="(row) => row.chosen ? 'chosen' : ''" """)
            self._slices.bind_filter_from(search, "value", backward=lambda words: words or "")
            self._slices.on("row-click", self._clicked, [[], ["key"], None])

        with _card("Events", 6):
            self._event_note = ui.label().classes("text-sm")
            self._events = ui.table(columns=_EVENTS, rows=[], row_key="number").classes("w-full m-scroll m-events")
            self._events.props("flat dense hide-pagination hide-no-data :rows-per-page-options=[0]")

    def _build_program(self) -> None:
        with _card("Source", 2):
            self._file = ui.label().classes("text-sm m-file")
            # What the program's files say is escaped where the lines are put together.
            self._source = ui.html(sanitize=False).classes("w-full")
        with _card("Verdicts", 3):
            self._verdict_note = ui.label().classes("text-sm")
            self._verdicts = ui.html(sanitize=False).classes("w-full m-said m-scroll")
        with _card("Checkpoints", 4):
            self._no_checkpoint = ui.label("None was taken yet.").classes("text-sm")
            self._checkpoints = ui.column().classes("w-full gap-1 m-checkpoints")

    def _button(self, icon: str, hint: str, wish: Wish) -> ui.button:
        button = ui.button(icon=icon, on_click=lambda: self._connection.ask(wish))
        return button.props(f'flat round dense color=white aria-label="{hint}"').tooltip(hint)

    # ---- what happens

    def _look(self) -> None:
        self._connection.keep_up()
        picture = self._connection.picture
        if picture is not None and picture is not self._shown:
            self._shown = picture
            self._show()
        for number, refused in list(self._connection.refusals):
            if number > self._refused:
                self._refused = number
                ui.notify(f"{refused.wish}: {refused.why}", type="warning", multi_line=True)
        if self._connection.gone.is_set() and not self._gone:
            self._gone = True
            self._end.set_visibility(True)
            ui.query("body").classes("m-is-gone")
            self._allow()

    def _show(self) -> None:
        picture = self._shown
        assert picture is not None
        self._show_program(picture)
        self._show_tabs(picture)
        self._show_monitor()
        self._show_checkpoints(picture.checkpoints)
        self._event_note.text = panels.event_note(picture)
        _set_rows(self._events, panels.event_rows(picture.events))

    def _show_program(self, picture: Picture) -> None:
        program = picture.program
        icon, word = panels.WORDS[program.course]
        name = panels.program_name(program)
        self._name.text = name
        ui.page_title(f"{word} · {name}")
        self._icon.name = icon
        self._course.text = word
        self._status.classes(remove="waiting running stopped ended", add=program.course.value)
        self._reason.text = panels.reason_text(program)
        self._file.text = panels.where_text(program)
        self._source.content = "" if picture.source is None else panels.source_html(picture.source)
        self._allow()

    def _allow(self) -> None:
        """Which buttons make sense now."""
        course = None if self._gone or self._shown is None else self._shown.program.course
        self._continue.set_enabled(course is Course.STOPPED)
        self._interrupt.set_enabled(course is Course.RUNNING)
        self._checkpoint.set_enabled(course in (Course.STOPPED, Course.RUNNING))

    def _show_tabs(self, picture: Picture) -> None:
        tabs = {each.number: f"#{each.number} {each.spec}" for each in picture.monitors}
        if tabs != self._tabs:
            self._tabs = tabs
            self._choice.clear()
            with self._choice:
                for number, title in tabs.items():
                    ui.tab(str(number), title)
            if self._number not in tabs:
                self._number = next(iter(tabs), None)
            self._choice.value = None if self._number is None else str(self._number)
        self._choice.set_visibility(len(tabs) > 1)

    def _show_monitor(self) -> None:
        monitor = self._monitor()
        chosen = self._slice(monitor)
        self._automata.show(monitor, chosen)
        self._only.set_visibility(self._chosen is not None)
        self._slice_note.text = "No monitor is there." if monitor is None else panels.slice_note(monitor)
        rows = [] if monitor is None else panels.slice_rows(monitor, self._chosen)
        _set_rows(self._slices, rows)
        verdicts = () if monitor is None else monitor.verdicts
        count = 0 if monitor is None else monitor.verdict_count
        self._verdict_note.text = f"{count:,} verdict{'s' * (count != 1)}" + (
            f"; the last {len(verdicts):,} are listed" if len(verdicts) < count else ""
        )
        self._verdicts.content = panels.verdicts_html(verdicts)

    def _show_checkpoints(self, saved: tuple[Saved, ...]) -> None:
        # What stays is not built anew: somebody may be about to press its button.
        for gone in self._rows.keys() - set(saved):
            self._rows.pop(gone).delete()
        with self._checkpoints:
            for each in saved:
                if each not in self._rows:
                    self._rows[each] = self._checkpoint_row(each)
        self._no_checkpoint.set_visibility(not saved)

    def _checkpoint_row(self, saved: Saved) -> ui.row:
        with ui.row().classes("w-full items-center no-wrap gap-2") as row:
            back = ui.button(str(saved.number), icon="history", color=None, on_click=lambda: self._restore(saved))
            back.props(f'dense outline no-caps aria-label="go back to checkpoint {saved.number}"')
            back.tooltip("go back to it")
            back.bind_enabled_from(self._end, "visible", backward=lambda gone: not gone)
            with ui.column().classes("gap-0").style("min-width: 0"):
                ui.label(panels.checkpoint_text(saved)).classes("text-sm")
                ui.label(saved.states).classes("text-xs opacity-70").style("overflow-wrap: anywhere")
        return row

    def _restore(self, saved: Saved) -> None:
        self._connection.ask(Wish.RESTORE, saved.number)

    def _choose_monitor(self, number: str | None) -> None:
        if number is not None and int(number) != self._number:
            self._number, self._chosen = int(number), None
            self._show_monitor()

    def _clicked(self, event: events.GenericEventArguments) -> None:
        key = event.args[1]["key"]
        self._choose_slice(None if key == self._chosen else key)

    def _choose_slice(self, key: str | None) -> None:
        self._chosen = key
        self._show_monitor()

    def _monitor(self) -> Monitor | None:
        monitors = () if self._shown is None else self._shown.monitors
        return next((each for each in monitors if each.number == self._number), None)

    def _slice(self, monitor: Monitor | None) -> Slice | None:
        slices = () if monitor is None else monitor.slices
        return next((each for each in slices if panels.slice_key(each) == self._chosen), None)


def _card(title: str, order: int) -> ui.element:
    """A panel; in a narrow window all of them stand below each other, in this order."""
    card = ui.element("div").classes("m-card w-full").style(f"order: {order}")
    with card:
        ui.label(title).classes("m-title")
    return card


def _set_rows(table: ui.table, rows: list[dict[str, Any]]) -> None:
    if rows != table.rows:
        table.rows = rows
