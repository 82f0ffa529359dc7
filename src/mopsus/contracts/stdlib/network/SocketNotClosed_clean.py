"""A block closes the socket."""

import socket

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
