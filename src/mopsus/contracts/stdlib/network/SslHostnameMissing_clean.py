"""The name is given."""

import socket
import ssl

context = ssl.create_default_context()
with socket.socket() as plain, context.wrap_socket(plain, server_hostname="localhost"):
    pass
