"""All groups are collected first, and then have nothing left in them."""

from itertools import groupby

groups = [group for _, group in groupby("aabbc")]
for group in groups:
    for letter in group:  # violation
        assert letter
