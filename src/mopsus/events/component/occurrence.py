"""Stage 4: what components do, as plain data that hooks make, logs hold and dispatchers take."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from mopsus.model.term import Pid


class Kind(StrEnum):
    """The five things that a component does."""

    FORK = "fork"
    INIT = "init"
    EXIT = "exit"
    SEND = "send"
    RECV = "recv"


class Function(NamedTuple):
    """What a component runs. Keyword arguments are a mapping, or None if there are none."""

    module: str
    name: str
    arguments: tuple[object, ...] = ()
    keywords: Mapping[str, object] | None = None

    def listed(self) -> list[object]:
        """The arguments as properties see them: a list, with the keyword arguments as one mapping at its end."""
        return [*self.arguments] if self.keywords is None else [*self.arguments, dict(self.keywords)]


class Occurrence(NamedTuple):
    """Something that the component `subject` did.

    `other` is the child of a fork, the parent of an init, the receiver of a send, and None otherwise. `data` is the
    `Function` of a fork or init, the reason of an exit, the message of a send or recv.
    """

    kind: Kind
    subject: Pid
    other: Pid | None
    data: object
    time: float | None = None
    location: str | None = None
    row: int | None = None
    """The line of the log that it was read from; then `location` is the name of the log."""
