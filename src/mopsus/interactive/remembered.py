"""What events carried beside their parameters, for witnesses.

The engine remembers which events led to a verdict, not what they carried. Their numbers come back with a witness, and
with them, from here, what is short and cannot change: numbers, texts, truth values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from mopsus.model import Verdict, WitnessEvent
from mopsus.model.value import Scalar

LIMIT = 10_000
"""Events whose values are remembered."""
_SCALARS = (int, float, bool, str, bytes, type(None))


class Remembered:
    """The fields of the last events of a monitor."""

    def __init__(self) -> None:
        self._count = 0
        self._last: deque[dict[str, Scalar]] = deque(maxlen=LIMIT)

    def add(self, names: Iterable[str], values: Iterable[object]) -> int:
        """One more event with these fields; its number."""
        self._count += 1
        self._last.append(
            {name: value for name, value in zip(names, values, strict=True) if isinstance(value, _SCALARS)}
        )
        return self._count

    def complete(self, verdict: Verdict) -> Verdict:
        """The verdict with the fields of its witness, and without the numbers, which mean nothing to others."""
        return replace(verdict, witness=tuple(map(self._complete, verdict.witness)), row=None)

    def _complete(self, event: WitnessEvent) -> WitnessEvent:
        back = self._count - (event.row or 0)
        fields = self._last[-1 - back] if back < len(self._last) else {}
        return replace(event, binding={**event.binding, **fields}, row=None)
