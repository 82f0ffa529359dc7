"""The original is gone over after it was doubled."""

import itertools

numbers = (n * n for n in range(5))
first, second = itertools.tee(numbers)
for number in numbers:  # violation
    pass
