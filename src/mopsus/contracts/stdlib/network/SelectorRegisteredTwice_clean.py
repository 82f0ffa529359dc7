"""Registered once, and then modified."""

import selectors
import socket

with socket.socket() as plain, selectors.DefaultSelector() as selector:
    selector.register(plain, selectors.EVENT_READ)
    selector.modify(plain, selectors.EVENT_WRITE)
    selector.unregister(plain)
    selector.register(plain, selectors.EVENT_READ)
    selector.unregister(plain)
