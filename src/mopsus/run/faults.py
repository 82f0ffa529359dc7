"""Faults of a process that another one reports for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mopsus.model import Fault, Faults


class FaultPost:
    """Sends each fault the first time that it happens, at once, and how often it has happened since in the end."""

    def __init__(self, send: Callable[[Fault], object]) -> None:
        self._send = send
        self._sent = Faults()

    def add(self, fault: Fault) -> None:
        """Code of a spec has raised an error."""
        if self._sent.add(fault):
            self._send(fault)

    def close(self) -> None:
        """There will be no more."""
        sent, self._sent = self._sent, Faults()
        for fault in sent:
            if fault.count > 1:
                self._send(replace(fault, count=fault.count - 1))
