"""The same manager for two blocks."""

from contextlib import contextmanager


@contextmanager
def opened():
    yield


manager = opened()
with manager:
    pass
try:
    with manager:  # violation
        pass
except (RuntimeError, AttributeError):
    pass
