"""Traces of components as text: one event to a line, one file to a component.

An event is observations with commas between them (`a0:t,a1:f`); an empty one observes nothing. Line k is timestamp
k. In a folder of traces, `<number>-<letter>.trace` is what one component observes in one run: `a` is the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System
from mopsus.model import Span

Event: TypeAlias = "Mapping[str, bool]"
"""What one component observes at one timestamp."""

Trace: TypeAlias = "tuple[Event, ...]"
"""What one component observes, from timestamp 1 on."""

_VALUES = {"t": True, "f": False}


def parse_event(text: str) -> Event:
    """The event that a line denotes; `ValueError` that says what is wrong with it."""
    event: dict[str, bool] = {}
    for observation in text.split(",") if text.strip() else ():
        name, colon, value = observation.strip().rpartition(":")
        if not colon or not name.isidentifier() or value not in _VALUES:
            raise ValueError(f"'{observation.strip()}' is no observation, such as a0:t or a0:f")
        if event.setdefault(name, _VALUES[value]) is not _VALUES[value]:
            raise ValueError(f"'{name}' is both true and false")
    return event


def format_event(event: Event) -> str:
    """The line that denotes an event."""
    return ",".join(f"{name}:{'t' if value else 'f'}" for name, value in event.items())


def parse_trace(text: str) -> Trace:
    """A trace in one line, with `>` between its events. `DecentralError` where it is wrong."""
    events: list[Event] = []
    column = 1
    for part in text.split(">") if text.strip() else ():
        try:
            events.append(parse_event(part))
        except ValueError as error:
            span = Span("<trace>", 1, column, 1, column + len(part))
            raise DecentralError(str(error), code="DECENTRAL-041", place=span, line=text) from None
        column += len(part) + 1
    return tuple(events)


def read_trace(path: Path) -> Iterator[Event]:
    """The events of a trace file, one by one. `DecentralError` with the line that is wrong."""
    known: dict[str, Event] = {}  # lines come again and again
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line not in known:
                    known[line] = _event_of(line.rstrip("\n"), path, number)
                yield known[line]
    except OSError as error:
        raise DecentralError(f"cannot read the trace {path}: {error.strerror}", code="DECENTRAL-040") from None
    except UnicodeDecodeError:
        raise DecentralError(f"the trace {path} is not UTF-8", code="DECENTRAL-040") from None


def write_trace(path: Path, trace: Sequence[Event]) -> None:
    """Write a trace file."""
    path.write_text("".join(f"{format_event(event)}\n" for event in trace), encoding="utf-8")


def component_letter(number: int) -> str:
    """The letter of a component, from 0 on: a to z, then aa, ab and so on."""
    letters = ""
    while number >= 0:
        letters = chr(ord("a") + number % 26) + letters
        number = number // 26 - 1
    return letters


def default_components(count: int, observations: int) -> dict[str, tuple[str, ...]]:
    """As many components, called A, B and so on, each with as many propositions: `a0`, `a1`."""
    letters = [component_letter(number) for number in range(count)]
    return {letter.upper(): tuple(f"{letter}{each}" for each in range(observations)) for letter in letters}


def trace_path(folder: Path, number: int, component: int) -> Path:
    """The file of a component, both counted from 0, in a run."""
    return folder / f"{number}-{component_letter(component)}.trace"


def read_run(folder: Path, number: int, components: int) -> dict[str, Trace]:
    """What each of so many components observes in a run. `DecentralError` if a file is missing or wrong."""
    missing = [path.name for each in range(components) if not (path := trace_path(folder, number, each)).is_file()]
    if missing:
        raise DecentralError(
            f"the trace {folder / missing[0]} does not exist",
            hint=f"run {number} of {components} components needs also: {', '.join(missing[1:])}" if missing[1:] else "",
            code="DECENTRAL-040",
        )
    return {
        component_letter(each).upper(): tuple(read_trace(trace_path(folder, number, each)))
        for each in range(components)
    }


def write_run(folder: Path, number: int, run: Mapping[str, Sequence[Event]]) -> None:
    """Write the traces of all components of a run, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    for each, trace in enumerate(run.values()):
        write_trace(trace_path(folder, number, each), trace)


def system_of(run: Mapping[str, Sequence[Event]]) -> System:
    """The components of a run with all propositions that they observe. `DecentralError` if two observe the same."""
    return System({name: tuple(sorted({each for event in trace for each in event})) for name, trace in run.items()})


def _event_of(line: str, path: Path, number: int) -> Event:
    try:
        return parse_event(line)
    except ValueError as error:
        span = Span(str(path), number, 1, number, len(line) + 1)
        raise DecentralError(str(error), code="DECENTRAL-041", place=span, line=line) from None
