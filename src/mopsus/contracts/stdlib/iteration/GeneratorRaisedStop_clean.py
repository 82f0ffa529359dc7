"""The end of the iterator is asked about."""


def pairs(values):
    iterator = iter(values)
    for first in iterator:
        yield first, next(iterator, None)


for pair in pairs([1, 2, 3]):
    pass
