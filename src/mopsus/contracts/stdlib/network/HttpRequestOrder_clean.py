"""Everything in its order."""

import http.client
import socket

with socket.create_server(("localhost", 0)) as server:
    connection = http.client.HTTPConnection(*server.getsockname())
    connection.putrequest("GET", "/")
    connection.putheader("Accept", "text/html")
    connection.endheaders()
    connection.close()
