"""Components that tell line by line what they do, such as over a socket: a source of events."""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.events.component.log.checking import ToldLines
from mopsus.events.component.log.session import Dispatching
from mopsus.events.feeding import BlockSource
from mopsus.run.source import SourceKind


class Told(BlockSource):
    """Lines of text, as detectEr's logs have them, that come in `pieces` from what is called `name`."""

    def __init__(
        self, name: str, pieces: Iterable[bytes], dispatching: Dispatching, *, max_violations: int | None = None
    ) -> None:
        told = ToldLines(name, pieces, dispatching=dispatching)
        lacking = "only components are heard of here"
        super().__init__(told, max_violations=max_violations, lacking=lacking)


SOURCE = SourceKind("told", "components that tell what they do, as it happens", Told)
