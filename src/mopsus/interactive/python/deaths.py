"""Programs that die of a signal: nothing in the process can tell of it, but the interpreter writes down its stack.

The monitors die with the program. What they had reported is kept; what they were in the midst of is lost, and that is
said.
"""

from __future__ import annotations

import faulthandler
import re
from dataclasses import replace
from pathlib import Path

from mopsus.interactive.crash import Crash, cause_of
from mopsus.interactive.debugger import Where
from mopsus.interactive.outcome import Outcome, Stop
from mopsus.model import Unseen
from mopsus.model.text import short_path

_FILE = "stack"
_OURS = str(Path(__file__).parents[2])
_THREAD = re.compile(r"^(?:Current thread|Stack) .*:$")
_FRAME = re.compile(r'^  File "([^"]*)", line (\d+) in (.*)$')
_UNTOLD = "the time from its last verdict on"
_WHY_UNTOLD = "the process ended so that nothing in it could tell of that, as _exit in C does"
_LOST = "the monitors died with the program: events since the last verdict are not counted, and open slices not told"


def expect_death(folder: str) -> None:
    """From now on, a fatal signal leaves the stack in a file there; a program that asks for it elsewhere has its
    way."""
    if not faulthandler.is_enabled():
        file = open(Path(folder, _FILE), "a")  # noqa: SIM115 - open for as long as the process lives
        faulthandler.enable(file, all_threads=False)


def with_death(outcome: Outcome, status: int, folder: str) -> Outcome:
    """The outcome of a program that has died with this status, a signal's number negated."""
    location, stack = _read(Path(folder, _FILE))
    outcome = without_word(outcome, status)
    cause = cause_of(-status)
    crash = Crash(cause, Where(location, None, None, 0.0), stack, (), False)
    return replace(
        outcome,
        verdicts=(*outcome.verdicts, *crash.verdicts()),
        stop=Stop(cause, location, stack),
    )


def cut_off(outcome: Outcome, status: int) -> Outcome:
    """The outcome of a program whose process ended in silence: that nothing was found is no good news."""
    outcome = without_word(outcome, status)
    untold = (Unseen(spec, possible=False, elsewhere=_UNTOLD, hint=_WHY_UNTOLD) for spec in outcome.stats)
    return replace(outcome, unseen=(*outcome.unseen, *untold))


def without_word(outcome: Outcome, status: int) -> Outcome:
    """The outcome of a program whose process ended so that nothing in it could tell of it."""
    unseen = tuple(each for each in outcome.unseen if not each.possible)
    return replace(outcome, status=status, warnings=(*outcome.warnings, _LOST), unseen=unseen)


def _read(file: Path) -> tuple[str | None, tuple[str, ...]]:
    """Where the thread stood that died, and its frames, innermost first."""
    text = file.read_text(errors="replace") if file.exists() else ""
    frames: list[tuple[str, str]] = []
    inside = False
    for line in text.splitlines():
        if _THREAD.match(line):
            inside, frames = True, []
        elif inside and (found := _FRAME.match(line)) is not None:
            path, number, function = found.groups()
            if not path.startswith((_OURS, "<")):
                frames.append((function, f"{path}:{number}"))
        else:
            inside = False
    stack = tuple(f"#{number} {name} at {short_path(place)}" for number, (name, place) in enumerate(frames))
    return frames[0][1] if frames else None, stack
