"""What events carried beside what the engine keeps of them, for people.

The engine remembers which events led to a verdict, not what they carried beside their parameters. Their numbers come
back with a witness, and with them, from here, what is short and cannot change: numbers, texts, truth values. To the
engine an address is an integer; what was an address is known here: of an event as it came, and of a parameter since one
came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mopsus.model import Address, Verdict, WitnessEvent
from mopsus.model.value import Scalar

LIMIT = 10_000
"""Events whose values are remembered."""
_SCALARS = (int, float, bool, str, bytes, type(None))


class Carried(NamedTuple):
    """What an event carried: which of its parameters were addresses, and its fields."""

    addresses: frozenset[str]
    fields: Mapping[str, Scalar]


class Remembered:
    """What the last events of a monitor carried, and which of its parameters are addresses."""

    def __init__(self) -> None:
        self._count = 0
        self._last: deque[Carried] = deque(maxlen=LIMIT)
        self._addresses: set[str] = set()

    def add(self, names: Sequence[str], values: Sequence[object], parameters: int) -> int:
        """One more event, with the values of so many parameters and of fields behind them; its number."""
        self._count += 1
        named = list(zip(names, values, strict=True))
        addresses = frozenset(name for name, value in named[:parameters] if isinstance(value, Address))
        fields = {name: value for name, value in named[parameters:] if isinstance(value, _SCALARS)}
        self._last.append(Carried(addresses, fields))
        self._addresses |= addresses
        return self._count

    @property
    def next(self) -> int:
        """The number of the next event."""
        return self._count + 1

    def add_many(self, count: int, last: Iterable[Carried], addresses: Iterable[str]) -> None:
        """So many more events; the last of them carried this, and these parameters were addresses in some."""
        self._count += count
        self._last.extend(last)
        self._addresses.update(addresses)

    def complete(self, verdict: Verdict) -> Verdict:
        """The verdict with the fields of its witness, and without the numbers, which mean nothing to others. What it is
        about is an address if it was one in the last event that tells."""
        told = {name: name in self._carried(event).addresses for event in verdict.witness for name in event.binding}
        addresses = {name for name in verdict.binding if told.get(name, name in self._addresses)}
        witness = tuple(map(self._complete, verdict.witness))
        return replace(verdict, binding=_shown(verdict.binding, addresses), witness=witness, row=None)

    def shown(self, binding: Mapping[str, Any]) -> dict[str, Any]:
        """The values of parameters as people know them."""
        return _shown(binding, self._addresses)

    def _complete(self, event: WitnessEvent) -> WitnessEvent:
        carried = self._carried(event)
        return replace(event, binding={**_shown(event.binding, carried.addresses), **carried.fields}, row=None)

    def _carried(self, event: WitnessEvent) -> Carried:
        back = self._count - (event.row or 0)
        return self._last[-1 - back] if back < len(self._last) else Carried(frozenset(self._addresses), {})


def _shown(binding: Mapping[str, Any], addresses: Collection[str]) -> dict[str, Any]:
    return {
        name: Address(value) if name in addresses and type(value) is int else value for name, value in binding.items()
    }
