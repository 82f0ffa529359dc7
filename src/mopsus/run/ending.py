"""A monitor that says at its end what to presume of whoever is undecided then."""

from __future__ import annotations

from mopsus.logics import CompiledSpec
from mopsus.model import Verdict
from mopsus.monitor import Monitor
from mopsus.monitor.listener import OnVerdict
from mopsus.verdict import Endings, presume
from mopsus.verdict.ends import binding_key


class EndingMonitor(Monitor):
    """A monitor whose `close` adds its live instances to the endings of a run."""

    def __init__(
        self,
        compiled: CompiledSpec,
        on_verdict: OnVerdict,
        endings: Endings,
        *,
        history: int,
        max_live: int,
        allow_code: bool,
    ) -> None:
        def decide(verdict: Verdict) -> object:
            if verdict.final:
                self._decided.add((verdict.property, binding_key(verdict.binding)))
            return on_verdict(verdict)

        super().__init__(compiled, decide, history=history, max_live=max_live, allow_code=allow_code)
        self._compiled = compiled
        self._endings: Endings | None = endings
        self._decided: set[tuple[str, object]] = set()

    def close(self) -> None:
        endings, self._endings = self._endings, None
        if endings is not None:
            for presumption in presume(self._compiled, self.instances()):
                if (presumption.property, binding_key(presumption.binding)) not in self._decided:
                    endings.add(presumption)
        super().close()
