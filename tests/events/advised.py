"""Functions with advice, and taps that note what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mopsus
from mopsus.events.weave.joinpoints import From, Moment, Source, Tap

TARGET = Source(From.TARGET)
RESULT = Source(From.RESULT)
RAISED = Source(From.EXCEPTION)
Log = list[tuple[Any, ...]]

HAS_NEXT = """
HasNext(i) {
    event hasnext(i)
    event next(i)
    ere : (hasnext+ next)*
    @fail { }
}
"""


def argument(index: int = 0, name: str | None = None) -> Source:
    return Source(From.ARGUMENT, index, name)


def tap(emit: Callable[..., object], *sources: Source, moment: Moment = Moment.BEFORE, **more: Any) -> Tap:
    return Tap("Spec", "event", moment, emit, sources, **more)


def noting(log: Log, *sources: Source, moment: Moment = Moment.BEFORE, **more: Any) -> Tap:
    """A tap that notes the values it is given."""
    return tap(lambda *values: log.append(values), *sources, moment=moment, **more)


def spec(text: str) -> mopsus.Spec:
    (only,) = mopsus.parse(text).values()
    return only


@pytest.fixture
def log() -> Log:
    return []


def sample(a: int, /, b: int = 2, *rest: int, c: int = 3, **others: int) -> tuple[Any, ...]:
    """A sample."""
    return a, b, rest, c, others


def failing(value: int) -> None:
    raise KeyError(value)
