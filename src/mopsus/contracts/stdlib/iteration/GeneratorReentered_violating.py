"""A generator that goes over itself."""


def count():
    yield 1
    yield from (n + 1 for n in numbers)  # violation


numbers = count()
try:
    for number in numbers:
        pass
except ValueError:
    pass
