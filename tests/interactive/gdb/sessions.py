"""Whole sessions with quiet properties: what `mopsus debug` reports of one, and what GDB says at its prompt."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interactive.gdb.programs import START, run_gdb


def debug(program: Path, spec: str, *options: str, arguments: tuple[str, ...] = ()) -> dict[str, Any]:
    """The report of a run, without the times, and what was said beside it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"spec{_suffix(spec)}"
        file.write_text(textwrap.dedent(spec))
        done = subprocess.run(
            [
                *(sys.executable, "-m", "mopsus", "debug", "--batch", "--json", "-o", f"{folder}/report.json"),
                *(*options, "--prop", f"{file},quiet", str(program), *arguments),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        report = Path(folder) / "report.json"
        assert report.exists(), done.stderr
        found = json.loads(report.read_text())
    return {"output": done.stdout, "said": done.stderr, **found}


def at_prompt(program: Path | None, spec: str, *commands: str, first: Sequence[str] = ()) -> str:
    """What is said when GDB has these commands, with a quiet property loaded; some come before that."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"spec{_suffix(spec)}"
        file.write_text(textwrap.dedent(spec))
        load = ("set confirm off", f"source {START}", *first, f"verde load-property {file}", "verde exec set_quiet")
        return run_gdb(program, [*load, *commands])


def _suffix(spec: str) -> str:
    return ".prop" if spec.lstrip().startswith(("slice", "initialization", "state")) else ".mop"


def said_of(report: dict[str, Any]) -> object:
    """What must not depend on how events are taken: verdicts with their witnesses, the stop and the output."""
    return without_times([report["output"], report["verdicts"], report["program"], report["stats"]["events"]])


def without_times(report: object) -> object:
    if isinstance(report, dict):
        return {key: value is None if key == "time" else without_times(value) for key, value in report.items()}
    if isinstance(report, str | int) and (match := re.search(r"0x[0-9a-f]{6,}|\b\d{10,}", str(report))):
        return str(report).replace(match[0], "an address")  # a library more, and all of them are others
    return [without_times(each) for each in report] if isinstance(report, list) else report
