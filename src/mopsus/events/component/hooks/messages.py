"""Stage 4: what a message is in every library: something put into a queue, and taken from it."""

from __future__ import annotations

from mopsus import _core
from mopsus.events.component.address import MAILBOXES, PLAIN, RESOLVERS, told
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import INTERNAL
from mopsus.events.component.identity import NOBODY, adopted
from mopsus.events.component.occurrence import Kind


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
