"""The same sessions with hooks and with traps, and what must not depend on it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from interactive.gdb.hooked.specs import Property
from interactive.gdb.programs import SOURCES, run_gdb

MOST_STOPS = 8
INSIDE = Path(__file__).with_name("inside.py")
PASSING = re.compile(
    r"^\[\d\d:\d\d:\d\d\] |\[Switching to Thread [^]]*\]\n|(?<=Thread )0x\w+ \(LWP \d+\)|(?<=process )\d+"
    r"|(?<=breakpoint )-\d+"
)
"""Times, names of threads and processes, and numbers of points of our own, which are others in each run."""
_FRAME = re.compile(r"^#\d+ |(?<= \()[^\n]*(?=\) at )", re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_DOUBT = re.compile(r"(?:warning: )?(\w+): event (\w+) never happened, as far as can be seen: ")
"""With hooks, all events are looked for, with traps those that a state needs: what never happened is not the same."""
STEPS = {"finish", "next", "step", "stepi", "up"}
LOOK = ("backtrace", "info args", "info locals", "up", "info locals")


@dataclass(frozen=True)
class Watched:
    """A property of a session."""

    property: Property
    scenario: str | None = None
    quiet: bool = True


@dataclass(frozen=True)
class Case:
    """One session: at each stop, the next commands are given."""

    program: Path
    arguments: str
    properties: tuple[Watched, ...]
    commands: tuple[tuple[str, ...], ...] = ((*LOOK, "continue"),)


@dataclass(frozen=True)
class Run:
    """What became of it. `seen` must be the same in both ways."""

    seen: dict[str, Any]
    arrivals: int
    unhooked: dict[str, str]
    """Why functions have no hook."""
    doubted: frozenset[tuple[str, str]]
    """By spec, the events of which it was said that they never happened."""
    missing: frozenset[tuple[str, str]]
    """Those that were looked for, and never seen."""


def run_cases(cases: Sequence[Case], *, hooks: bool) -> list[Run]:
    """All in one GDB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = [_written(case, folder / str(number)) for number, case in enumerate(cases)]
        order, found = folder / "order.json", folder / "found.jsonl"
        order.write_text(
            json.dumps(
                {"root": str(SOURCES), "hooks": hooks, "cases": written, "found": str(found), "most_stops": MOST_STOPS}
            )
        )
        said = run_gdb(
            None, [f"python hooked_order = {str(order)!r}", f"source {INSIDE}"], timeout=60 + 20 * len(cases)
        )
        lines = found.read_text().splitlines() if found.exists() else []
        assert len(lines) == len(cases), f"GDB got as far as case {len(lines)}, hooks: {hooks}:\n{said}"
        return [_run(json.loads(line), case["output"]) for line, case in zip(lines, written, strict=True)]


def _written(case: Case, folder: Path) -> dict[str, Any]:
    """The case, its texts in files. These have the same names in all runs: what is said may name them."""
    folder.mkdir()
    properties = []
    for number, each in enumerate(case.properties):
        file = folder / f"spec{number}{each.property.suffix}"
        file.write_text(each.property.text)
        scenario = folder / f"spec{number}.scn"
        if each.scenario is not None:
            scenario.write_text(each.scenario)
        properties.append(
            {"file": str(file), "scenario": str(scenario) if each.scenario is not None else None, "quiet": each.quiet}
        )
    return {
        "program": str(case.program),
        "arguments": case.arguments,
        "properties": properties,
        "commands": case.commands,
        "output": str(folder / "output"),
    }


def _run(found: dict[str, Any], output: str) -> Run:
    arrivals, warnings = found.pop("arrivals"), found.pop("warnings")
    unhooked = found.pop("unhooked")
    counts, looked_for = found.pop("counts"), found.pop("looked_for")
    missing = {(spec, event) for spec, events in looked_for.items() for event in events if not counts[spec][event]}
    doubted = {(match[1], match[2]) for text in warnings if (match := _DOUBT.match(text)) is not None}
    seen = {
        **found,
        "stops": [_stop(each) for each in found["stops"]],
        "output": Path(output).read_text() if Path(output).exists() else None,
        "said": [each for each in found["said"] if not _depends(each)],
        "warnings": [each for each in warnings if not _depends(each)],
    }
    folder = str(Path(output).parents[1])
    return Run(_without(seen, folder), arrivals, unhooked, frozenset(doubted), frozenset(missing))


def _stop(stop: str | list[tuple[str, str]]) -> object:
    """What was seen there. What GDB says while it steps, and how it counts frames, may be different: not where it comes
    to."""
    if isinstance(stop, str):
        return _frames(stop)
    return [[command, _frames(said)] for command, said in stop if command not in STEPS]


def _frames(text: str) -> str:
    """Whether a library is what a frame is `at` or `from` depends on hooks, too."""
    return _FRAME.sub("#", text.replace(") from /", ") at /"))


def _depends(text: str) -> bool:
    """Or about an event that cannot be read: with hooks, also when no state needs it."""
    return any(words in text for words in ("is seen by traps", "is left out")) or _DOUBT.match(text) is not None


def _without(seen: Any, folder: str) -> Any:
    """Without what times are, and names of files of a run."""
    if isinstance(seen, dict):
        return {key: value is None if key == "time" else _without(value, folder) for key, value in seen.items()}
    if isinstance(seen, list):
        return [_without(each, folder) for each in seen]
    return PASSING.sub("", seen.replace(folder, "")) if isinstance(seen, str) else seen


def differences(one: Run, other: Run, *, addresses: bool = True) -> str:
    """How what was seen in two ways differs, line by line; empty if it does not. Without addresses, for programs that
    allocate memory: a library that is loaded takes some, too."""
    assert one.doubted <= one.missing, "with hooks"
    assert other.doubted <= other.missing, "with traps"
    assert one.doubted & other.missing <= other.doubted, "what hooks never see is missed by traps for the same reason"
    shown = [json.dumps(run.seen, indent=1, sort_keys=True) for run in (one, other)]
    texts = [(text if addresses else _ADDRESS.sub("an address", text)).splitlines() for text in shown]
    return "\n".join(unified_diff(*texts, "with hooks", "with traps", n=2, lineterm=""))
