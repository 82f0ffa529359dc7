"""The socket is closed last."""

import socket

ours, theirs = socket.socketpair()
ours.sendall(b"hello")
theirs.recv(5)
ours.close()
theirs.close()
theirs.close()
