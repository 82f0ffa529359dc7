"""A generator that makes another one like itself."""


def count(limit):
    yield limit
    if limit:
        yield from count(limit - 1)


for number in count(3):
    pass
