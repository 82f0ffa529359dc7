"""Each group is gone over at once, or made a list."""

from itertools import groupby

for _, group in groupby("aabbc"):
    for letter in group:
        assert letter
groups = [list(group) for _, group in groupby("aabbc")]
for group in groups:
    for letter in group:
        assert letter
