"""Stage 0: an error in the code of a spec: a result of a run, as a verdict is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

MOST = 100
"""How many are told apart in one run; code can raise at any number of places, and memory must stay bounded."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Some code of a spec has raised an error: which, where in its file, what, and at which event first.

    The same error of the same line is one fault, with a count.
    """

    spec: str
    code: str
    """Which piece of code: `condition of event next`."""
    place: str | None
    """The line of the file of the spec, or of whatever else the code is in: `iterators.mop:7`."""
    error: str
    """The type of the error."""
    message: str = ""
    traceback: str = ""
    event: str | None = None
    location: str | None = None
    row: int | None = None
    """Where that event happened, as of a verdict."""
    count: int = 1


class Faults:
    """The faults of a run, those that are the same as one. After the first hundred, further ones count as one of each
    spec."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._found: dict[tuple[str, str, str | None, str], Fault] = {}
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> bool:
        """Take a fault, as often as it says; is it one that there was not yet?"""
        key = (fault.spec, fault.code, fault.place, fault.error)
        if key not in self._found and len(self._found) >= MOST:
            fault = Fault(fault.spec, "further code", None, "further errors", count=fault.count)
            key = (fault.spec, fault.code, fault.place, fault.error)
        known = self._found.get(key)
        self._found[key] = fault if known is None else replace(known, count=known.count + fault.count)
        return known is None

    def __iter__(self) -> Iterator[Fault]:
        return iter(tuple(self._found.values()))

    def __len__(self) -> int:
        return len(self._found)
