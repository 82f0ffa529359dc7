"""Only the new ones are used."""

import itertools

numbers = (n * n for n in range(5))
numbers, second = itertools.tee(numbers)
for number in numbers:
    pass
