"""Stage 2: what may be asked of the next position: sets of conjunctions of obligations.

A conjunction is a bit mask. It has a bit for each obligation, and for each until one that says that it is
postponed at this step.
"""

from __future__ import annotations

from collections.abc import Iterable

from mopsus.logics.ltl.implication import Implication
from mopsus.logics.ltl.letters import Work
from mopsus.logics.ltl.normal import Kind, Normal

IMPLICATION = 8
"""How many elementary steps it takes to compare two obligations."""

NEVER, NOW = 0, 1
"""The numbers of the sets `no conjunction` and `the empty conjunction`; as values of diagrams also false and true."""


class Obligations:
    """The bits of masks, given as they are asked for."""

    def __init__(self, normal: Normal, work: Work) -> None:
        self.owners: list[tuple[Kind, int]] = []
        """Of each bit, the formula, and how it is obliged: next, weak next, or until for a postponement."""
        self.marks = 0
        """The bits of postponements."""
        self._normal = normal
        self._implies = Implication(normal)
        self._bits: dict[tuple[Kind, int], int] = {}
        self._work = work
        self._stronger: list[tuple[int, int]] = []
        """Of each bit, those that imply it, among so many first bits."""

    def mask(self, how: Kind, number: int) -> int:
        """The mask of that one bit."""
        if how is not Kind.UNTIL and not self._normal.ending:
            how = Kind.NEXT
        bit = self._bits.setdefault((how, number), len(self.owners))
        if bit == len(self.owners):
            self.owners.append((how, number))
            self._stronger.append((0, 0))
            if how is Kind.UNTIL:
                self.marks |= 1 << bit
        return 1 << bit

    def formulas(self, mask: int) -> list[int]:
        """The formulas that the mask obliges to."""
        return [self.owners[bit][1] for bit in _bits_of(mask & ~self.marks)]

    def satisfied_by_end(self, mask: int) -> bool:
        """Does a word that ends satisfy the mask: are all its obligations about positions that need not exist?"""
        return all(self.owners[bit][0] is Kind.WEAK_NEXT for bit in _bits_of(mask & ~self.marks))

    def reduce(self, mask: int) -> int:
        """The mask without obligations that others in it imply."""
        asked = mask & ~self.marks
        if asked & asked - 1 == 0:
            return mask
        for bit in _bits_of(asked):
            if self._implying(bit) & asked:
                mask ^= 1 << bit
        return mask

    def asks_no_more(self, one: int, other: int) -> bool:
        """Is all that `one` asks for, and postpones, asked for by `other`?"""
        rest = one & ~other
        if not rest:
            return True
        if rest & self.marks:
            return False
        while rest:
            lowest = rest & -rest
            if not self._implying(lowest.bit_length() - 1) & other:
                return False
            rest ^= lowest
        return True

    def _implying(self, bit: int) -> int:
        """The obligations that imply this one; of two that imply each other, only the one of the lower bit counts."""
        mask, seen = self._stronger[bit]
        size = len(self.owners)
        if seen < size:
            self._work.spend(IMPLICATION * (size - seen))
            for other in range(seen, size):
                if self._follows(bit, other) and (other < bit or not self._follows(other, bit)):
                    mask |= 1 << other
            self._stronger[bit] = (mask, size)
        return mask

    def _follows(self, bit: int, other: int) -> bool:
        """Does one obligation follow from another one?"""
        (how, number), (its, implying) = self.owners[bit], self.owners[other]
        if bit == other or Kind.UNTIL in (how, its) or (how is Kind.NEXT and its is Kind.WEAK_NEXT):
            return False
        return self._implies(implying, number)


class Choices:
    """Sets of masks, none of which asks for more than another. Equal sets have equal numbers."""

    def __init__(self, obligations: Obligations, work: Work) -> None:
        self.sets: list[frozenset[int]] = [frozenset(), frozenset({0})]
        self._numbers = {masks: number for number, masks in enumerate(self.sets)}
        self._obligations = obligations
        self._work = work
        self._either: dict[tuple[int, int], int] = {}
        self._both: dict[tuple[int, int], int] = {}

    def one(self, mask: int) -> int:
        """The number of the set of this one mask."""
        return self._numbered(frozenset({mask}))

    def either(self, one: int, other: int) -> int:
        """Or."""
        if one <= NOW or other <= NOW or one == other:
            return max(one, other) if NEVER in (one, other) else NOW if NOW in (one, other) else one
        key = (one, other) if one < other else (other, one)
        found = self._either.get(key)
        if found is None:
            asks_no_more = self._obligations.asks_no_more
            first, second = self.sets[one], self.sets[other] - self.sets[one]
            self._work.spend(1 + (len(first) * len(second) >> 5))
            # Neither set has masks that ask for more than another of it, so only those of the other matter.
            kept = [mask for mask in first if not any(asks_no_more(each, mask) for each in second)]
            kept += [mask for mask in second if not any(asks_no_more(each, mask) for each in first)]
            found = self._either[key] = self._numbered(frozenset(kept))
        return found

    def both(self, one: int, other: int) -> int:
        """And."""
        if one <= NOW or other <= NOW or one == other:
            return NEVER if NEVER in (one, other) else max(one, other)
        key = (one, other) if one < other else (other, one)
        found = self._both.get(key)
        if found is None:
            self._work.spend(len(self.sets[one]) * len(self.sets[other]))
            reduce = self._obligations.reduce
            masks = {reduce(mask | more) for mask in self.sets[one] for more in self.sets[other]}
            found = self._both[key] = self._numbered(self._least(masks))
        return found

    def _numbered(self, masks: frozenset[int]) -> int:
        found = self._numbers.setdefault(masks, len(self.sets))
        if found == len(self.sets):
            self.sets.append(masks)
        return found

    def _least(self, masks: Iterable[int]) -> frozenset[int]:
        """The masks that ask for no more than any other."""
        kept: list[int] = []
        asks_no_more = self._obligations.asks_no_more
        for mask in sorted(masks, key=int.bit_count):
            self._work.spend(1 + (len(kept) >> 5))
            if not any(asks_no_more(known, mask) for known in kept):
                kept = [known for known in kept if not asks_no_more(mask, known)]
                kept.append(mask)
        return frozenset(kept)


def _bits_of(mask: int) -> list[int]:
    bits = []
    while mask:
        lowest = mask & -mask
        bits.append(lowest.bit_length() - 1)
        mask ^= lowest
    return bits
