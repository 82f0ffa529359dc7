"""Stage 2: what is odd about a rewriting system, found with bounded work before it runs.

A rule that never comes to its turn, rewriting that does not end, and overlapping rules of which
the result depends on which one is applied first (critical pairs that do not join: by Newman's lemma,
a terminating system without any gives every string one normal form).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mopsus.logics.srs.rewriting import Budget, Exhausted, Result, Rules, String, rewrite
from mopsus.logics.srs.syntax import Rule, System
from mopsus.model import Remark

MAX_REMARKS = 5
"""How many findings of a kind are told one by one."""

STEPS = 10_000
"""How long rewriting a left side may take before it is suspected not to end."""

LONGEST = 10_000

ALL_STEPS = 50_000
"""Rewriting steps that looking for critical pairs may take in all."""

ALL_OVERLAPS = 200_000
"""Likewise, places where two rules are laid over each other."""


def remarks_on(system: System, rules: Rules) -> tuple[Remark, ...]:
    """All findings; none is an error."""
    starved = list(_starved(system.rules))
    hopeless = {rule for rule, _ in starved}
    endless = list(_endless(system.rules, rules))
    pairs = [] if endless else list(_open_pairs(rules, hopeless))
    return (
        *_few(
            [
                Remark(
                    "LOGIC-052",
                    f"the rule is never applied: '{' '.join(system.rules[sooner].pattern)}' is always rewritten first",
                    "leave it out, or put what it looks for into other rules",
                    system.rules[rule].offset,
                    system.rules[rule].length,
                )
                for rule, sooner in starved
            ]
        ),
        *_few(
            [
                Remark(
                    "LOGIC-051",
                    why,
                    "an event after which rewriting takes too many steps ends the monitor with 'exhausted'",
                    system.rules[rule].offset,
                    system.rules[rule].length,
                )
                for rule, why in endless
            ]
        ),
        *_few([_told(pair, system.rules, rules) for pair in pairs]),
    )


def _few(remarks: list[Remark]) -> list[Remark]:
    """The first ones; the last of them says how many more there are."""
    if len(remarks) <= MAX_REMARKS:
        return remarks
    last = remarks[MAX_REMARKS - 1]
    more = f"{last.message}; and {len(remarks) - MAX_REMARKS} more like this"
    return [*remarks[: MAX_REMARKS - 1], Remark(last.code, more, last.hint, last.offset, last.length)]


def _starved(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """Rules whose left side is never complete while it stands in a string, each with the rule that is sooner."""
    first: dict[tuple[str, ...], int] = {}
    for number, rule in enumerate(rules):
        first.setdefault(rule.pattern, number)
    lengths = sorted({len(pattern) for pattern in first})
    for number, rule in enumerate(rules):
        pattern = rule.pattern
        if first[pattern] != number:
            yield number, first[pattern]
            continue
        ends = ((end, length) for end in range(1, len(pattern)) for length in lengths if length <= end)
        for end, length in ends:
            sooner = first.get(pattern[end - length : end])
            if sooner is not None:
                yield number, sooner
                break


def _endless(written: Sequence[Rule], rules: Rules) -> Iterator[tuple[int, str]]:
    for number, (rule, pattern) in enumerate(zip(written, rules.patterns, strict=True)):
        if rule.verdict is not None:
            continue
        if _has(_replacement(rules, number), pattern):
            yield number, "the rule never ends: what it puts there can be rewritten by itself again"
            continue
        try:
            rewrite(rules, pattern, Budget(STEPS // (1 + len(written) // 100), LONGEST))
        except Exhausted:
            yield number, f"rewriting '{' '.join(rule.pattern)}' does not seem to end"


def _has(text: String, part: String) -> bool:
    return any(text[at : at + len(part)] == part for at in range(len(text) - len(part) + 1))


def _replacement(rules: Rules, number: int) -> String:
    """The right side of a rule, with the anchors that its left side has."""
    pattern = rules.patterns[number]
    begin, end = pattern[0] == rules.start, pattern[-1] == rules.end
    return (rules.start,) * begin + rules.actions[number].right + (rules.end,) * end


@dataclass(frozen=True, slots=True)
class _Pair:
    """A word in which two rules apply, the one that is complete sooner first, and what each leads to."""

    word: String
    sooner: int
    later: int
    results: tuple[Result, Result]


@dataclass(frozen=True, slots=True)
class _Overlap:
    word: String
    sooner: int
    begin: int
    end: int
    later: int
    second: int
    """Where the later one begins; it ends with the word."""


def _open_pairs(rules: Rules, hopeless: set[int]) -> Iterator[_Pair]:
    """Critical pairs that do not join."""
    # Once such an event is there, nothing before it can be rewritten: all of it was in normal form when the event
    # came, and no rule can bring the event back.
    made = {symbol for action in rules.actions for symbol in action.right}
    only_read = set(range(rules.start)) - made
    budget = Budget(ALL_STEPS, LONGEST)
    told: set[tuple[int, int]] = set()
    for overlap in _overlaps(rules, hopeless):
        pair = (overlap.sooner, overlap.later)
        if pair in told or not only_read.isdisjoint(overlap.word[overlap.end :]):
            continue
        try:
            one = _apply(rules, overlap.word, overlap.sooner, overlap.begin, budget)
            other = _apply(rules, overlap.word, overlap.later, overlap.second, budget)
        except Exhausted:
            if budget.steps < 0:
                return
            continue
        if one != other:
            told.add(pair)
            yield _Pair(overlap.word, *pair, (one, other))


def _overlaps(rules: Rules, hopeless: set[int]) -> Iterator[_Overlap]:
    patterns = [(number, pattern) for number, pattern in enumerate(rules.patterns) if number not in hopeless]
    tried = 0
    for sooner, first in patterns:
        for later, second in patterns:
            tried += min(len(first), len(second))
            if tried > ALL_OVERLAPS:
                return
            for shared in range(1, min(len(first), len(second))):
                if first[-shared:] == second[:shared]:
                    word = first + second[shared:]
                    yield _Overlap(word, sooner, 0, len(first), later, len(first) - shared)
            if len(first) < len(second) and second[-len(first) :] == first:
                yield _Overlap(second, later, 0, len(second), sooner, len(second) - len(first))


def _apply(rules: Rules, word: String, number: int, at: int, budget: Budget) -> Result:
    verdict = rules.actions[number].verdict
    if verdict is not None:
        return verdict
    text = word[:at] + _replacement(rules, number) + word[at + len(rules.patterns[number]) :]
    return rewrite(rules, text, budget)


def _told(pair: _Pair, written: Sequence[Rule], rules: Rules) -> Remark:
    def shown(result: Result) -> str:
        return f"#{result}" if isinstance(result, str) else rules.text(result)

    one, other = map(shown, pair.results)
    sooner, later = (" ".join(written[number].pattern) for number in (pair.sooner, pair.later))
    return Remark(
        "LOGIC-050",
        f"'{rules.text(pair.word)}' becomes '{one}' if '{sooner}' is rewritten first, '{other}' if '{later}' is",
        f"'{sooner}' is; if that is not what you mean, add a rule that brings the two together",
        written[pair.later].offset,
        written[pair.later].length,
    )
