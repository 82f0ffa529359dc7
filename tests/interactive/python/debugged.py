"""A Python program under `mopsus debug`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BOUND = """\
slice on q
initialization { n = 0 }
state init accepting {
    transition { event Queue(self as q, size) success { most = size } ready }
}
state ready accepting {
    transition { event push(self as q) { return n < most } success { n += 1 } ready failure full }
    transition { event pop(self as q) success { n -= 1 } ready }
}
state full non-accepting
"""
"""No queue has more items than it has room for."""


@dataclass
class Debugged:
    """What was printed, and the report if there was no prompt."""

    stdout: str
    stderr: str
    status: int
    report: dict[str, Any]

    @property
    def violations(self) -> list[str]:
        return [verdict["category"] for verdict in self.report["verdicts"]]


def debug(
    folder: Path,
    program: str,
    prop: str,
    *,
    commands: str | None = None,
    scenario: str | None = None,
    quiet: bool = True,
    options: tuple[str, ...] = (),
    arguments: tuple[str, ...] = (),
) -> Debugged:
    """Without commands there is no prompt. A property that begins with `slice` or `state` is a `.prop`."""
    is_prop = prop.lstrip().startswith(("slice", "state", "initialization"))
    script, file = folder / "program.py", folder / ("watched.prop" if is_prop else "watched.mop")
    script.write_text(program)
    file.write_text(prop)
    report = folder / "report.json"
    words = ["debug", "--prop", f"{file}{',quiet' if quiet else ''}", "--json", "-o", str(report), *options]
    if scenario is not None:
        (folder / "scenario.scn").write_text(scenario)
        words += ["--scenario", str(folder / "scenario.scn")]
    if commands is None:
        words.append("--batch")
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", *words, str(script), *arguments],
        input=commands or "",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
    )
    found = json.loads(report.read_text()) if report.exists() else {"verdicts": []}
    return Debugged(done.stdout, done.stderr, done.returncode, found)
