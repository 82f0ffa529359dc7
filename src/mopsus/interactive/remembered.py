"""What events carried beside what the engine keeps of them, for people.

The engine remembers which events led to a verdict, not what they carried beside their parameters. Their numbers come
back with a witness, and with them, from here, what is short and cannot change: numbers, texts, truth values. To the
engine an address is an integer; what was an address is known here: of an event as it came, and of a parameter since one
came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from mopsus import _core
from mopsus.model import Address, Verdict, WitnessEvent
from mopsus.model.value import Scalar

LIMIT = 10_000
"""Events whose values are remembered."""


class Carried(NamedTuple):
    """What an event carried: which of its parameters were addresses, and its fields."""

    addresses: frozenset[str]
    fields: Mapping[str, Scalar]


class Remembered:
    """What the last events of a monitor carried, and which of its parameters are addresses."""

    def __init__(self) -> None:
        self._last = _core.Carried(LIMIT)
        self._carriers: dict[tuple[tuple[str, ...], int], _core.Carrier] = {}
        self._told: set[str] = set()
        """Parameters that were addresses in events that came as a whole."""

    def carrier(self, names: Sequence[str], parameters: int) -> _core.Carrier:
        """Takes events with these names, so many of them parameters: called with their values, gives the number."""
        kind = tuple(names), parameters
        if kind not in self._carriers:
            self._carriers[kind] = _core.Carrier(self._last, kind, parameters, Address)
        return self._carriers[kind]

    def add(self, names: Sequence[str], values: Sequence[object], parameters: int) -> int:
        """One more event, with the values of so many parameters and of fields behind them; its number."""
        return self.carrier(names, parameters)(*values)

    @property
    def next(self) -> int:
        """The number of the next event."""
        return self._last.count + 1

    def add_many(self, count: int, last: Iterable[Carried], addresses: Iterable[str]) -> None:
        """So many more events; the last of them carried this, and these parameters were addresses in some."""
        records = list(last)
        self._last.skip(count - len(records))
        for record in records:
            self._last.add(record)
        self._told.update(addresses)

    def bequeath(self) -> tuple[int, list[str]]:
        """What is known of events that others have seen: how many, and which parameters were addresses."""
        return self._last.count, sorted(self._addresses)

    def inherit(self, count: int, addresses: Iterable[str]) -> None:
        """Know that."""
        self._last.skip(count)
        self._told.update(addresses)

    def complete(self, verdict: Verdict) -> Verdict:
        """The verdict with the fields of its witness, and without the numbers, which mean nothing to others. What it is
        about is an address if it was one in the last event that tells."""
        told = {name: name in self._carried(event).addresses for event in verdict.witness for name in event.binding}
        known = self._addresses
        addresses = {name for name in verdict.binding if told.get(name, name in known)}
        witness = tuple(map(self._complete, verdict.witness))
        return replace(verdict, binding=_shown(verdict.binding, addresses), witness=witness, row=None)

    def shown(self, binding: Mapping[str, Any]) -> dict[str, Any]:
        """The values of parameters as people know them."""
        return _shown(binding, self._addresses)

    def _complete(self, event: WitnessEvent) -> WitnessEvent:
        carried = self._carried(event)
        return replace(event, binding={**_shown(event.binding, carried.addresses), **carried.fields}, row=None)

    @property
    def _addresses(self) -> frozenset[str]:
        """The parameters that were addresses in some event."""
        return frozenset(self._told).union(
            *(
                {name for bit, name in enumerate(names) if carrier.addresses >> bit & 1}
                for (names, _), carrier in self._carriers.items()
            )
        )

    def _carried(self, event: WitnessEvent) -> Carried:
        record = self._last.at(event.row or 0)
        if record is None:
            return Carried(self._addresses, {})
        return record if isinstance(record, Carried) else _carried(cast(tuple[Any, ...], record))


def _carried(record: tuple[Any, ...]) -> Carried:
    """What a carrier kept."""
    (names, parameters), *kept = record
    addresses = frozenset(name for name, is_address in zip(names, kept[:parameters], strict=False) if is_address)
    fields = zip(names[parameters:], kept[parameters:], strict=True)
    return Carried(addresses, {name: value for name, value in fields if value is not ...})


def _shown(binding: Mapping[str, Any], addresses: Collection[str]) -> dict[str, Any]:
    return {
        name: Address(value) if name in addresses and type(value) is int else value for name, value in binding.items()
    }
