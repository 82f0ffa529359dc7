"""Stage 1: messages between processes and hosts.

Between two processes, a *channel* carries messages over a pipe or a socket: each in a *frame*, which says how long it
is. A *codec* makes bytes of dataclasses and back. Between hosts, a *bus* carries bytes to whoever follows a subject, as
well as it can: what it carries may be lost, doubled and out of order. A *correspondence* is what two ends make of that
with numbers, acknowledgements and resending. A *relay* makes a bus worse, for tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.bus.channel import Channel
    from mopsus.bus.codec import pack, unpack
    from mopsus.bus.frames import Frames, framed, read_frame, split_frames
    from mopsus.bus.local import LocalBus
    from mopsus.bus.mail import Correspondence, Frame, frame_of
    from mopsus.bus.messages import MESSAGES, BusError
    from mopsus.bus.nats_bus import NatsBus
    from mopsus.bus.subjects import Bus, subject_of

__all__ = [
    "MESSAGES",
    "Bus",
    "BusError",
    "Channel",
    "Correspondence",
    "Frame",
    "Frames",
    "LocalBus",
    "NatsBus",
    "frame_of",
    "framed",
    "pack",
    "read_frame",
    "split_frames",
    "subject_of",
    "unpack",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "channel": "Channel",
            "codec": "pack unpack",
            "frames": "Frames framed read_frame split_frames",
            "local": "LocalBus",
            "mail": "Correspondence Frame frame_of",
            "messages": "MESSAGES BusError",
            "nats_bus": "NatsBus",
            "subjects": "Bus subject_of",
        },
    )
