"""What happened in a run, round by round: kept in a file, so that people can look at the run afterwards.

Monitors are told apart by name; rounds and timestamps count from 1. Only what happened is listed, in the order of
rounds, so a recording is as long as its run was busy.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.model import UNDECODABLE

VERSION = 1
"""Of the file; another one is refused."""


class RecordingError(DecentralError):
    """A file is no recording that can be read."""

    code = "DECENTRAL-060"


class Recorded(msgspec.Struct, frozen=True):
    """A monitor of the run."""

    name: str
    place: str
    kind: str
    automaton: Automaton | None = None
    """None: it only forwards, or is written in Python and has none."""


class Observed(msgspec.Struct, frozen=True):
    """What a component observed at a timestamp."""

    time: int
    component: str
    values: dict[str, bool]


class Step(msgspec.Struct, frozen=True):
    """A monitor that ran in a round, and the encoding that it sent away then, or else has afterwards."""

    round: int
    monitor: str
    start: int = 0
    """The timestamp up to which the state is known."""
    end: int = 0
    """The newest timestamp."""
    entries: int = 0
    """Pairs of a timestamp and a state that may be the one."""
    nodes: int = 0
    """Of the decision diagrams."""
    states: list[int] = []
    """Those in which its automaton may be at the newest timestamp; none: it has no encoding now."""


class Sent(msgspec.Struct, frozen=True):
    """A message; one that was doubled is there twice."""

    sent: int
    delivered: int | None
    """The round; None: lost, or still on its way at the end."""
    source: str
    target: str
    kind: str
    data: int = 0
    """Its size in the units of the measures."""
    bytes: int = 0
    text: str = ""
    """Its content in a few words."""


class Found(msgspec.Struct, frozen=True):
    """A monitor reported a verdict, which is known since a timestamp."""

    round: int
    monitor: str
    time: int
    verdict: bool


class Fault(msgspec.Struct, frozen=True):
    """Something went wrong, or right again, as the network model wanted."""

    round: int
    kind: str
    """`crash` and `restart` of monitors; `partition`, which cuts off components, and `heal`."""
    who: list[str]


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    version: int = VERSION
    title: str
    algorithm: str
    components: dict[str, list[str]]
    """With the propositions that they observe."""
    monitors: list[Recorded]
    rounds: int
    length: int
    """Timestamps of the traces."""
    verdict: bool | None = None
    time: int | None = None
    """The timestamp of the verdict."""
    observations: list[Observed] = []
    steps: list[Step] = []
    messages: list[Sent] = []
    """In the order in which they were sent."""
    findings: list[Found] = []
    faults: list[Fault] = []


class _Header(msgspec.Struct):
    """What every version has."""

    version: int


def save_recording(path: Path, recording: Recording) -> None:
    """Write a recording as JSON."""
    path.write_bytes(msgspec.json.encode(recording))


def load_recording(path: Path) -> Recording:
    """The recording in a file. `RecordingError` if there is none, it is damaged, or speaks of what it does not have."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordingError(f"cannot read the recording {path}: {error.strerror}") from None
    try:
        version = msgspec.json.decode(data, type=_Header).version
        if version != VERSION:
            raise RecordingError(
                f"the recording {path} has version {version}, and only version {VERSION} can be read",
                hint="record the run anew",
            )
        recording = msgspec.json.decode(data, type=Recording)
    except UNDECODABLE as error:
        raise RecordingError(
            f"{path} is not a recording: {error}", hint="mopsus simulate run --record writes one"
        ) from None
    _check(recording, path)
    return recording


def _check(recording: Recording, path: Path) -> None:
    """`RecordingError` unless everything is about monitors, components and states that are there."""
    monitors = {monitor.name: monitor for monitor in recording.monitors}

    def require(known: bool, what: str) -> None:
        if not known:
            raise RecordingError(f"{path} is not a recording: {what}")

    for monitor in recording.monitors:
        require(monitor.place in recording.components, f"'{monitor.name}' is on '{monitor.place}', which is not there")
    for observed in recording.observations:
        require(observed.component in recording.components, f"nothing is called '{observed.component}'")
    for name in (
        *(step.monitor for step in recording.steps),
        *(found.monitor for found in recording.findings),
        *(end for message in recording.messages for end in (message.source, message.target)),
    ):
        require(name in monitors, f"nothing is called '{name}'")
    for step in recording.steps:
        automaton = monitors[step.monitor].automaton
        states = range(0) if automaton is None else automaton.states
        require(all(state in states for state in step.states), f"'{step.monitor}' has no state {step.states}")
