"""A generator takes one element too many from an iterator, and hopes that this ends it."""


def pairs(values):
    iterator = iter(values)
    while True:
        yield next(iterator), next(iterator)


try:
    for pair in pairs([1, 2, 3]):  # violation
        pass
except RuntimeError:
    pass
