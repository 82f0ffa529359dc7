"""Verdicts as plain data, for the way from a worker of a distributed test run to its controller.

Only what execnet itself can send: numbers, texts, bytes, tuples, lists, dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mopsus.model import Verdict
from mopsus.verdict.wire import pack_verdict, unpack_verdict


@dataclass(frozen=True, slots=True)
class Seen:
    """Verdicts of one finding at one time: some of them in full, and how many there were in all."""

    examples: tuple[Verdict, ...]
    count: int
    late: str | None = None
    """The test to which it belongs, if it came when that was not running; empty: to none."""


def pack(seen: Iterable[Seen]) -> list[dict[str, Any]]:
    """As plain data. A value of a type of its own arrives as its `repr`."""
    return [
        {"count": each.count, "late": each.late, "examples": [pack_verdict(verdict) for verdict in each.examples]}
        for each in seen
    ]


def unpack(data: Iterable[Mapping[str, Any]]) -> list[Seen]:
    """What `pack` was given."""
    return [Seen(tuple(map(unpack_verdict, each["examples"])), each["count"], each["late"]) for each in data]
