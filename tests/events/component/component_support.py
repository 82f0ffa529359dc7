"""What components of this process do, written down in words that do not depend on numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mopsus.events.component import hooks
from mopsus.events.component.identity import current
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid


class Heard:
    """Everything that was told, in order."""

    def __init__(self) -> None:
        self.events: list[Occurrence] = []
        self.names: dict[Pid, str] = {}
        here = current()
        assert here is not None
        self.names[here.pid] = "main"

    def emit(self, kind, subject, other, data):
        self.events.append(Occurrence(kind, subject, other, data))
        if isinstance(data, Function):
            whose = other if kind is Kind.FORK else subject
            self.names.setdefault(whose, data.name.rpartition(".")[2])

    def of(self, name: str) -> list[str]:
        """What components of that name did, in words; `main` is whoever listens."""
        return [self.words(each) for each in self.events if self.names.get(each.subject) == name]

    def words(self, event: Occurrence) -> str:
        parts = [event.kind.value]
        if event.other is not None:
            parts.append(self.names.get(event.other, "channel"))
        if isinstance(event.data, Function):
            listed = ", ".join(map(str, map(self.shown, event.data.listed())))
            parts.append(f"{event.data.name.rpartition('.')[2]}({listed})")
        else:
            parts.append(str(self.shown(event.data)))
        return " ".join(parts)

    def shown(self, value):
        if isinstance(value, Pid):
            return self.names.get(value, "channel")
        if type(value) in (tuple, list):
            return type(value)(self.shown(item) for item in value)
        return str(value) if isinstance(value, str) else value

    def pid(self, name: str) -> Pid:
        return next(pid for pid, known in self.names.items() if known == name)


@contextmanager
def heard(**how) -> Iterator[Heard]:
    """Listen within the block."""
    log = Heard()
    undo = hooks.install(log.emit, **how)
    try:
        yield log
    finally:
        undo()


def record(script: Path, *arguments: str, form: str = "hml", status: int = 0) -> list[str]:
    """Run a script in a process of its own and give the lines of its log."""
    log = script.with_suffix(".log")
    command = [sys.executable, "-m", "mopsus", "component", "record", "-o", str(log), "--format", form, "--"]
    done = subprocess.run(
        [*command, str(script), *arguments], capture_output=True, text=True, timeout=60, check=False, env=os.environ
    )
    assert done.returncode == status, done.stderr
    return log.read_text().splitlines()
