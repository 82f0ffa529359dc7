"""Stage 2: the meaning of past-time formulas, written from the definition, slow and simple."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics.temporal.syntax import Formula, Op


def categories_after(formula: Formula, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """`validation` or `violation`: is the formula true at the last event of `word`? Nothing before the first event."""
    if not word:
        return frozenset()
    return frozenset({"validation" if holds(formula, word, len(word) - 1) else "violation"})


def holds(formula: Formula, word: Sequence[str], position: int) -> bool:
    """Is the formula true at that event of `word`?"""

    def at(part: Formula, where: int) -> bool:
        return holds(part, word, where)

    so_far = range(position + 1)
    parts = formula.parts
    match formula.op:
        case Op.TRUE | Op.FALSE:
            return formula.op is Op.TRUE
        case Op.ATOM:
            return word[position] == formula.name
        case Op.NOT:
            return not at(parts[0], position)
        case Op.AND:
            return all(at(part, position) for part in parts)
        case Op.OR:
            return any(at(part, position) for part in parts)
        case Op.XOR:
            return sum(at(part, position) for part in parts) % 2 == 1
        case Op.IMPLIES:
            return not at(parts[0], position) or at(parts[1], position)
        case Op.IFF:
            return at(parts[0], position) == at(parts[1], position)
        case Op.PREVIOUS:
            return position > 0 and at(parts[0], position - 1)
        case Op.WEAK_PREVIOUS:
            return position == 0 or at(parts[0], position - 1)
        case Op.ONCE:
            return any(at(parts[0], where) for where in so_far)
        case Op.HISTORICALLY:
            return all(at(parts[0], where) for where in so_far)
        case Op.SINCE:
            return any(
                at(parts[1], where) and all(at(parts[0], later) for later in range(where + 1, position + 1))
                for where in so_far
            )
        case Op.TRIGGER:
            return all(
                at(parts[1], where) or any(at(parts[0], later) for later in range(where + 1, position + 1))
                for where in so_far
            )
    raise ValueError(f"not an operator of ptltl: {formula.op}")
