"""First unregister, then close."""

import selectors
import socket

ours, theirs = socket.socketpair()
with selectors.DefaultSelector() as selector:
    selector.register(ours, selectors.EVENT_READ)
    selector.unregister(ours)
    ours.close()
    selector.register(theirs, selectors.EVENT_READ)
theirs.close()
