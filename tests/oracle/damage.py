"""Texts that were damaged: pieces put in, cut out, and moved, as no grammar would have it."""

from __future__ import annotations

import random
from collections.abc import Sequence


def damage(text: str, source: random.Random, pieces: Sequence[str]) -> str:
    """The text after a few such changes."""
    for _ in range(source.randint(1, 4)):
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.choice([0, 0, 1, 1, 5, 40]))
        other = source.randrange(len(text) + 1)
        filling = source.choice([source.choice(pieces), "", text[other : other + source.choice([1, 10, 60])]])
        text = text[:start] + filling + text[end:]
    return text
