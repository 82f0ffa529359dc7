"""The GDB processes of a run without a prompt: the one of the program, and one for each child that is watched.

This runs outside GDB. A child that is handed over stands still until the GDB that is started for it lets it go on, or
until it is let go because there are too many of them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from mopsus.bus.codec import pack, unpack
from mopsus.bus.messages import BusError
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.follow import Escaped
from mopsus.interactive.gdb.holding import GROUP, HANDED_OVER, HELD, Held, Legacy, end, let_go, may_trace
from mopsus.interactive.outcome import INTERRUPTION, Outcome, Stop, joined
from mopsus.interactive.setup import Setup
from mopsus.model import Unseen
from mopsus.stopping import STOPPING

MOST = 16
"""Children that are watched at a time: each has a GDB of its own."""
_PAUSE_S = 0.02
_LAST_LINES = 3

Start = Callable[[Setup, Path], tuple[int, Path]]
"""Starts a GDB with its files in a folder, and gives its process and the file that its words go to."""


@dataclass(slots=True)
class _Member:
    """A child of the program with the GDB that watches it."""

    child: int
    legacy: Path
    outcome: Path
    log: Path


@dataclass(slots=True)
class _Family:
    setup: Setup
    folder: Path
    start: Start
    running: set[int] = field(default_factory=set)
    """The GDB processes."""
    members: dict[int, _Member] = field(default_factory=dict)
    """By the process of their GDB."""
    left: int = 0
    """Children that were let go."""
    stopped: bool = False
    """Was the program stopped for good, and its children with it?"""

    def run(self) -> Path:
        """From the first to the last; the words of the program's own GDB."""
        with ending(self.running):
            first, log = self.start(self.setup, self.folder)
            take(first, self.running)
            while self.running:
                time.sleep(_PAUSE_S)
                for process in [each for each in self.running if os.waitpid(each, os.WNOHANG)[0]]:
                    self.running.discard(process)
                    if process == first and self._was_stopped():
                        self._end_others()
                self._take_children()  # also those of a process that has just ended
        for cut_short in self._handed_over(HELD):
            with suppress(BusError):  # it says nothing yet, so nothing has been done
                end(*_held(cut_short))
        for left in self._handed_over(GROUP):
            with suppress(OSError):
                os.killpg(int(left.stem), signal.SIGKILL)
        return log

    def _handed_over(self, how: str) -> list[Path]:
        return sorted(Path(self.setup.handing_over or "").glob(f"*{how}"))

    def _take_children(self) -> None:
        for legacy in self._handed_over(HANDED_OVER):
            child = int(legacy.stem)
            ends = STOPPING.is_set() or self.stopped
            if ends or len(self.running) > MOST:
                if (end if ends else let_go)(*_held(legacy)):  # otherwise the GDB of its parent is not yet done with it
                    self.left += not ends
                    legacy.unlink()
                continue
            folder = self.folder / legacy.stem
            folder.mkdir()
            taken = legacy.rename(folder / legacy.name)
            outcome = folder / "outcome.json"
            setup = replace(
                self.setup, process=child, legacy=str(taken), outcome=str(outcome), record=self._record(child)
            )
            process, log = self.start(replace(setup, program=()), folder)
            take(process, self.running)
            self.members[process] = _Member(child, taken, outcome, log)

    def _record(self, child: int) -> str | None:
        """Each process has a trace of its own."""
        if self.setup.record is None:
            return None
        path = Path(self.setup.record)
        return str(path.with_name(f"{path.stem}-{child}{path.suffix}"))

    def _was_stopped(self) -> bool:
        path = Path(self.setup.outcome or "")
        return path.exists() and unpack(Outcome, path.read_bytes()).status is None

    def _end_others(self) -> None:
        """The program was stopped for good, and its children shall not go on for ever without it."""
        self.stopped = True
        for process in self.running:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)

    def outcomes(self) -> dict[int, Outcome]:
        """Of the children, by process."""
        found = {}
        for member in self.members.values():
            if member.outcome.exists():
                found[member.child] = unpack(Outcome, member.outcome.read_bytes())
            elif STOPPING.is_set() or self.stopped:  # before GDB had it
                found[member.child] = Outcome(stop=Stop(INTERRUPTION, None))
                end(*_held(member.legacy))
            else:
                found[member.child] = Outcome(error=f"GDB ended without a word: {words_of(member.log)}")
            if found[member.child].error is not None:
                let_go(*_held(member.legacy))  # nobody has
        return found


def _held(legacy: Path) -> tuple[int, Held]:
    """A child that was handed over."""
    known = unpack(Legacy, legacy.read_bytes())
    return known.process, known.held


def run_family(setup: Setup, folder: Path, start: Start) -> str:
    """A program and all its children. What became of them is written as the outcome of one."""
    if not may_trace():
        hint = "set kernel.yama.ptrace_scope to 0, or run it as root"
        raise DebuggerError("children cannot be watched: debuggers may not attach to them", hint=hint)
    handing_over = folder / "children"
    handing_over.mkdir()
    family = _Family(replace(setup, handing_over=str(handing_over)), folder, start)
    log = family.run()
    children = family.outcomes()
    outcome = Path(setup.outcome or "")
    if outcome.exists():
        whole = joined(unpack(Outcome, outcome.read_bytes()), children)
        failed = Escaped(children=sum(each.error is not None for each in children.values())).said()
        left = Escaped(children=family.left).said()
        hint = f"{MOST} children are watched at a time"
        unseen = [Unseen(spec, possible=False, elsewhere=failed) for spec in whole.stats if failed]
        unseen += [Unseen(spec, elsewhere=left, hint=hint) for spec in whole.stats if left]
        whole = replace(whole, unseen=(*whole.unseen, *unseen))
        outcome.write_bytes(pack(whole))
    return words_of(log)


def words_of(log: Path) -> str:
    """The last that GDB has said."""
    lines = log.read_text(errors="replace").strip().splitlines()[-_LAST_LINES:]
    return " / ".join(line.strip() for line in lines)


def take(process: int, processes: set[int]) -> None:
    """One more that is ended with the run, which may have been asked for just before."""
    processes.add(process)
    if STOPPING.is_set():
        os.kill(process, signal.SIGTERM)


@contextmanager
def ending(processes: Set[int]) -> Iterator[None]:
    """Who asks us to end means the whole run: every GDB is asked to end it, and says what was found so far."""

    def ask(_: int) -> None:
        STOPPING.heed()
        for process in list(processes):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)

    with STOPPING.telling(ask):
        yield
