"""The live view as the debugger starts it, with a debugger at the other end that says what a test wants."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager

from ending import end_kindly

from mopsus.bus import Channel, pack, unpack
from mopsus.interactive.live.wire import Failed, Ready, Request, Wish


class FakeDebugger:
    """One end of the socket."""

    def __init__(self, line):
        self.line = line
        self._channel = Channel(line)

    def tell(self, message):
        self._channel.send(pack(message))

    def hear(self):
        """The next thing that the view says."""
        return unpack(Ready | Failed | Request, self._channel.receive())

    def asked(self):
        """The next thing that somebody asks for by a button: all but looks, which come by themselves."""
        while (message := self.hear()) == Request(Wish.LOOK):
            pass
        return message

    def end(self):
        self._channel.close()


@contextmanager
def live_view(**environment):
    """A view's process, its address, and the debugger."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "mopsus.ui.live", str(theirs.fileno())]
    process = subprocess.Popen(
        command,
        pass_fds=[theirs.fileno()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
    theirs.close()
    debugger = FakeDebugger(ours)
    try:
        ready = debugger.hear()
        assert isinstance(ready, Ready)
        yield process, ready.address, debugger
    finally:
        complaints = end_kindly(process)
        debugger.end()
    assert not complaints, complaints
