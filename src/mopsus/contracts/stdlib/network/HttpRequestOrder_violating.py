"""A header comes after the end of the headers."""

import http.client
import socket

with socket.create_server(("localhost", 0)) as server:
    connection = http.client.HTTPConnection(*server.getsockname())
    connection.putrequest("GET", "/")
    connection.endheaders()
    try:
        connection.putheader("Accept", "text/html")  # violation
    except http.client.CannotSendHeader:
        pass
    connection.close()
