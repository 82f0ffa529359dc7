"""A function that may end before it has yielded."""

from contextlib import contextmanager


@contextmanager
def connected(address):
    if address is not None:
        yield address


try:
    with connected(None):  # violation
        pass
except RuntimeError:
    pass
