"""Logs of components, checked without reports: the result of the run, and what its monitors know at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mopsus.events.component.dispatch import Account, Orphan
from mopsus.events.component.log.checking import ComponentLog, ComponentLogs, FollowedLog
from mopsus.events.feeding import BareRun, BlockSource, feed_alone
from mopsus.model import RunResult, Spec, Verdict
from mopsus.monitor import Monitor


@dataclass(frozen=True)
class Checked:
    """What a run over a log came to."""

    result: RunResult
    log: ComponentLog

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)

    @property
    def accounts(self) -> list[Account]:
        return self.log.session.accounts

    @property
    def orphans(self) -> list[Orphan]:
        return self.log.session.orphans

    @property
    def undecided(self) -> dict[str, dict[str, int]]:
        return self.log.session.undecided()


def check_logs(
    specs: Sequence[Spec],
    logs: Sequence[str],
    *,
    on_verdict: Callable[[Verdict], None],
    max_violations: int | None = None,
    open_monitor: Callable[..., Monitor] = Monitor,
    **how: Any,
) -> Checked:
    return _run(ComponentLogs(logs, **how), specs, on_verdict, open_monitor, max_violations)


def watch_log(specs: Sequence[Spec], log: Path, *, on_verdict: Callable[[Verdict], None], **how: Any) -> Checked:
    return _run(FollowedLog(log, **how), specs, on_verdict, Monitor)


def _run(
    log: ComponentLog,
    specs: Sequence[Spec],
    on_verdict: Callable[[Verdict], None],
    open_monitor: Callable[..., Monitor],
    max_violations: int | None = None,
) -> Checked:
    result = feed_alone(BlockSource(log, max_violations=max_violations), BareRun(specs, open_monitor, on_verdict))
    return Checked(result, log)
