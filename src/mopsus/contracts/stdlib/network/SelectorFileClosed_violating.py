"""The selector goes on watching a number that may soon be another file."""

import selectors
import socket

ours, theirs = socket.socketpair()
with selectors.DefaultSelector() as selector:
    selector.register(ours, selectors.EVENT_READ)
    ours.close()  # violation
theirs.close()
