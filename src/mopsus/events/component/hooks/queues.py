"""Stage 4: queues between threads: a send when something was put, a recv when something was taken."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from typing import Any

from mopsus import _core
from mopsus.events.component.address import MAILBOXES, stands_for_address
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.messages import mail, sending
from mopsus.events.component.hooks.wiring import RESULT, SELF, Undo, argument, before, hide, put, returning
from mopsus.events.weave.joinpoints import Advised, Tap
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
            Advised(queue.Queue, "put", tuple(sending(hub, messages.sent, SELF, _ITEM, may_fail=_may_be_full))),
            Advised(queue.Queue, "get", _taking(messages)),
            *(
                Advised(queue.SimpleQueue, name, tuple(sending(hub, messages.sent, SELF, _ITEM)))
                for name in ("put", "put_nowait")
            ),
            *(Advised(queue.SimpleQueue, name, _taking(messages)) for name in ("get", "get_nowait")),
        ]
    )


def _taking(messages: _core.Mail) -> tuple[Tap, ...]:
    return before(messages.awaited, SELF), returning(messages.received, RESULT)


def _may_be_full(given: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """May `put` raise `Full`?"""
    return given[0].maxsize > 0 and gives_up(given[2:], named)


def gives_up(waiting: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Does a call with these arguments for `block` and `timeout` not wait as long as it takes?"""
    block = waiting[0] if waiting else named.get("block", True)
    timeout = waiting[1] if len(waiting) > 1 else named.get("timeout")
    return not block or timeout is not None


def _address(mailbox: object) -> Pid:
    return MAILBOXES.of(mailbox).address()
