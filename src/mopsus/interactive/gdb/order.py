"""What a GDB that `mopsus debug` starts is told. `start.py` reads one field without the codec, if it cannot begin."""

from __future__ import annotations

from dataclasses import dataclass

from mopsus.interactive.setup import Setup


@dataclass(frozen=True, slots=True)
class GdbOrder:
    """The whole of it."""

    setup: Setup
    streams: tuple[int, ...]
    """The descriptors of GDB that are standard streams of the program, in their order."""
    starter: int
    """The process that waits for this GDB."""
