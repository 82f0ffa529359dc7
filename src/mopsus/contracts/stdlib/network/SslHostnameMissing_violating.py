"""Whose certificate should that be?"""

import socket
import ssl

context = ssl.create_default_context()
with socket.socket() as plain:
    try:
        context.wrap_socket(plain)  # violation
    except ValueError:
        pass
