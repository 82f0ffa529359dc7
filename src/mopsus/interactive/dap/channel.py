"""The line between the process that speaks with the editor and the one of the debugger: messages over a socket.

Nothing is read ahead. A Python program that goes back to a checkpoint goes on in another process, which has to find the
next message where the first one left off.
"""

from __future__ import annotations

import json
from typing import Any

from mopsus.bus.channel import Channel
from mopsus.bus.messages import BusError
from mopsus.model import UNDECODABLE

Message = dict[str, Any]
"""A message of the Debug Adapter Protocol, whose number is none of ours."""


class EditorLine(Channel):
    """One end of it. Any thread may `tell`; only one hears."""

    def tell(self, message: Message) -> None:
        """Nothing happens if nobody is there any more: whoever hears next learns of it."""
        self.send(json.dumps(message, default=str).encode())

    def hear(self) -> Message | None:
        """The next message, when it comes; None if the other end is gone. One that cannot be read is taken for its
        end: nothing after it can be relied on."""
        try:
            body = self.receive()
            message = None if body is None else json.loads(body)
        except (*UNDECODABLE, BusError):
            return None
        return message if isinstance(message, dict) else None
