"""Stage 4: components watched from within a program: `mopsus.watch_components`, `mopsus.mailbox`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.events.component.watching import Watching
from mopsus.events.weave.api import Specs, weave

if TYPE_CHECKING:
    from mopsus.events.component.codec import Codec
    from mopsus.events.component.hooks import Keep
    from mopsus.monitor.listener import OnVerdict


class watch_components(weave):
    """Watch threads, tasks, processes and actors against specs, as `mopsus.weave` does, with more to choose.

    With `groups`, a component that no property selects belongs to its parent's group, and the monitor of the group
    hears of it. `keep` says of a message whether it is told of. `codec` makes messages of what goes through sockets:
    one from `mopsus.events.component.codec`, or like them. With `envelopes`, the send of a message is told before its
    recv, whichever components they belong to.
    """

    def __init__(
        self,
        *specs: Specs,
        on_verdict: OnVerdict | None = None,
        history: int = 32,
        allow_code: bool = True,
        groups: bool = False,
        keep: Keep | None = None,
        codec: Codec | None = None,
        envelopes: bool = False,
    ) -> None:
        super().__init__(*specs, on_verdict=on_verdict, history=history, allow_code=allow_code)
        self._watching = Watching(groups, keep, codec, envelopes)


def mailbox(queue: object, owner: object = None) -> None:
    """Declare whose mailbox a queue or connection is: messages put there go to its owner.

    The owner is a thread, task, process or actor, which need not have begun, or the caller itself if none is given.
    Declare it before anything is put there, and before processes that use it are started.
    """
    from mopsus.events.component.address import COMPONENTS, MAILBOXES, address_of
    from mopsus.events.component.identity import current

    if owner is None:
        owner = current()
    MAILBOXES.of(queue).declare(address_of(owner) or COMPONENTS.of(owner, getattr(owner, "name", None)).pid)
