"""Groups of measures: those that the core counts, by what they are about, and those that users write.

A group of one's own is a class with methods for points of a run, which updates its measures:

    class Hops(MeasureGroup):
        def __init__(self) -> None:
            self.far = Measure("hops_far", "messages between different floors", 0, count)

        def send(self, time, source, target, kind, data, size) -> None:
            if source[0] != target[0]:
                self.far.update()

It is named in an experiment as `file.py:Hops`, or by an entry point in the group `mopsus.measures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.extensions import load_object
from mopsus.decentral.measures.points import Listener, Value


class Measure:
    """A value by the name of its column. `update` replaces it by what the function makes of it and the arguments."""

    def __init__(self, key: str, description: str, value: Value, change: Callable[..., Value]) -> None:
        self.key: Final = key
        self.description: Final = description
        self.value = value
        self._change = change

    def update(self, *arguments: object) -> None:
        """Something was measured."""
        self.value = self._change(self.value, *arguments)


def total(value: float, more: float) -> float:
    """For a measure that adds up."""
    return value + more


def count(value: int) -> int:
    """For a measure that counts how often it is updated."""
    return value + 1


def least(value: float | None, other: float) -> float:
    """For a measure that is None at first, then the least of all."""
    return other if value is None else min(value, other)


def greatest(value: float | None, other: float) -> float:
    """For a measure that is None at first, then the greatest of all."""
    return other if value is None else max(value, other)


class MeasureGroup(Listener):
    """Measures that listen to one run: there is a new object for each."""

    def measures(self) -> Iterable[Measure]:
        """All of them; by default those that are attributes."""
        return [each for each in vars(self).values() if isinstance(each, Measure)]

    def values(self) -> dict[str, Value]:
        return {each.key: each.value for each in self.measures()}


STOCK: Mapping[str, Mapping[str, str]] = {
    "run": {
        "verdict": "what the root found: 1 true, 0 false, nothing if it does not know",
        "verdict_time": "the timestamp of the verdict",
        "verdict_round": "the round in which the verdict was reported",
        "observations": "observations told to monitors of their component",
        "turns": "turns that monitors had",
        "run_len": "rounds up to the one in which the verdict was reported, else all that a run may have",
    },
    "communication": {
        "msg_num": "messages sent",
        "answers": "timestamps that verdicts were told for",
        "msg_data": "their size: 4 for a number, 1 for a character of a name",
        "msg_bytes": "their bytes as they are encoded",
        "msg_*": "messages of a class, or lost, sent again or doubled by the network",
    },
    "history": {
        "delay_gap_*": "timestamps from a known state to the next (sum, num, max)",
        "delay_batch_*": "timestamps that became known in a round in which any did (sum, num, max)",
        "delay_age_*": "rounds from a timestamp to the one in which its state became known (sum, num, max)",
        "delay_verdict": "rounds from the timestamp of the verdict to the one in which it was reported",
        "ehe_len_max": "the most timestamps that an encoding had",
    },
    "simplifications": {
        "simp_total": "expressions that still had atoms after what is known was put in",
        "simp_crit": "the most of a monitor in each round, added up",
        "simp_max": "the most of a monitor in a round",
        "conv_s": "how unevenly components share them: squares of differences from an equal share, added up",
    },
    "evaluations": {
        "eval_total": "expressions looked at",
        "eval_crit": "the most of a monitor in each round, added up",
        "eval_max": "the most of a monitor in a round",
        "conv_e": "how unevenly components share them",
    },
}
"""What the core counts: groups of columns, each with what it means; `*` stands for several."""


def column_filter(groups: Iterable[str]) -> Callable[[str], bool]:
    """Is a column in one of the stock groups? Asked again and again of the same few columns."""
    patterns = [pattern for group in groups for pattern in STOCK[group]]

    @cache
    def is_chosen(column: str) -> bool:
        return any(fnmatchcase(column, pattern) for pattern in patterns)

    return is_chosen


def measure_groups(names: Sequence[str], folder: Path) -> list[type[MeasureGroup]]:
    """The classes of the groups that are not stock; files are looked for in the folder. `DecentralError` if one is no
    group."""
    found = []
    for name in names:
        if name in STOCK:
            continue
        kind = load_object(name, folder, "mopsus.measures", STOCK)
        if not isinstance(kind, type) or not issubclass(kind, MeasureGroup):
            raise DecentralError(f"'{name}' is no group of measures", code="DECENTRAL-084")
        found.append(kind)
    return found
