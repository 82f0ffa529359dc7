"""A last word to nobody."""

import socket

ours, theirs = socket.socketpair()
ours.sendall(b"hello")
ours.close()
try:
    ours.sendall(b"bye")  # violation
except OSError:
    pass
theirs.close()
