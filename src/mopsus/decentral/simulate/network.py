"""How messages travel in a simulation, and what goes wrong: delays, losses, partitions, crashes.

Written on one line, as `--network` takes it: `delay=1..4,reorder,duplicate=0.1,loss=0.2,resend=3,
partition=5..20:A+B|C,crash=10..15:monitor A`. Spans are from a round to before another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Part
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.system import System
from mopsus.logics.text import suggestion

MOST_ROUNDS = 2**31
"""That something can last."""


class NetworkError(DecentralError):
    """The description of a network's faults is wrong."""

    code = "DECENTRAL-053"


@dataclass(frozen=True, slots=True)
class Partition:
    """From a round to before another, components reach only those of their group; what is in none is one group."""

    start: int
    end: int
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Crash:
    """From a round to before another, a monitor neither sees nor hears anything; then it knows what it knew before."""

    start: int
    end: int
    monitor: str


@dataclass(frozen=True, slots=True)
class Network:
    """A message that is sent in a round arrives in the next one, unless something else is said here."""

    delay: tuple[int, int] = (1, 1)
    """The fewest and the most rounds that a message takes."""
    reorder: bool = False
    """May messages overtake each other?"""
    duplicate: float = 0.0
    """How likely a message comes twice."""
    loss: float = 0.0
    """How likely a message is lost."""
    resend: int = 0
    """After how many rounds the network sends again what was lost; 0: never."""
    partitions: tuple[Partition, ...] = ()
    crashes: tuple[Crash, ...] = ()

    def __post_init__(self) -> None:
        least, most = self.delay
        if not 1 <= least <= most:
            raise NetworkError(f"a message cannot take {least} to {most} rounds", hint="it takes at least one")
        for what, value in (("duplicate", self.duplicate), ("loss", self.loss)):
            if not 0 <= value <= 1:
                raise NetworkError(f"{what} is {value}, but how likely something is, is from 0 to 1")
        if self.resend < 0:
            raise NetworkError("a message cannot be sent again before it was sent")
        if max(most, self.resend) > MOST_ROUNDS:
            raise NetworkError(f"a message cannot take more than {MOST_ROUNDS} rounds")
        spans = [(each.start, each.end) for each in self.partitions] + [(each.start, each.end) for each in self.crashes]
        for start, end in spans:
            if not 1 <= start < end <= MOST_ROUNDS:
                raise NetworkError(f"nothing can last from round {start} to before round {end}")

    def conditions(self, system: System, parts: Sequence[Part]) -> _core.Conditions:
        """The same for the core. `NetworkError` if it is about components or monitors that are not there."""
        made = _core.Conditions()
        made.least_delay, made.most_delay = self.delay
        made.reorder = self.reorder
        made.duplication = self.duplicate
        made.loss = self.loss
        made.resend = self.resend
        for partition in self.partitions:
            sides = dict.fromkeys(system.components, 0)
            for side, group in enumerate(partition.groups, 1):
                for component in group:
                    _check("component", component, sides)
                    sides[component] = side
            made.part(partition.start, partition.end, list(sides.values()))
        numbers = {part.name: number for number, part in enumerate(parts)}
        for crash in self.crashes:
            _check("monitor", crash.monitor, numbers)
            made.crash(crash.start, crash.end, numbers[crash.monitor])
        return made


def parse_network(text: str) -> Network:
    """The network that a line describes. `NetworkError` if it describes none."""
    network = Network()
    for item in text.split(",") if text.strip() else ():
        key, equals, value = item.strip().partition("=")
        try:
            network = _with(network, key, value if equals else None)
        except ValueError:
            raise NetworkError(
                f"'{item.strip()}' does not describe a network", hint=f"for example: {EXAMPLE}"
            ) from None
    return network


EXAMPLE = "delay=1..4,reorder,duplicate=0.1,loss=0.2,resend=3,partition=5..20:A|B,crash=10..15:monitor A"


def _with(network: Network, key: str, value: str | None) -> Network:
    """`ValueError` if it makes no sense."""
    if key == "reorder" and value is None:
        return replace(network, reorder=True)
    if value is None:
        raise ValueError
    if key == "delay":
        least, dots, most = value.partition("..")
        return replace(network, delay=(int(least), int(most if dots else least)))
    if key == "duplicate":
        return replace(network, duplicate=float(value))
    if key == "loss":
        return replace(network, loss=float(value))
    if key == "resend":
        return replace(network, resend=int(value))
    span, colon, who = value.partition(":")
    start, dots, end = span.partition("..")
    if not colon or not dots or not who:
        raise ValueError
    if key == "partition":
        groups = tuple(tuple(name.strip() for name in group.split("+")) for group in who.split("|"))
        return replace(network, partitions=(*network.partitions, Partition(int(start), int(end), groups)))
    if key == "crash":
        return replace(network, crashes=(*network.crashes, Crash(int(start), int(end), who.strip())))
    raise ValueError


def _check(what: str, name: str, known: dict[str, int]) -> None:
    if name not in known:
        raise NetworkError(
            f"there is no {what} '{name}' in the network",
            hint=suggestion(name, known) or f"there is: {', '.join(known)}",
        )
