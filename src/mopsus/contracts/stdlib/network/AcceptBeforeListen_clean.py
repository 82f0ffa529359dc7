"""Bind, listen, accept."""

import socket

with socket.create_server(("127.0.0.1", 0)) as server:
    client = socket.create_connection(server.getsockname())
    connection, address = server.accept()
    connection.close()
    client.close()
