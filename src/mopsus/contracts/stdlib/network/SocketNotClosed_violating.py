"""When the function is over, nobody can close the socket."""

import socket


def port():
    probe = socket.socket()  # violation
    probe.bind(("127.0.0.1", 0))
    return probe.getsockname()[1]


port()
