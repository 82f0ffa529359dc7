"""What a client and hosts, and hosts among each other, say. The version of all of them is that of the bus's frames."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from mopsus.bus import BusError, subject_of
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.model import UNDECODABLE

Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a run goes on and ends."""

    limit: Count | None = None
    """A component ends after so many timestamps, whatever it still could observe."""
    slack: Count | None = None
    """When all components have ended, a message may lead to another, that to a third, and so on, so many times: what
    goes around for ever ends. None: twice as many as there are monitors."""
    wait_s: Seconds = 0.05
    """How long a message may wait for the next event of the component that it came to."""
    resend_s: Seconds = 0.25
    """What was not acknowledged in this time is sent again."""
    probe_s: Seconds = 0.1
    """How often the client asks hosts how far they are."""
    timeout_s: Seconds = 10.0
    """Who is not heard of for so long is given up."""


class Placed(msgspec.Struct, frozen=True):
    """A component of a host."""

    name: str
    propositions: tuple[str, ...]
    peripheries: tuple[dict[str, Any], ...]


class Deploy(msgspec.Struct, frozen=True, tag=True):
    """Client to host, the first message of a session: what it is to run."""

    client: str
    algorithm: str
    components: tuple[Placed, ...]
    parts: tuple[Part, ...]
    hosts: dict[str, str]
    """Of all parts, by name."""
    settings: Settings


class Ready(msgspec.Struct, frozen=True, tag=True):
    """Host to client: everything is built."""


class Start(msgspec.Struct, frozen=True, tag=True):
    """Client to host: observe."""


class Post(msgspec.Struct, frozen=True, tag=True):
    """Monitor to monitor."""

    source: str
    target: str
    content: bytes
    depth: int
    """How many messages led to this one, counted since all components have ended."""


class Found(msgspec.Struct, frozen=True, tag=True):
    """Host to client: the verdict, and the timestamp that it is about."""

    monitor: str
    time: int
    verdict: bool
    reasons: tuple[tuple[int, str, bool], ...]
    """What it follows from: inputs of the monitor at timestamps."""


class Answers(msgspec.Struct, frozen=True, tag=True):
    """Host to client: verdicts of a monitor that gives one for each timestamp, as runs (first, last, value)."""

    monitor: str
    runs: tuple[tuple[int, int, bool], ...]


class Over(msgspec.Struct, frozen=True, tag=True):
    """Host to client: a monitor says that nobody has anything more to do."""

    monitor: str


class Failed(msgspec.Struct, frozen=True, tag=True):
    """Host to client: it cannot go on, and why."""

    code: str
    message: str
    hint: str


class Ended(msgspec.Struct, frozen=True, tag=True):
    """Client to host: no component observes anything more."""


class Control(msgspec.Struct, frozen=True, tag=True):
    """Client to host: a signal for what a component observes."""

    component: str
    signal: str


class Stop(msgspec.Struct, frozen=True, tag=True):
    """Client to host: the run is over."""


class Finished(msgspec.Struct, frozen=True, tag=True):
    """Host to client: what was counted, and who says so."""

    pid: int
    missing: tuple[tuple[int, str], ...]
    """What its monitors would have had to know: the first of such inputs at timestamps."""
    turns: int
    times: dict[str, int]
    measures: dict[str, int]


class Probe(msgspec.Struct, frozen=True, tag=True):
    """Client to host: where are you? Sent again until it is answered."""

    number: int


class Status(msgspec.Struct, frozen=True, tag=True):
    """The answer: how far it is when it says so."""

    number: int
    pid: int
    machine: str
    times: dict[str, int]
    ended: bool
    """Has every component of it ended?"""
    idle: bool
    """Is no monitor of it to be run?"""
    sent: int
    """How many messages its monitors have sent to other hosts …"""
    received: int
    """… and got from them."""


class Lost(msgspec.Struct, frozen=True, tag=True):
    """The answer of a host that knows nothing of the run."""

    number: int


Body: TypeAlias = (
    Deploy
    | Ready
    | Start
    | Post
    | Found
    | Answers
    | Over
    | Failed
    | Ended
    | Control
    | Stop
    | Finished
    | Probe
    | Status
    | Lost
)

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Body] = msgspec.msgpack.Decoder(Body)


def encode_body(body: Body) -> bytes:
    """A message as it stands in a frame."""
    return _encoder.encode(body)


def decode_body(data: bytes) -> Body:
    """The message in a frame. `BusError` if it is none."""
    try:
        return _decoder.decode(data)
    except UNDECODABLE as error:  # also an automaton that is none
        raise BusError(f"what came is no message of a deployment: {error}", code="BUS-004") from None


def subject_of_host(name: str) -> str:
    """What a host follows."""
    return subject_of("mopsus", "host", name)


def subject_of_client(session: str) -> str:
    """What the client of a session follows."""
    return subject_of("mopsus", "client", session)
