"""A socket is to be read and written, and registered for each."""

import selectors
import socket

with socket.socket() as plain, selectors.DefaultSelector() as selector:
    selector.register(plain, selectors.EVENT_READ)
    try:
        selector.register(plain, selectors.EVENT_WRITE)  # violation
    except KeyError:
        pass
    selector.unregister(plain)
