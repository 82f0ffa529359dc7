"""The debugger, as far as a view knows it: the last picture that came, what was refused, and whether it is still there.

A thread reads the socket; pages look at what has come when they have time for it, so that a fast debugger cannot flood
a slow browser.
"""

from __future__ import annotations

import math
import socket
import threading
import time
from collections import deque
from contextlib import suppress

from mopsus.bus.channel import Channel
from mopsus.bus.codec import pack, unpack
from mopsus.bus.messages import BusError
from mopsus.interactive.live.picture import Course, Picture
from mopsus.interactive.live.wire import FromDebugger, FromView, Refused, Request, Wish

OLD_S = 0.5
"""A picture of a program that runs is old after that."""
PATIENCE_S = 5.0
"""A debugger that does not answer has something else to do; it is not asked again before."""
MOST_REFUSALS = 20
"""Kept for pages that have not shown them yet."""


class Connection:
    """The socket to a debugger."""

    def __init__(self, line: socket.socket) -> None:
        self.picture: Picture | None = None
        """The last one that came."""
        self.gone = threading.Event()
        """The debugger has ended: no more pictures will come."""
        self.refusals: deque[tuple[int, Refused]] = deque(maxlen=MOST_REFUSALS)
        """What the debugger refused, counted from 1."""
        self._channel = Channel(line)
        self._refused = 0
        self._next_look = 0.0
        self._ring_again = math.inf
        """When to ring a second time for what was asked last, if no answer has come by then."""
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, wish: Wish, number: int | None = None) -> None:
        """Ask the debugger for something. The answer is a picture, or a refusal."""
        self._ring_again = time.monotonic() + OLD_S if wish is not Wish.LOOK else math.inf
        self.send(Request(wish, number))

    def keep_up(self) -> None:
        """Ask for a picture, if the last one is old. Somebody looks, and a program that runs may have gone on without a
        word: a debugger says nothing while it waits for its program.

        What was asked for and not answered is followed by one look. Python does not hear a signal that comes in the
        moment before it waits for a line at a terminal, but it does what was asked for when it hears the next.
        """
        if time.monotonic() >= self._ring_again:
            self.ask(Wish.LOOK)
        picture = self.picture
        if picture is not None and picture.program.course is not Course.STOPPED and time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + PATIENCE_S
            self.ask(Wish.LOOK)

    def send(self, message: FromView) -> None:
        """Tell the debugger; it does not matter any more if it is gone."""
        self._channel.send(pack(message))

    def _read(self) -> None:
        with suppress(BusError):  # nothing after it can be relied on
            while (body := self._channel.receive()) is not None:
                message: FromDebugger = unpack(Picture | Refused, body)
                self._ring_again = math.inf
                if isinstance(message, Picture):
                    self.picture = message
                    self._next_look = time.monotonic() + OLD_S
                else:
                    self._refused += 1
                    self.refusals.append((self._refused, message))
        self.gone.set()
