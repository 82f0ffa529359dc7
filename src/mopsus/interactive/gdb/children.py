"""The processes that a program makes of itself, and those that it starts.

GDB lets a child go, without any trap in it, before it has done a single instruction. A child that is to be watched is
made to wait from that moment, and handed over: `mopsus debug` starts another GDB for it, which goes on with monitors
that know what those of its parent knew.

A process that borrows its parent's memory, by `vfork`, is about to become another program, and is never followed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from mopsus.bus.codec import pack
from mopsus.interactive.follow import Follow
from mopsus.interactive.gdb.catch import catchpoint
from mopsus.interactive.gdb.holding import HANDED_OVER, HELD, Legacy, hold, look

if TYPE_CHECKING:
    from mopsus.interactive.session import Session

_PROCESS = re.compile(r"process (\d+)")


class Children:
    """Counts those that are let go, and hands over those that are not."""

    def __init__(self, session: Session, follow: Follow, handing_over: str | None) -> None:
        """`handing_over`: the folder where children are handed over, if both are to be watched."""
        self._session = session
        self._follow = follow
        self._folder = handing_over
        self._lead()
        self._fork = catchpoint("fork", self._forked)
        self._vfork = catchpoint("vfork", self._started)

    def _forked(self) -> bool:
        escaped = self._session.sight.escaped
        child = self._process(self._fork)
        if self._folder is not None and child is not None:
            self._hand_over(child, Path(self._folder))
        elif self._follow is Follow.CHILD:
            self._lead()
            escaped.parents += 1
        else:
            escaped.children += 1
        return False

    def _started(self) -> bool:
        gdb.execute("set follow-fork-mode parent")
        self._session.sight.escaped.started += 1
        return False

    def _lead(self) -> None:
        """Let GDB stay with the process that is wanted."""
        gdb.execute(f"set follow-fork-mode {'child' if self._follow is Follow.CHILD else 'parent'}")

    def _process(self, point: gdb.Breakpoint) -> int | None:
        """The child that the program has just got."""
        found = _PROCESS.search(gdb.execute(f"info breakpoints {point.number}", to_string=True))
        return None if found is None else int(found[1])

    def _hand_over(self, child: int, folder: Path) -> None:
        held = look(child)
        legacy = Legacy(child, held, self._session.bequeath())
        unfinished = folder / f"{child}{HELD}"
        unfinished.write_bytes(pack(legacy))
        hold(child, held)
        unfinished.rename(folder / f"{child}{HANDED_OVER}")
