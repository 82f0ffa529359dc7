"""What the thesis reports, from `thesis.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TypeAlias

import msgspec

FILE = Path(__file__).with_name("thesis.toml")

Table: TypeAlias = dict[str, dict[str, list[list[float]]]]
"""By measure and algorithm, then in the order of sizes, distributions or specifications: a mean, maybe with its
standard deviation."""


class Apartment(msgspec.Struct, frozen=True):
    """What is said of the smart home."""

    messages: dict[str, int]
    needs: dict[str, tuple[int, int, int]]
    detection: dict[str, list[list[float]]]
    napping: dict[str, list[float]]
    aras: dict[str, list[int]]


class Thesis(msgspec.Struct, frozen=True):
    """All tables."""

    synthetic: Table
    distributions: Table
    chiron: Table
    edges: dict[str, int]
    apartment: Apartment


@cache
def load_thesis() -> Thesis:
    """As it is stored."""
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), Thesis)
