"""The commands for monitors at GDB's prompt, as `verde …` and as `mopsus …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from mopsus.interactive.commands import completions
from mopsus.interactive.telling import refusal
from mopsus.model import MopsusError

if TYPE_CHECKING:
    from mopsus.interactive.gdb.course import Course
    from mopsus.interactive.session import Session

NAMES = ("verde", "mopsus")


class MonitorCommands(gdb.Command):
    """Monitors, scenarios and checkpoints; `verde help` lists what there is."""

    def __init__(self, name: str, session: Session, course: Course) -> None:
        super().__init__(name, gdb.COMMAND_RUNNING)
        self._session = session
        self._course = course

    def invoke(self, argument: str, from_tty: bool) -> None:
        try:
            self._session.command(argument)
        except MopsusError as error:
            raise gdb.GdbError(refusal(error)) from error
        self._course.proceed(started=True)

    def complete(self, text: str, word: str) -> list[str] | int:
        return completions(text) if " " not in text else gdb.COMPLETE_FILENAME
