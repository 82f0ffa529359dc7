"""Stage 2: what a formula asks of the rest of a word: a Büchi automaton over sets of obligations.

After each letter a formula becomes a disjunction of conjunctions of formulas that must hold from the
next position on (the very weak alternating automaton, Gastin & Oddoux 2001). A conjunction
together with the bits of the registers is a *place* here. A word is accepted if some path over places
postpones no until for ever. Places are made as they are met, shared by a formula and its
negation, and numbered; which of them accept no word at all is found by strongly connected components.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce
from typing import Generic

from mopsus.logics.ltl.choices import NEVER, NOW, Choices, Obligations
from mopsus.logics.ltl.letters import D, Letters, Work
from mopsus.logics.ltl.normal import FALSE, TRUE, UNBOUNDED, Kind, Normal, Past
from mopsus.logics.machines.automaton import too_large

MAX_PLACES = 50_000


class Alternating(Generic[D]):
    """The places of the formulas of `normal`, over either kind of letter."""

    def __init__(self, normal: Normal, letters: Letters[D], work: Work) -> None:
        self._normal = normal
        self._letters = letters
        self.obligations = Obligations(normal, work)
        self._choices = Choices(self.obligations, work)
        self._meanings: dict[tuple[int, int, int], D] = {}
        self._either: dict[tuple[D, D], D] = {}
        self._both: dict[tuple[D, D], D] = {}
        self._not: dict[D, D] = {}
        self._values: dict[tuple[int, int], list[D]] = {}
        self._reads_past: dict[int, bool] = {}
        self.places: list[tuple[int, int]] = []
        """Obligations and the bits of the registers."""
        self._place_numbers: dict[tuple[int, int], int] = {}
        self.edges: list[frozenset[tuple[int, int]]] = []
        """Sets of (place, untils postponed on the way to it); the values of `steps` are numbers of these."""
        self._edge_numbers: dict[frozenset[tuple[int, int]], int] = {}
        self.steps: list[D] = []
        """Of each place."""

    # -- places --------------------------------------------------------------------------------

    def begin(self, number: int) -> frozenset[int]:
        """The places from which the formula of that number is accepted at the first position."""
        bits = sum(1 << slot for slot, register in enumerate(self._normal.registers) if register.initial)
        choice = {FALSE: NEVER, TRUE: NOW}.get(number)
        if choice is None:
            choice = self._pending(number, Kind.WEAK_NEXT)
        return frozenset(self._place(mask, bits) for mask in self._choices.sets[choice])

    def explore(self) -> None:
        """Make all places that can be reached from those that `begin` gave, with their steps."""
        while len(self.steps) < len(self.places):
            self.steps.append(self._step(*self.places[len(self.steps)]))
            if len(self.places) > MAX_PLACES:
                raise too_large(f"more than {MAX_PLACES:,} sets of obligations")

    def satisfied_by_end(self, place: int) -> bool:
        """Does a word that ends satisfy the place?"""
        return self.obligations.satisfied_by_end(self.places[place][0])

    def dominates(self, one: int, other: int) -> bool:
        """Does `one` ask for no more than `other`, remembering the same?"""
        (asked, bits), (more, its_bits) = self.places[one], self.places[other]
        return bits == its_bits and self.obligations.asks_no_more(asked, more)

    def _place(self, mask: int, bits: int) -> int:
        key = (mask, bits)
        found = self._place_numbers.get(key)
        if found is None:
            found = self._place_numbers[key] = len(self.places)
            self.places.append(key)
        return found

    def _step(self, mask: int, bits: int) -> D:
        letters = self._letters
        result: D | None = None
        for guess in range(1 << len(self._normal.oracles)):
            wanted = self.obligations.formulas(mask) + [
                number if guess >> slot & 1 else self._normal.negate(number)
                for slot, number in enumerate(self._normal.oracles)
            ]
            meaning = self._all(self._meaning(number, bits, guess) for number in wanted)
            after = self._registers_after(bits, guess)
            memo: dict[tuple[D, D], D] = {}
            edges = letters.join(self._edge_set, meaning, after, memo)
            result = edges if result is None else letters.join(self._merge_edges, result, edges, {})
        assert result is not None
        return result

    def _edge_set(self, choice: int, bits: int) -> int:
        marks = self.obligations.marks
        return self._edges_number(
            frozenset((self._place(mask & ~marks, bits), mask & marks) for mask in self._choices.sets[choice])
        )

    def _merge_edges(self, one: int, other: int) -> int:
        return self._edges_number(self.edges[one] | self.edges[other])

    def _edges_number(self, edges: frozenset[tuple[int, int]]) -> int:
        found = self._edge_numbers.get(edges)
        if found is None:
            found = self._edge_numbers[edges] = len(self.edges)
            self.edges.append(edges)
        return found

    # -- meanings: diagrams of choices ---------------------------------------------------------

    def _meaning(self, number: int, bits: int, guess: int) -> D:
        """What the formula asks of the next position, for each letter."""
        found = self._meanings.get((number, bits, guess) if self._depends(number) else (number, 0, 0))
        if found is None:
            # Parts first, so that the recursion is never deep; a part has a lower number than what it is part of.
            for each in self._present_parts(number):
                key = (each, bits, guess) if self._depends(each) else (each, 0, 0)
                found = self._meanings.get(key)
                if found is None:
                    found = self._meanings[key] = self._find_meaning(each, bits, guess)
        assert found is not None
        return found

    def _present_parts(self, number: int) -> list[int]:
        """The formula and all parts that speak of the same position, in order."""
        nodes = self._normal.nodes
        seen = {number}
        stack = [number]
        while stack:
            node = nodes[stack.pop()]
            if node.kind not in (Kind.NEXT, Kind.WEAK_NEXT):
                fresh = set(node.parts) - seen
                seen |= fresh
                stack += fresh
        return sorted(seen)

    def _find_meaning(self, number: int, bits: int, guess: int) -> D:
        letters, node = self._letters, self._normal.nodes[number]
        match node.kind:
            case Kind.CONSTANT:
                return letters.constant(NOW if number == TRUE else NEVER)
            case Kind.ATOM:
                return letters.atom(node.name, NOW, NEVER) if node.positive else letters.atom(node.name, NEVER, NOW)
            case Kind.PAST:
                value = self._present(bits, guess)[node.slot]
                return value if node.positive else letters.map(lambda held: NOW - held, value, self._not)
            case Kind.ORACLE:
                return letters.constant(NOW if bool(guess >> node.slot & 1) == node.positive else NEVER)
            case Kind.AND:
                return self._all(self._meaning(part, bits, guess) for part in node.parts)
            case Kind.OR:
                return reduce(self._or, (self._meaning(part, bits, guess) for part in node.parts))
            case Kind.NEXT | Kind.WEAK_NEXT:
                return letters.constant(
                    self._pending(self._normal.make(node.kind, node.parts, node.slot - 1), node.kind)
                )
        left, right = (self._meaning(part, bits, guess) for part in node.parts)
        until = node.kind is Kind.UNTIL
        bound = node.slot if node.slot == UNBOUNDED else node.slot - 1
        again = self._pending(self._normal.make(node.kind, node.parts, bound), Kind.NEXT if until else Kind.WEAK_NEXT)
        if until and bound == UNBOUNDED:
            again = self._choices.both(again, self._choices.one(self.obligations.mask(Kind.UNTIL, number)))
        later = letters.constant(again)
        return self._or(right, self._and(left, later)) if until else self._and(right, self._or(left, later))

    def _pending(self, number: int, how: Kind) -> int:
        """The choices that ask for the formula at the next position, each part of a conjunction on its own."""
        node = self._normal.nodes[number]
        parts = node.parts if node.kind is Kind.AND else (number,)
        mask = sum(self.obligations.mask(how, part) for part in parts)
        return self._choices.one(self.obligations.reduce(mask))

    # -- registers -----------------------------------------------------------------------------

    def _present(self, bits: int, guess: int) -> list[D]:
        """The value of each register at this step, for each letter."""
        found = self._values.get((bits, guess))
        if found is None:
            found = self._values[bits, guess] = []
            for slot, register in enumerate(self._normal.registers):
                before = self._letters.constant(bits >> slot & 1)
                if register.past is Past.PREVIOUS:
                    found.append(before)
                    continue
                left, right = (self._meaning(part, bits, guess) for part in register.parts)
                if register.past is Past.SINCE:
                    found.append(self._or(right, self._and(left, before)))
                else:
                    found.append(self._and(right, self._or(left, before)))
        return found

    def _registers_after(self, bits: int, guess: int) -> D:
        """The bits of all registers after this step, for each letter."""
        after = self._letters.constant(0)
        for slot, (register, value) in enumerate(zip(self._normal.registers, self._present(bits, guess), strict=True)):
            kept = self._meaning(register.parts[0], bits, guess) if register.past is Past.PREVIOUS else value
            after = self._letters.join(partial(_set_bit, slot), after, kept, {})
        return after

    def _depends(self, number: int) -> bool:
        """Does what the formula asks depend on the past or on a guess?"""
        found = self._reads_past.get(number)
        if found is None:
            node = self._normal.nodes[number]
            later = node.kind in (Kind.NEXT, Kind.WEAK_NEXT)
            found = node.kind in (Kind.PAST, Kind.ORACLE) or (not later and any(map(self._depends, node.parts)))
            self._reads_past[number] = found
        return found

    def _or(self, one: D, other: D) -> D:
        return self._letters.join(self._choices.either, one, other, self._either)

    def _and(self, one: D, other: D) -> D:
        return self._letters.join(self._choices.both, one, other, self._both)

    def _all(self, diagrams: Iterable[D]) -> D:
        return reduce(self._and, diagrams, self._letters.constant(NOW))


def _set_bit(slot: int, bits: int, held: int) -> int:
    return bits | held << slot


def accepting(edges_of: list[list[tuple[int, int]]], marks: int) -> frozenset[int]:
    """The nodes from which some infinite path meets, for each mark, infinitely many edges without it.

    `edges_of` has the (target, marks) of each node.
    """
    component_of = _components(edges_of)
    common: dict[int, int] = {}
    for source, edges in enumerate(edges_of):
        component = component_of[source]
        for target, postponed in edges:
            if component_of[target] == component:
                common[component] = common.get(component, marks) & postponed
    good = [node for node, component in enumerate(component_of) if common.get(component, 1) == 0]
    into: list[list[int]] = [[] for _ in edges_of]
    for source, edges in enumerate(edges_of):
        for target, _ in edges:
            into[target].append(source)
    found = set(good)
    while good:
        for source in into[good.pop()]:
            if source not in found:
                found.add(source)
                good.append(source)
    return frozenset(found)


def _components(edges_of: list[list[tuple[int, int]]]) -> list[int]:
    """The strongly connected component of each node (Tarjan, without recursion)."""
    size = len(edges_of)
    order = [-1] * size
    low = [0] * size
    component = [-1] * size
    stack: list[int] = []
    counter = 0
    for root in range(size):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                order[node] = low[node] = counter
                counter += 1
                stack.append(node)
            edges = edges_of[node]
            while position < len(edges):
                target = edges[position][0]
                position += 1
                if order[target] < 0:
                    work += ((node, position), (target, 0))
                    break
                if component[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                if low[node] == order[node]:
                    while True:
                        member = stack.pop()
                        component[member] = node
                        if member == node:
                            break
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return component
