"""The page of a recorded run: what is on it, and what its buttons do. What it shows is computed by its neighbours."""

from __future__ import annotations

from nicegui import events, ui

from mopsus.decentral.simulate.recording import Recording
from mopsus.ui.automaton import AutomatonView
from mopsus.ui.replay.growth import growth_chart, mark_round
from mopsus.ui.replay.moments import Moment, Moments
from mopsus.ui.replay.picture import STYLE, Layout, draw_moment, entries_of
from mopsus.ui.theme import VerdictChip, apply_theme, top_bar

SPEEDS = {number: f"{number} rounds/s" for number in (1, 2, 5, 20)}
MOST_ROWS = 100
"""Messages listed for a round."""

_COLUMNS = [
    {"name": name, "label": name, "field": name, "align": "left"}
    for name in ("what", "kind", "from", "to", "content", "data", "bytes")
]


class ReplayPage:
    """One browser's page on a run. It begins before the first round."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._moments = Moments(recording)
        self._layout = Layout(self._recording)
        self._automata = {monitor.name: monitor.automaton for monitor in self._recording.monitors}
        self._round = 0
        self._chosen = _first_choice(self._recording)
        self._build()
        self._show()

    def _build(self) -> None:
        apply_theme()
        ui.add_css(STYLE)
        recording = self._recording
        top_bar(
            recording.title,
            f"{recording.algorithm} · {len(recording.components)} components · {len(recording.monitors)} monitors",
        )
        with ui.row().classes("w-full no-wrap items-stretch gap-4"):
            with ui.column().classes("grow gap-4").style("flex-basis: 58%; min-width: 0"):
                with ui.element("div").classes("m-card w-full"):
                    with ui.row().classes("items-center gap-3"):
                        self._where = ui.label().classes("text-lg m-round")
                        self._verdict = VerdictChip()
                    # The names in it are escaped where it is drawn.
                    self._picture = ui.html(sanitize=False).classes("w-full")
                    self._picture.on(
                        "click",
                        self._clicked,
                        js_handler='(e) => emit(e.target.closest("[data-monitor]")?.dataset.monitor ?? null)',
                    )
                with ui.element("div").classes("m-card w-full"):
                    ui.label("Messages").classes("m-title")
                    self._messages = ui.table(columns=_COLUMNS, rows=[], row_key="key").classes("w-full")
                    self._messages.props("flat dense hide-pagination :rows-per-page-options=[0]")
            with ui.column().classes("gap-4").style("flex-basis: 42%; min-width: 0"):
                with ui.element("div").classes("m-card w-full"):
                    ui.label("Monitor").classes("m-title")
                    self._choice = ui.select(
                        list(self._automata), value=self._chosen, on_change=lambda event: self._choose(event.value)
                    )
                    self._choice.classes("w-full")
                    self._size = ui.label().classes("text-sm m-size")
                    self._automaton = AutomatonView()
                with ui.element("div").classes("m-card w-full"):
                    ui.label("Entries of encodings, by round").classes("m-title")
                    self._chart = ui.echart(growth_chart(recording)).classes("w-full h-56 m-growth m-drawing")
        self._build_controls()

    def _build_controls(self) -> None:
        last = self._recording.rounds
        self._timer = ui.timer(1.0, self._tick, active=False)
        with (
            ui.footer(wrap=False)
            .classes("items-center gap-2 py-1")
            .style("background: var(--m-box); color: var(--m-text)")
        ):
            for icon, hint, goal in (
                ("first_page", "to the beginning (Home)", lambda: 0),
                ("chevron_left", "a round back (left arrow)", lambda: self._round - 1),
            ):
                self._button(icon, hint).on_click(lambda _, goal=goal: self.seek(goal()))
            self._play = self._button("play_arrow", "play or stop (space)").on_click(self._toggle)
            for icon, hint, goal in (
                ("chevron_right", "a round on (right arrow)", lambda: self._round + 1),
                ("flag", "to the next verdict or fault (n)", lambda: self._moments.next_event(self._round)),
                ("last_page", "to the end (End)", lambda: last),
            ):
                self._button(icon, hint).on_click(lambda _, goal=goal: self.seek(goal()))
            self._slider = ui.slider(min=0, max=last, value=0, on_change=lambda event: self.seek(int(event.value)))
            self._slider.classes("grow mx-3")
            self._speed = ui.select(SPEEDS, value=2, on_change=self._set_speed).props("dense borderless")
        ui.keyboard(on_key=self._key)
        self._set_speed()

    def _button(self, icon: str, hint: str) -> ui.button:
        return ui.button(icon=icon).props(f'flat round dense aria-label="{hint}"').tooltip(hint)

    def seek(self, number: int) -> None:
        """Show the moment after a round, or the nearest that there is."""
        number = max(0, min(self._recording.rounds, number))
        if number != self._round:
            self._round = number
            self._show()
        self._slider.value = number

    def _choose(self, monitor: str) -> None:
        self._chosen = monitor
        self._show()

    def _clicked(self, event: events.GenericEventArguments) -> None:
        if event.args in self._automata:
            self._choice.value = event.args

    def _toggle(self) -> None:
        if not self._timer.active and self._round == self._recording.rounds:
            self.seek(0)
        self._run(not self._timer.active)

    def _run(self, on: bool) -> None:
        self._timer.active = on
        self._play.icon = "pause" if on else "play_arrow"

    def _tick(self) -> None:
        self.seek(self._round + 1)
        if self._round == self._recording.rounds:
            self._run(False)

    def _set_speed(self) -> None:
        self._timer.interval = 1 / self._speed.value

    def _key(self, event: events.KeyEventArguments) -> None:
        if not event.action.keydown:
            return
        if event.key.arrow_right:
            self.seek(self._round + 1)
        elif event.key.arrow_left:
            self.seek(self._round - 1)
        elif event.key.home:
            self.seek(0)
        elif event.key.end:
            self.seek(self._recording.rounds)
        elif event.key.space and not event.action.repeat:
            self._toggle()
        elif event.key == "n":
            self.seek(self._moments.next_event(self._round))

    def _show(self) -> None:
        moment = self._moments.at(self._round)
        self._where.text = f"Round {self._round} of {self._recording.rounds}"
        found = moment.findings[-1] if moment.findings else None
        self._verdict.show(
            None if found is None else found.verdict,
            "" if found is None else f"at timestamp {found.time}, found by {found.monitor} in round {found.round}",
        )
        self._picture.content = draw_moment(self._layout, moment, self._chosen)
        self._messages.rows = message_rows(moment)
        step = None if self._chosen is None else moment.steps.get(self._chosen)
        self._size.text = (
            ""
            if step is None or not step.states
            else f"State known up to timestamp {step.start}, encoded up to {step.end}: "
            f"{entries_of(step)}, {step.nodes} node{'s' * (step.nodes != 1)}."
        )
        self._automaton.show(
            None if self._chosen is None else self._automata[self._chosen], () if step is None else step.states
        )
        mark_round(self._chart.options, self._round)
        self._chart.update()


def message_rows(moment: Moment) -> list[dict[str, str | int]]:
    """The rows of the table of messages: those that arrived, those that are lost, those on their way."""
    groups = (("arrived", moment.delivered), ("lost", moment.lost), ("on its way", moment.flying))
    listed = [(what, message) for what, messages in groups for message in messages]
    return [
        {
            "key": key,
            "what": what,
            "kind": message.kind,
            "from": message.source,
            "to": message.target,
            "content": message.text,
            "data": message.data,
            "bytes": message.bytes,
        }
        for key, (what, message) in enumerate(listed[:MOST_ROWS])
    ]


def _first_choice(recording: Recording) -> str | None:
    """A monitor to begin with: one that has an automaton, if there is one."""
    names = [monitor.name for monitor in recording.monitors if monitor.automaton is not None]
    names += [monitor.name for monitor in recording.monitors]
    return names[0] if names else None
