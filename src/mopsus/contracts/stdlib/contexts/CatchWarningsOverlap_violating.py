"""Two generators that catch warnings are gone over side by side; the first one ends first."""

import warnings


def quiet(count):
    with warnings.catch_warnings():  # violation
        yield from range(count)


for _ in zip(quiet(3), quiet(5), strict=False):
    pass
