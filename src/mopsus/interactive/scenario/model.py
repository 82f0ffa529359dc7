"""A scenario as plain data: what runs at the start, and what runs when states are entered and left."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mopsus.model import Acceptance, Code


class Moment(StrEnum):
    """When a reaction runs."""

    ENTERING = "entering"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True)
class Target:
    """Which states a reaction is about: the one of this name, or those of this acceptance, or the initial one."""

    state: str | None = None
    acceptance: Acceptance | None = None
    initial: bool = False


@dataclass(frozen=True, slots=True)
class Reaction:
    """`on entering state ready { … }`."""

    moment: Moment
    target: Target
    code: Code


@dataclass(frozen=True, slots=True)
class Scenario:
    """Reactions run in the order of writing; their variables, and those of `initialization`, are shared and persist."""

    initialization: Code | None = None
    reactions: tuple[Reaction, ...] = ()
    file: str = "<scenario>"
