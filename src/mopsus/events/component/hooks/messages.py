"""Stage 4: what a message is in every library: something put into a queue, and taken from it.

A send is told when it has succeeded. By then, the message may have been taken, so that its recv is told first. Whoever
wants it the other way round, *with envelopes*, has sends told before they are tried. The message itself is left alone:
one in an envelope, with its sender and a number, would be seen by those who compare messages (`PriorityQueue`), by
subclasses that store them and by whoever takes them unobserved. A send that may fail because there is no room is told
when it has succeeded even then, because nothing could take it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from mopsus import _core
from mopsus.events.component.address import MAILBOXES, PLAIN, RESOLVERS, told
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import INTERNAL, before, returning
from mopsus.events.component.identity import NOBODY, adopted
from mopsus.events.component.occurrence import Kind
from mopsus.events.weave.joinpoints import Source, Tap

MayFail: TypeAlias = "Callable[[tuple[Any, ...], Mapping[str, Any]], bool]"
"""Says, from all arguments of a call that sends something, whether it may find no room."""


def sending(hub: Hub, told_of: Callable[..., object], *sources: Source, may_fail: MayFail | None = None) -> list[Tap]:
    """Tell a function of a message that is sent: afterwards, or before if that is wanted and sure."""
    after = returning(told_of, *sources)
    if not hub.envelopes:
        return [after]
    early = before(told_of, *sources)
    if may_fail is None:
        return [early]
    return [
        replace(early, admits=lambda given, named: not may_fail(given, named)),
        replace(after, admits=may_fail),
    ]


def mail(hub: Hub, *, shared: bool) -> _core.Mail:
    """What tells of messages in queues. `shared`: libraries use such queues, too, for purposes of their own."""
    return _core.Mail(
        listeners=hub.listeners,
        known=MAILBOXES.known,
        mailbox=MAILBOXES.of,
        adopt=adopted,
        nobody=NOBODY,
        told=told,
        plain=PLAIN,
        resolvers=RESOLVERS,
        libraries=INTERNAL if shared else (),
        fault=hub.fault,
        send=Kind.SEND,
        recv=Kind.RECV,
    )
