"""Stage 4: who listens to what components do. The hooks tell it here, and here only."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeAlias

from mopsus.events.component.hooks.wiring import Emit, hide
from mopsus.events.component.occurrence import Kind
from mopsus.model.term import Pid

Events: TypeAlias = "tuple[tuple[Callable[..., Any], Callable[..., Any], str], ...]"
"""Events of monitors for a message that was sent, and for one that was received, with the component whose they are."""
Subjects: TypeAlias = "dict[Pid, Events | None]"

_log = logging.getLogger("mopsus")


class Hub:
    """The listeners, each with the components whose messages it wants to hear of; None: all.

    What is not a message is told to all. For a component there may be events of monitors, which then hear of its
    messages instead of the listener.
    """

    def __init__(self) -> None:
        self.listeners: list[tuple[Emit, Subjects | None]] = []
        self.envelopes = False
        """Is a send told before its message can be taken, as far as that is possible?"""
        self.faults = 0
        """Errors in listeners."""
        self._known_faults: set[str] = set()

    def emit(self, kind: Kind, subject: Pid, other: Pid | None, data: object) -> None:
        """Tell everybody what happened."""
        for listener, subjects in tuple(self.listeners):
            if subjects is None or (kind is not Kind.SEND and kind is not Kind.RECV) or subject in subjects:
                try:
                    listener(kind, subject, other, data)
                except Exception as error:
                    self.fault(error)

    def fault(self, error: Exception) -> None:
        """There was an error in a listener; it is logged once, and counted."""
        self.faults += 1
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f"{type(error).__name__} {trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno)}"
        if where not in self._known_faults:
            self._known_faults.add(where)
            _log.error("fault in watching components", exc_info=error)


hide(Hub.emit)
