"""Stage 2: the meaning of ptcaret, straight from the definition: see `semantics.md`."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics.ptcaret.syntax import CLOSES, OPENING, Caret
from mopsus.logics.temporal.syntax import Formula, Op

Open = list[tuple[str, int]]
"""The opening events that are open, outermost first: role and position."""


def categories_after(caret: Caret, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """`validation` or `violation`: is the formula true at the last event of `word`? Nothing before the first event."""
    if not word:
        return frozenset()
    return frozenset({"validation" if Meaning(caret, word).holds(caret.formula, len(word) - 1) else "violation"})


class Meaning:
    """The nesting of one word, and the truth of formulas at its events."""

    def __init__(self, caret: Caret, word: Sequence[str]) -> None:
        self._caret = caret
        self._word = word
        self._open: list[Open] = []  # at each position
        self._match: list[int | None] = []  # of each closing event that closes something
        self._known: dict[tuple[Formula, int], bool] = {}
        now: Open = []
        for position, event in enumerate(word):
            role = caret.role.get(event, "")
            if role in OPENING:
                now = [*now, (role, position)]
            matching = [number for number, (kind, _) in enumerate(now) if CLOSES.get(role) == kind]
            if matching:  # what was opened since then is over, too
                now = now[: matching[-1] + 1]
            self._open.append(now)
            self._match.append(now[-1][1] if matching else None)
            if matching:
                now = now[:-1]

    def holds(self, formula: Formula, position: int) -> bool:
        """Is the formula true at that event?"""
        key = (formula, position)
        if key not in self._known:
            self._known[key] = self._decide(formula, position)
        return self._known[key]

    def _decide(self, formula: Formula, position: int) -> bool:
        parts = formula.parts
        match formula.op:
            case Op.TRUE | Op.FALSE:
                return formula.op is Op.TRUE
            case Op.ATOM:
                return self._word[position] == formula.name
            case Op.NOT:
                return not self.holds(parts[0], position)
            case Op.AND:
                return all(self.holds(part, position) for part in parts)
            case Op.OR:
                return any(self.holds(part, position) for part in parts)
            case Op.XOR:
                return sum(self.holds(part, position) for part in parts) % 2 == 1
            case Op.IMPLIES:
                return not self.holds(parts[0], position) or self.holds(parts[1], position)
            case Op.IFF:
                return self.holds(parts[0], position) == self.holds(parts[1], position)
            case Op.AT:
                where = self._frame(formula.mode, position)
                return where is not None and self.holds(parts[0], where)
        path = self._path(formula.mode, position)
        match formula.op:
            case Op.PREVIOUS:
                return len(path) > 1 and self.holds(parts[0], path[1])
            case Op.WEAK_PREVIOUS:
                return len(path) <= 1 or self.holds(parts[0], path[1])
            case Op.ONCE:
                return any(self.holds(parts[0], where) for where in path)
            case Op.HISTORICALLY:
                return all(self.holds(parts[0], where) for where in path)
            case Op.SINCE:
                return any(
                    self.holds(parts[1], where) and all(self.holds(parts[0], later) for later in path[:step])
                    for step, where in enumerate(path)
                )
            case Op.TRIGGER:
                return all(
                    self.holds(parts[1], where) or any(self.holds(parts[0], later) for later in path[:step])
                    for step, where in enumerate(path)
                )
        raise ValueError(f"not an operator of ptcaret: {formula.op}")

    def _path(self, mode: str, position: int) -> list[int]:
        """The positions that an operator looks at, from the present one into the past."""
        if not mode:
            return list(range(position, -1, -1))
        if mode == "a":
            path = [position]
            while path[-1] > 0:
                opening = self._match[path[-1]]
                path.append(path[-1] - 1 if opening is None else opening)
            return path
        kinds = self._caret.opened_by(mode)
        return [where for kind, where in reversed(self._open[position]) if kind in kinds]

    def _frame(self, mode: str, position: int) -> int | None:
        """Where the current method began or was called."""
        path = self._path(f"s@{mode}", position)
        if mode == "c" and "begin" in self._caret.role.values():  # it has begun, so it was called before that
            begun = self._path("s@b", position)
            path = [where for where in path if begun and where < begun[0]]
        return path[0] if path else None
