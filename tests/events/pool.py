"""A module of a program that tests of pointcuts weave."""

POOL = """
    class Pool:
        def __init__(self, size=1):
            self.size = size
            self.name = "pool"

        def acquire(self, key, wait=True):
            if key is None:
                raise KeyError(key)
            return [key, wait]

        def release(self, item):
            return None

        @classmethod
        def make(cls, size):
            return cls(size)

        @staticmethod
        def limit(size):
            return size

        @property
        def room(self):
            return self.size

        @room.setter
        def room(self, value):
            self.size = value

    class Special(Pool):
        def acquire(self, key, wait=True):
            return super().acquire(key, wait)

    class Plain(Pool):
        pass

    def helper(x, *, y=2):
        return x + y

    def outer(pool):
        return inner(pool)

    def inner(pool):
        return pool.acquire("inner")
"""
