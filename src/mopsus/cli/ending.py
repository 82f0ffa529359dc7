"""A monitor that says at its end what to presume of whoever is undecided then."""

from __future__ import annotations

from mopsus.logics import CompiledSpec
from mopsus.monitor import Monitor
from mopsus.monitor.monitor import OnVerdict
from mopsus.verdict import Endings, presume


class EndingMonitor(Monitor):
    """A monitor whose `close` adds its live instances to the endings of a run."""

    def __init__(
        self, compiled: CompiledSpec, on_verdict: OnVerdict, endings: Endings, *, history: int, allow_code: bool
    ) -> None:
        super().__init__(compiled, on_verdict, history=history, allow_code=allow_code)
        self._compiled = compiled
        self._endings: Endings | None = endings

    def close(self) -> None:
        endings, self._endings = self._endings, None
        if endings is not None:
            for presumption in presume(self._compiled, self.instances()):
                endings.add(presumption)
        super().close()
