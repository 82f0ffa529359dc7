"""What events carried beside what the engine keeps of them, for people.

The engine remembers which events led to a verdict, not what they carried beside their parameters. Their numbers come
back with a witness, and with them, from here, what is short and cannot change: numbers, texts, truth values. To the
engine an address is an integer; which parameters have addresses is known here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mopsus.model import Address, Verdict, WitnessEvent
from mopsus.model.value import Scalar

LIMIT = 10_000
"""Events whose values are remembered."""
_SCALARS = (int, float, bool, str, bytes, type(None))


class Remembered:
    """The fields of the last events of a monitor, and which of its parameters are addresses."""

    def __init__(self) -> None:
        self._count = 0
        self._last: deque[dict[str, Scalar]] = deque(maxlen=LIMIT)
        self._addresses: set[str] = set()

    def add(self, names: Sequence[str], values: Sequence[object], parameters: int) -> int:
        """One more event, with the values of so many parameters and of fields behind them; its number."""
        self._count += 1
        named = list(zip(names, values, strict=True))
        self._addresses.update(name for name, value in named[:parameters] if isinstance(value, Address))
        self._last.append({name: value for name, value in named[parameters:] if isinstance(value, _SCALARS)})
        return self._count

    def complete(self, verdict: Verdict) -> Verdict:
        """The verdict with the fields of its witness, and without the numbers, which mean nothing to others."""
        witness = tuple(map(self._complete, verdict.witness))
        return replace(verdict, binding=self.shown(verdict.binding), witness=witness, row=None)

    def shown(self, binding: Mapping[str, Any]) -> dict[str, Any]:
        """The values of parameters as people know them."""
        return {
            name: Address(value) if name in self._addresses and type(value) is int else value
            for name, value in binding.items()
        }

    def _complete(self, event: WitnessEvent) -> WitnessEvent:
        back = self._count - (event.row or 0)
        fields = self._last[-1 - back] if back < len(self._last) else {}
        return replace(event, binding={**self.shown(event.binding), **fields}, row=None)
