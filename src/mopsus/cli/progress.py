"""The progress bar of long work: on standard error, and only once the work has turned out to be long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from mopsus.events.trace import Progress

PATIENCE_S = 0.5
"""Work that is done by then needs no bar, and is spared the time to load one."""

INTERVAL_S = 0.1


class ProgressBar:
    """Shows how far work is, how fast it goes, and how long it will take."""

    def __init__(self, wanted: bool, unit: str = "rows") -> None:
        self._wanted = wanted
        self._unit = unit
        self._started = self._shown = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Take it away; safe to call twice."""
        if self._bar is not None:
            self._bar.stop()

    def update(self, progress: Progress) -> None:
        """The work has come this far."""
        now = time.monotonic()
        if not self._wanted or now - self._started < PATIENCE_S or now - self._shown < INTERVAL_S:
            return
        self._shown = now
        if self._bar is None:
            self._bar = _make_bar()
            self._task = self._bar.add_task("", total=progress.bytes_total, rate="")
            self._bar.start()
        rate = progress.rows / (now - self._started)
        shown = f"{rate / 1e6:.1f} M" if rate >= 1e6 else f"{rate / 1e3:.0f} k" if rate >= 1e3 else f"{rate:.0f}"
        assert self._task is not None  # made with the bar
        self._bar.update(
            self._task, completed=progress.bytes_done, rate=f"{progress.rows:,} {self._unit}, {shown} {self._unit}/s"
        )


def _make_bar() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
