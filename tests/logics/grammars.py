"""Random grammars: nullable, recursive on either side, ambiguous, cyclic and with useless symbols."""

from __future__ import annotations

from random import Random

NONTERMINALS = ("S", "A", "B")


def random_grammar(rng: Random, alphabet: tuple[str, ...]) -> str:
    """The text of a grammar over the events of `alphabet`."""
    heads = NONTERMINALS[: rng.randint(1, 3)]
    return ", ".join(f"{head} -> {_alternatives(rng, alphabet, heads)}" for head in heads)


def _alternatives(rng: Random, alphabet: tuple[str, ...], heads: tuple[str, ...]) -> str:
    return " | ".join(_sequence(rng, alphabet, heads) for _ in range(rng.choice((1, 2, 2, 3))))


def _sequence(rng: Random, alphabet: tuple[str, ...], heads: tuple[str, ...]) -> str:
    return " ".join(_part(rng, alphabet, heads) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))) or "epsilon"


def _part(rng: Random, alphabet: tuple[str, ...], heads: tuple[str, ...]) -> str:
    kind = rng.random()
    if kind < 0.55:
        return rng.choice(alphabet)
    if kind < 0.9:
        return rng.choice(heads)
    inner = rng.choice((*alphabet, *heads, f"({_alternatives(rng, alphabet, heads[:1])})"))
    return inner + rng.choice(("*", "+", ""))
