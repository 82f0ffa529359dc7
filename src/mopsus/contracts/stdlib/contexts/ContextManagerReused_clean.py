"""A new manager for every block; as a decorator, it makes one for every call."""

from contextlib import contextmanager


@contextmanager
def opened():
    yield


@opened()
def work():
    pass


for _ in range(2):
    with opened():
        work()
