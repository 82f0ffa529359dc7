"""A log that is followed as it grows: a source of events."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.events.feeding import Feeding
from mopsus.events.trace.checking import FollowedTrace
from mopsus.model import LENIENT, Silence
from mopsus.run.recorded import LogReading, log_format, trace_format
from mopsus.run.source import SourceKind
from mopsus.spec.component import about_components

if TYPE_CHECKING:
    from mopsus.events.feeding import Recording
    from mopsus.events.trace.keeping import Keeper
    from mopsus.model import Spec


class Followed(Feeding):
    """One log, from its beginning or from where an earlier run has kept the state, until a signal comes."""

    def __init__(
        self,
        specs: Iterable[Spec],
        log: Path,
        how: LogReading,
        *,
        max_violations: int | None = None,
        keeper: Keeper | None = None,
        silence: Silence = LENIENT,
    ) -> None:
        if any(map(about_components, specs)):
            recording, lacking = _component_log(log, how), "the log is one of components"
        else:
            recording, lacking = _trace(log, how, keeper, silence), "the log has rows"
        super().__init__(recording, max_violations=max_violations, lacking=lacking)


def _component_log(log: Path, how: LogReading) -> Recording:
    from mopsus.events.component.log.checking import DEFAULT, FollowedLog

    return FollowedLog(
        log,
        dispatching=how.dispatching or DEFAULT,
        format=log_format(how.format),
        log_format=how.log_format,
        bad_rows=how.bad_rows,
    )


def _trace(log: Path, how: LogReading, keeper: Keeper | None, silence: Silence) -> Recording:
    format = trace_format(how.format)
    return FollowedTrace(log, format=format, bad_rows=how.bad_rows, keeper=keeper, silence=silence)


SOURCE = SourceKind("followed", "a log, as it grows", Followed)
