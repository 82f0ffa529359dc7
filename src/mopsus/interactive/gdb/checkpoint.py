"""Checkpoints of a program under GDB: which kind, and no point in the way.

A program that has only ever had one thread copies itself by `fork`; any other is saved in place. GDB waits for ever for
a copy of a program one of whose threads has ended. CRIU is used if the developer asks for it: `set mopsus-checkpoints
criu`.
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
    """How `verde checkpoint` saves the program: auto (fork if it has had one thread only, else snapshot), fork,
    snapshot or criu."""

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
        self._had_threads = False
        gdb.events.new_thread.connect(self._on_thread)
        gdb.events.gdb_exiting.connect(lambda _: self.forget())

    @property
    def program_ended(self) -> bool:
        """Is what GDB shows a checkpoint, because the program itself has ended?"""
        return self._copies.ended

    @property
    def outlive(self) -> bool:
        """Would one that is taken now be there when the program is not?"""
        return self._wanted() == "fork"

    def forget(self) -> None:
        """The program is about to be killed, run again or let go."""
        self._copies.discard_all()
        self._had_threads = False

    def _on_thread(self, event: gdb.NewThreadEvent) -> None:
        process, thread, _ = event.inferior_thread.ptid
        self._had_threads |= thread not in (0, process)

    def take(self) -> object:
        thread = gdb.selected_thread()
        if thread is None or self.program_ended:
            raise CheckpointError("there is no program to be saved", hint="start it, or restore a checkpoint")
        kind = self._wanted()
        speak_on()
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

    def discard(self, saved: object) -> None:
        with self._moving():
            if isinstance(saved, Copy):
                self._copies.discard(saved)
            elif isinstance(saved, criu.Image):
                criu.discard(saved)

    def _wanted(self) -> str:
        kind = str(self._kind.value)
        if kind != "auto":
            return kind
        # GDB has not told us of threads that were there before us.
        return "snapshot" if self._had_threads or len(gdb.selected_inferior().threads()) > 1 else "fork"

    def keeps(self, saved: object) -> bool:
        """A snapshot is of use in its process only."""
        return not isinstance(saved, snapshot.Snapshot) or saved.process == gdb.selected_inferior().pid

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
