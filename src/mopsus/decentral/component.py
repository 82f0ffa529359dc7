"""A component where it runs: its peripheries, which together observe one event for each timestamp."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.peripheries import Periphery, Source
from mopsus.decentral.traces import Event
from mopsus.logics.text import suggestion


class Component:
    """Asks all its peripheries at once and waits for all of them. Those that have ended observe nothing more."""

    def __init__(self, name: str, propositions: Sequence[str], peripheries: Iterable[Periphery]) -> None:
        self.name = name
        self._propositions = frozenset(propositions)
        self._all = tuple(peripheries)
        self._live = list(self._all)

    @classmethod
    async def open(cls, name: str, propositions: Sequence[str], sources: Iterable[Source], after: int) -> Component:
        """The component behind its first `after` events. `DecentralError` if a periphery cannot be opened."""
        opened: list[Periphery] = []
        try:
            for source in sources:
                opened.append(await source.open(after))  # those before are closed if this one cannot be
        except BaseException:
            await cls(name, (), opened).stop()
            raise
        return cls(name, propositions, opened)

    async def next(self) -> Event | None:
        """What is observed at the next timestamp; None if all have ended. `DecentralError` if it makes no sense."""
        events = await asyncio.gather(*(periphery.next() for periphery in self._live))
        together: dict[str, bool] = {}
        for event in events:
            for proposition, value in (event or {}).items():
                if proposition not in self._propositions:
                    raise DecentralError(
                        f"component '{self.name}' observes '{proposition}', which is not its own",
                        hint=suggestion(proposition, self._propositions),
                        code="DECENTRAL-071",
                    )
                if together.setdefault(proposition, value) is not value:
                    raise DecentralError(
                        f"two peripheries of component '{self.name}' observe '{proposition}', and differently",
                        code="DECENTRAL-071",
                    )
        self._live = [each for each, event in zip(self._live, events, strict=True) if event is not None]
        return together if self._live else None

    def notify(self, control: str) -> None:
        """Pass a control signal to all peripheries."""
        for periphery in self._all:
            periphery.notify(control)

    async def stop(self) -> None:
        """Close all peripheries."""
        for periphery in self._all:
            await periphery.stop()
