"""Stage 4: what a message is in every library: something put into a queue, and taken from it."""

from __future__ import annotations

from typing import Any

from mopsus.events.component.address import MAILBOXES, told
from mopsus.events.component.hooks.wiring import Emit, called_internally, hide
from mopsus.events.component.identity import current
from mopsus.events.component.occurrence import Kind


class Messages:
    """Tells of what goes through queues."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._mailbox = MAILBOXES.of

    def sent(self, queue: Any, message: Any) -> None:  # noqa: ANN401 - whatever is sent, and wherever
        """Something was put into a queue."""
        component = current()
        if component is not None:
            self._emit(Kind.SEND, component.pid, self._mailbox(queue).address, told(message))

    def awaited(self, queue: Any) -> None:  # noqa: ANN401 - whatever is sent, and wherever
        """Something is about to be taken from a queue."""
        component = current()
        if component is not None:
            self._mailbox(queue).taken_by(component.pid)

    def received(self, message: Any) -> None:  # noqa: ANN401 - whatever is sent, and wherever
        """Something was taken from a queue."""
        component = current()
        if component is not None:
            self._emit(Kind.RECV, component.pid, None, told(message))


class OpenMessages(Messages):
    """The same for queues that libraries use, too, for purposes of their own."""

    def sent(self, queue: Any, message: Any) -> None:  # noqa: ANN401 - whatever is sent, and wherever
        """Something was put into a queue."""
        if not called_internally():
            super().sent(queue, message)

    def awaited(self, queue: Any) -> None:  # noqa: ANN401 - whatever is sent, and wherever
        """Something is about to be taken from a queue."""
        if not called_internally():
            super().awaited(queue)

    def received(self, message: Any) -> None:  # noqa: ANN401 - whatever is sent, and wherever
        """Something was taken from a queue."""
        if not called_internally():
            super().received(message)


hide(Messages.sent, Messages.received, OpenMessages.sent, OpenMessages.received)
