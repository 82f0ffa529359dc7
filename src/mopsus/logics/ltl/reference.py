"""Stage 2: the meaning of linear temporal formulas, written from the definition, slow and simple.

Two definitions stand here. `holds_on_lasso` is the semantics itself: truth at the first position of
an infinite word, given as a prefix and a loop. `categories_after` asks whether any
continuation satisfies the formula, by the textbook tableau: an atom is a letter and a choice
of which formulas about the neighbouring positions are true, edges join atoms that agree, and an
infinite word is a path that ends in a component where every until is met.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product

from mopsus.logics.ltl.normal import step_bounds
from mopsus.logics.temporal.syntax import PAST, Formula, Op
from mopsus.logics.tree import walk

Core = tuple[object, ...]
"""`(sign, *parts)` of few signs: true, atom, not, and, next, previous, until, since."""

TRUE: Core = ("true",)


def categories_after(formula: Formula, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The categories after `word`: one of `violation`, `validation` and `?`."""
    core = _core(formula)
    if not _satisfiable(core, alphabet, tuple(word)):
        return frozenset({"violation"})
    if not _satisfiable(_not(core), alphabet, tuple(word)):
        return frozenset({"validation"})
    return frozenset({"?"})


def holds_on_lasso(formula: Formula, prefix: Sequence[Iterable[str]], loop: Sequence[Iterable[str]]) -> bool:
    """Is the formula true at the first position of `prefix` followed by `loop` for ever?

    A letter is the set of what is true there. Each past operator can need one more round of the loop until
    values repeat with it, so the loop is written out once for each.
    """
    rounds = 1 + sum(part.op in PAST for part in walk(formula)) * (1 + _longest(formula))
    letters = [frozenset(letter) for letter in (*prefix, *(list(loop) * (rounds + 1)))]
    back = len(letters) - len(loop)
    return _values(_core(formula), letters, back)[0]


def _longest(formula: Formula) -> int:
    return max((bound or 0 for part in walk(formula) if part.interval for bound in step_bounds(part)), default=0)


def _values(core: Core, letters: list[frozenset[str]], back: int) -> list[bool]:
    """The truth of `core` at each position; the last is followed by position `back`."""
    sign, *rest = core
    size = len(letters)
    parts = [_values(part, letters, back) for part in rest if isinstance(part, tuple)]
    after = [*range(1, size), back]
    match sign:
        case "true":
            return [True] * size
        case "atom":
            return [rest[0] in letter for letter in letters]
        case "not":
            return [not value for value in parts[0]]
        case "and":
            return [one and other for one, other in zip(*parts, strict=True)]
        case "next":
            return [parts[0][after[position]] for position in range(size)]
        case "previous":
            return [False, *parts[0][:-1]]
        case "since":
            found: list[bool] = []
            for position in range(size):
                found.append(parts[1][position] or (parts[0][position] and position > 0 and found[-1]))
            return found
    # Until: the least solution of its equation, reached after two rounds backwards.
    value = [False] * size
    for position in (*range(size - 1, -1, -1), *range(size - 1, -1, -1)):
        value[position] = parts[1][position] or (parts[0][position] and value[after[position]])
    return value


# -- few operators stand for all -----------------------------------------------------------------


def _not(core: Core) -> Core:
    return ("not", core)


def _or(one: Core, other: Core) -> Core:
    return _not(("and", _not(one), _not(other)))


def _core(formula: Formula) -> Core:
    parts = [_core(part) for part in formula.parts]
    if formula.interval is not None:
        return _within(formula.op, parts, *step_bounds(formula))
    match formula.op:
        case Op.TRUE:
            return TRUE
        case Op.FALSE:
            return _not(TRUE)
        case Op.ATOM:
            return ("atom", formula.name)
        case Op.NOT:
            return _not(parts[0])
        case Op.AND | Op.OR | Op.XOR:
            value = parts[0]
            for part in parts[1:]:
                value = _connect(formula.op, value, part)
            return value
        case Op.IMPLIES:
            return _or(_not(parts[0]), parts[1])
        case Op.IFF:
            return _not(_connect(Op.XOR, *parts))
        case Op.NEXT | Op.WEAK_NEXT:
            return ("next", parts[0])
        case Op.PREVIOUS:
            return ("previous", parts[0])
        case Op.WEAK_PREVIOUS:
            return _not(("previous", _not(parts[0])))
    return _within(formula.op, parts, 0, None)


def _connect(op: Op, one: Core, other: Core) -> Core:
    if op is Op.AND:
        return ("and", one, other)
    return _or(one, other) if op is Op.OR else _or(("and", one, _not(other)), ("and", _not(one), other))


def _within(op: Op, parts: list[Core], lower: int, upper: int | None) -> Core:
    match op:
        case Op.UNTIL | Op.SINCE:
            return _bounded("until" if op is Op.UNTIL else "since", parts[0], parts[1], lower, upper)
        case Op.EVENTUALLY:
            return _within(Op.UNTIL, [TRUE, *parts], lower, upper)
        case Op.ONCE:
            return _within(Op.SINCE, [TRUE, *parts], lower, upper)
        case Op.STRONG_RELEASE:
            return _within(Op.UNTIL, [parts[1], ("and", *parts)], lower, upper)
    dual = {
        Op.ALWAYS: Op.EVENTUALLY,
        Op.HISTORICALLY: Op.ONCE,
        Op.RELEASE: Op.UNTIL,
        Op.TRIGGER: Op.SINCE,
        Op.WEAK_UNTIL: Op.STRONG_RELEASE,
    }
    return _not(_within(dual[op], [_not(part) for part in parts], lower, upper))


def _bounded(sign: str, left: Core, right: Core, lower: int, upper: int | None) -> Core:
    step = "next" if sign == "until" else "previous"
    if lower == 0 and upper is None:
        return (sign, left, right)
    if upper == 0:
        return right
    further = (
        "and",
        left,
        (step, _bounded(sign, left, right, max(lower - 1, 0), None if upper is None else upper - 1)),
    )
    return further if lower else _or(right, further)


# -- the tableau ---------------------------------------------------------------------------------


@lru_cache(maxsize=10_000)
def _satisfiable(core: Core, alphabet: tuple[str, ...], word: tuple[str, ...]) -> bool:
    """Does some infinite word that begins with `word` satisfy the formula at its first position?"""
    tableau = _Tableau.of(core, alphabet)
    reached = tableau.begin
    for event in word:
        reached = frozenset(
            target for atom in reached if tableau.letter(atom) == event for target in tableau.edges[atom]
        )
    return bool(reached)


Atom = tuple[str, tuple[bool, ...]]


class _Tableau:
    """The atoms that begin some infinite path on which every until is met."""

    @staticmethod
    @lru_cache(maxsize=1000)
    def of(core: Core, alphabet: tuple[str, ...]) -> _Tableau:
        return _Tableau(core, alphabet)

    def __init__(self, core: Core, alphabet: tuple[str, ...]) -> None:
        self.elementary = _elementary(core)
        atoms = [
            (event, choice) for event in alphabet for choice in product((False, True), repeat=len(self.elementary))
        ]
        self.edges: dict[Atom, set[Atom]] = {atom: set() for atom in atoms}
        ahead: dict[tuple[bool, ...], list[Atom]] = {}
        for atom in atoms:
            ahead.setdefault(self._seen_from_before(atom), []).append(atom)
        for atom in atoms:
            self.edges[atom] = set(ahead.get(self._said_of_after(atom), ()))
        self._keep_fair([formula for formula in _parts(core) if formula[0] == "until"])
        self.begin = frozenset(
            atom
            for atom in self.edges
            if self._true(atom, core)
            and not any(
                value for formula, value in zip(self.elementary, atom[1], strict=True) if formula[0] == "previous"
            )
        )

    def letter(self, atom: Atom) -> str:
        return atom[0]

    def _said_of_after(self, atom: Atom) -> tuple[bool, ...]:
        """What an atom says of its successor: of each `next f` whether f, and of each `previous f` that it is told."""
        return tuple(
            value if formula[0] == "next" else self._true(atom, _only_part(formula))
            for formula, value in zip(self.elementary, atom[1], strict=True)
        )

    def _seen_from_before(self, atom: Atom) -> tuple[bool, ...]:
        return tuple(
            self._true(atom, _only_part(formula)) if formula[0] == "next" else value
            for formula, value in zip(self.elementary, atom[1], strict=True)
        )

    def _true(self, atom: Atom, core: Core) -> bool:
        sign, *rest = core
        parts = [part for part in rest if isinstance(part, tuple)]
        match sign:
            case "true":
                return True
            case "atom":
                return atom[0] == rest[0]
            case "not":
                return not self._true(atom, parts[0])
            case "and":
                return all(self._true(atom, part) for part in parts)
            case "next" | "previous":
                return atom[1][self.elementary.index(core)]
        step = "next" if sign == "until" else "previous"
        return self._true(atom, parts[1]) or (self._true(atom, parts[0]) and self._true(atom, (step, core)))

    def _keep_fair(self, untils: list[Core]) -> None:
        """Drop atoms from which no path meets every until again and again."""
        met = {
            atom: [not self._true(atom, until) or self._true(atom, _right(until)) for until in untils]
            for atom in self.edges
        }
        reach = {atom: self._reachable(atom) for atom in self.edges}
        fair = {
            atom
            for atom in self.edges
            if atom in reach[atom]
            and all(
                any(met[other][number] for other in reach[atom] if atom in reach[other])
                for number in range(len(untils))
            )
        }
        kept = {atom for atom in self.edges if atom in fair or reach[atom] & fair}
        self.edges = {atom: self.edges[atom] & kept for atom in kept}

    def _reachable(self, atom: Atom) -> set[Atom]:
        """The atoms after at least one edge."""
        found: set[Atom] = set()
        work = [atom]
        while work:
            fresh = self.edges[work.pop()] - found
            found |= fresh
            work += fresh
        return found


def _parts(core: Core) -> list[Core]:
    found = [core]
    for formula in found:  # grows while it is walked
        found += [part for part in formula[1:] if isinstance(part, tuple)]
    return list(dict.fromkeys(found))


def _elementary(core: Core) -> list[Core]:
    found: list[Core] = []
    for formula in _parts(core):
        if formula[0] in ("next", "previous"):
            found.append(formula)
        elif formula[0] in ("until", "since"):
            found.append(("next" if formula[0] == "until" else "previous", formula))
    return list(dict.fromkeys(found))


def _only_part(core: Core) -> Core:
    part = core[1]
    assert isinstance(part, tuple)
    return part


def _right(core: Core) -> Core:
    part = core[2]
    assert isinstance(part, tuple)
    return part
