"""Stage 3: one parameter instance as its handlers, actions and conditions see it."""

from __future__ import annotations

from collections import deque
from copy import copy
from typing import Any, Protocol
from weakref import ref

from mopsus.model import Verdict
from mopsus.model.text import default_message

_CONTAINERS = (list, dict, set, bytearray, deque)


class Owner(Protocol):
    """What an instance asks of its monitor."""

    def reset(self, reference: tuple[int, int, int, int], *, reported: bool) -> bool: ...

    def skip(self, result: object = None) -> None: ...


class Instance:
    """A monitor instance. Its monitor variables are attributes of it.

    In a `.mop` file it is `__MONITOR`; `__RESET`, `__SKIP`, `__LOC` and `__DEFAULT_MESSAGE` are its
    `reset()`, `skip()`, `location` and `default_message`.
    """

    def __init__(self, owner: Owner) -> None:
        # The core keeps instances, the owner keeps the core: a strong reference would close the circle.
        self._owner = ref(owner)
        self._reference = (0, 0, 0, 0)
        self.location: str | None = None
        """Where the current event came from."""
        self.verdict: Verdict | None = None
        """In a handler: what is being handled."""

    def reset(self) -> None:
        """Back to the initial state; the variables stay.

        Under `suffix`, a handler ends only the matches that are complete: others that have begun go on.
        """
        if (owner := self._owner()) is not None:
            owner.reset(self._reference, reported=self.verdict is not None)

    def skip(self, result: object = None) -> None:
        """Leave out the program's own action, where an `around` event allows it, and let this be its result."""
        if (owner := self._owner()) is not None:
            owner.skip(result)

    @property
    def default_message(self) -> str:
        """The verdict in one line; in an action, nothing."""
        return default_message(self.verdict) if self.verdict is not None else ""

    def derive(self) -> Instance:
        """A new instance that starts with these variables.

        Containers are copied one level deep, so that each instance has its own; other values are shared.
        """
        new = Instance.__new__(Instance)
        vars(new).update(
            (name, copy(value) if isinstance(value, _CONTAINERS) else value) for name, value in vars(self).items()
        )
        return new

    def variables(self) -> dict[str, Any]:
        """The monitor variables by name."""
        return {name: value for name, value in vars(self).items() if name not in _OWN}


_OWN = frozenset({"_owner", "_reference", "location", "verdict"})
