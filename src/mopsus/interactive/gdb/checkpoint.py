"""Checkpoints of a program under GDB: which kind, and no point in the way.

A program with one thread copies itself by `fork`; one with several is saved in place. CRIU is used if the developer
asks for it: `set mopsus-checkpoints criu`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gdb

from mopsus.interactive.debugger import CheckpointError
from mopsus.interactive.gdb import criu, snapshot
from mopsus.interactive.gdb.files import speak_on
from mopsus.interactive.gdb.fork import Copies, Copy, undisturbed
from mopsus.interactive.gdb.trap import lifted


class _Kind(gdb.Parameter):
    """How `verde checkpoint` saves the program: auto (fork for one thread, snapshot for several), fork, snapshot or
    criu."""

    set_doc = "Set how checkpoints save the program."
    show_doc = "Show how checkpoints save the program."

    def __init__(self) -> None:
        super().__init__(
            "mopsus-checkpoints", gdb.COMMAND_RUNNING, gdb.PARAM_ENUM, ["auto", "fork", "snapshot", "criu"]
        )
        self.value = "auto"

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f"Checkpoints save the program by: {value}."


class ProgramCheckpoints:
    """Saves the program and brings it back."""

    def __init__(self) -> None:
        self._kind = _Kind()
        self._copies = Copies()
        self.busy = False
        """Is the program being moved about? Then its stops and ends are nobody's business."""
        gdb.events.gdb_exiting.connect(lambda _: self.forget())

    @property
    def program_ended(self) -> bool:
        """Is what GDB shows a checkpoint, because the program itself has ended?"""
        return self._copies.ended

    def take_end(self) -> None:
        """GDB has just taken up a checkpoint, files and all, because the program has ended."""
        speak_on()

    def forget(self) -> None:
        """The program is about to be killed, run again or let go."""
        self._copies.discard_all()

    def take(self) -> object:
        thread = gdb.selected_thread()
        if thread is None or self.program_ended:
            raise CheckpointError("there is no program to be saved", hint="start it, or restore a checkpoint")
        kind = self._kind.value
        if kind == "auto":
            kind = "fork" if len(gdb.selected_inferior().threads()) == 1 else "snapshot"
        with self._moving():
            if kind == "fork":
                return self._copies.take()
            return snapshot.take() if kind == "snapshot" else criu.take()

    def restore(self, saved: object) -> None:
        with self._moving():
            if isinstance(saved, Copy):
                self._copies.restore(saved)
            elif isinstance(saved, snapshot.Snapshot):
                with undisturbed():
                    snapshot.restore(saved)
            elif isinstance(saved, criu.Image):
                criu.restore(saved)
        speak_on()

    def discard(self, saved: object) -> None:
        with self._moving():
            if isinstance(saved, Copy):
                self._copies.discard(saved)
            elif isinstance(saved, criu.Image):
                criu.discard(saved)

    @contextmanager
    def _moving(self) -> Iterator[None]:
        self.busy = True
        try:
            with lifted():
                yield
        except (OSError, gdb.error) as error:
            raise CheckpointError(f"the system or GDB refused: {error}", hint="run the program again") from error
        finally:
            self.busy = False
