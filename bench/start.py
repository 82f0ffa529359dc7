"""How long commands take until the program or the trace has its turn: on a program and a trace with nothing in them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness import Goal, Row, measure, process, quotients
from inline import HAS_NEXT as IN_PROGRAMS
from specs import HAS_NEXT as IN_TRACES

STARTS = 31
"""The quickest counts: a start does the same work every time, and all that makes one slower is other work."""
FILES = {"programs.mop": IN_PROGRAMS, "traces.mop": IN_TRACES, "nothing.py": "", "nothing.csv": "event,i\n"}
COMMANDS = {
    "run": (
        "start of `mopsus run` on an empty program",
        ("programs.mop", "--allow-silent", "--", "nothing.py"),
        Goal("≤", 0.3, of="ours"),
    ),
    "check": ("start of `mopsus check` on an empty trace", ("traces.mop", "nothing.csv", "--allow-silent"), None),
}


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        sides = {name: process("-m", "mopsus", name, *words, cwd=folder) for name, (_, words, _) in COMMANDS.items()}
        sides["python"] = process("nothing.py", cwd=folder)
        timings = measure(sides, rounds=max(1, int(STARTS * scale)))
    python = timings["python"].seconds
    return [
        Row(
            case=case,
            unit="s",
            ours=min(timings[name].seconds),
            base="python on an empty program",
            theirs=min(python),
            ratio=quotients(timings[name].seconds, python),
            goal=goal,
        )
        for name, (case, _, goal) in COMMANDS.items()
    ]
