"""Stage 4: queues between threads: a send when something was put, a recv when something was taken."""

from __future__ import annotations

import queue
from typing import Any

from mopsus import _core
from mopsus.events.component.address import MAILBOXES, stands_for_address
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.messages import mail
from mopsus.events.component.hooks.wiring import RESULT, SELF, Undo, argument, before, hide, put, returning
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid

_ITEM = argument(0, "item")


def install(hub: Hub) -> Undo:
    """Tell of messages in `queue.Queue`, its subclasses and `queue.SimpleQueue` from now on."""
    for kind in (queue.Queue, queue.SimpleQueue):
        stands_for_address(kind, _address)
    messages = mail(hub, shared=True)
    # Of a Queue, what does not wait calls what does.
    hide(queue.Queue.put_nowait, queue.Queue.get_nowait)
    return put(
        [
            *_advised(queue.Queue, messages, ("put",), ("get",)),
            *_advised(queue.SimpleQueue, messages, ("put", "put_nowait"), ("get", "get_nowait")),
        ]
    )


def _advised(kind: type, messages: _core.Mail, puts: tuple[str, ...], gets: tuple[str, ...]) -> list[Advised]:
    sent = returning(messages.sent, SELF, _ITEM)
    taken = before(messages.awaited, SELF), returning(messages.received, RESULT)
    return [Advised(kind, name, (sent,)) for name in puts] + [Advised(kind, name, taken) for name in gets]


def _address(mailbox: Any) -> Pid:  # noqa: ANN401 - any kind of queue
    return MAILBOXES.of(mailbox).address()
