"""Stage 3: going back: the whole state of a monitor, kept in the process, and put back as often as one likes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from mopsus import _core
from mopsus.monitor.instance import Instance


@dataclass(slots=True, eq=False)
class Variables:
    """The variables of all instances, copied in depth: what several of them share is shared by the copies."""

    kept: list[Any] = field(default_factory=list)
    """An environment as a dictionary, or an `Instance`."""
    memo: dict[int, Any] = field(default_factory=dict)

    def put(self, variables: Any) -> str:  # noqa: ANN401 - see `kept`
        """Keep a copy; the answer finds it again."""
        self.kept.append(copied(variables, self.memo))
        return str(len(self.kept) - 1)

    def get(self, place: str) -> Any:  # noqa: ANN401 - see `kept`
        """What was put there; a copy of it, if this object is one."""
        return self.kept[int(place)]

    def copy(self) -> Variables:
        """The same once more, so that what is put back can change."""
        memo: dict[int, Any] = {}
        return Variables([copied(each, memo) for each in self.kept], memo)


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The state of one monitor at some moment; see `Monitor.rewind`."""

    core: _core.Checkpoint
    variables: Variables


def copied(variables: Any, memo: dict[int, Any]) -> Any:  # noqa: ANN401 - a dictionary or an `Instance`
    """A deep copy, in which functions that see the variables see those of the copy.

    What cannot be copied (a module, an open file, a value of a debugger) is shared.
    """
    if isinstance(variables, Instance):
        copy = variables.derive()
        vars(copy).update({name: _copied(value, memo) for name, value in variables.variables().items()})
        return copy
    new = _core.copy_variables(variables)
    for name, value in variables.items():
        if new[name] is value:  # no function that was bound to the copy
            new[name] = _copied(value, memo)
    return new


def _copied(value: Any, memo: dict[int, Any]) -> Any:  # noqa: ANN401 - any value
    try:
        return deepcopy(value, memo)
    except Exception:
        return value
