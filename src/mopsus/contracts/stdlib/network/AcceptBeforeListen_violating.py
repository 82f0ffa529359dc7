"""Nobody can connect yet."""

import socket

with socket.socket() as server:
    server.bind(("127.0.0.1", 0))
    try:
        server.accept()  # violation
    except OSError:
        pass
