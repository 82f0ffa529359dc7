"""Which process is watched when a program makes another one of itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Follow(StrEnum):
    """What `--follow-fork` chooses."""

    PARENT = "parent"
    CHILD = "child"
    BOTH = "both"


@dataclass(slots=True)
class Escaped:
    """The processes that a session has let go without watching them any longer."""

    children: int = 0
    """Copies that the program made of itself."""
    started: int = 0
    """Programs that it started, as `system` does."""
    parents: int = 0
    """Processes that were left for a child of theirs."""
    became: str = ""
    """Another program, in the place of the one that was watched."""

    def said(self) -> str:
        """In words; nothing if there is none."""
        parts = [
            f"{number:,} {one if number == 1 else many}"
            for number, one, many in (
                (self.children, "child process", "child processes"),
                (self.parents, "parent process", "parent processes"),
            )
            if number
        ]
        parts += [f"{self.became}, which the program became,"] if self.became else []
        return " and ".join(parts)


@dataclass(frozen=True, slots=True)
class Child:
    """What became of a process that was watched by a session of its own."""

    process: int
    status: int | None
    """None: it was stopped, or nobody knows."""
    reason: str = ""
    """Why it was stopped."""
