"""What an editor may attach to a breakpoint, whatever the debugger: which arrivals count, and what to say there."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from mopsus.interactive.debugger import DebuggerError

_HITS = re.compile(r"\s*+(==|=|>=|>|<=|<|%)?+\s*+(\d{1,18})\s*")
_COMPARED: dict[str | None, Callable[[int, int], bool]] = {
    None: operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "%": lambda count, given: count % given == 0,
}
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


def hits(text: str) -> Callable[[int], bool]:
    """Does the n-th arrival count? `5` and `>= 5`: from the fifth on; `== 5`: that one; `% 5`: every fifth."""
    found = _HITS.fullmatch(text)
    if found is None or (found[1] == "%" and int(found[2]) == 0):
        raise DebuggerError(f"`{text}` does not say which hits count", hint="write a number, or say >= 5, == 5 or % 5")
    compare, given = _COMPARED[found[1]], int(found[2])
    return lambda count: compare(count, given)


@dataclass(frozen=True, slots=True)
class LogMessage:
    """`x is {x}`: what to say at a place, with values in it. Braces that are doubled stand for themselves."""

    text: str

    def say(self, evaluate: Callable[[str], str]) -> str:
        """What `evaluate` cannot give, it gives as text that says why."""
        return _PARTS.sub(lambda part: evaluate(part[1]) if part[1] is not None else part[0][0], self.text)
