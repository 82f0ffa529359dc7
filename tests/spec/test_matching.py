"""`matches(x, pattern)`: the answers of Python's `re`, on texts on which `re` would never end, too."""

from __future__ import annotations

import os
import random
import re
import warnings

import pytest

from mopsus.spec import SpecError, parse
from mopsus.spec.matching import MOST_STATES, PatternError, _Automaton, _Nodes, _parser, searcher

CASES = int(os.environ.get("MOPSUS_CASES", "5000")) // 5


def automaton(pattern: str) -> _Automaton:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Automaton(_Nodes(re.compile(pattern).flags).of(_parser.parse(pattern)))


LEAVES = ["a", "b", "é", "\\n", ".", "[ab]", "[^a]", "\\w", "\\W", "\\d", "\\s", "[a-cé]", "1", "K", "(?i:k)", " "]
PLACES = ["^", "$", "\\b", "\\B", "\\A", "\\Z", "(?m:^)", "(?m:$)", "(?a:\\b)"]
LETTERS = "aabbcéK k1_\n\n \u0663\u0131\u017f"


def draw(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(LEAVES if rng.random() < 0.8 else PLACES)
    if kind < 0.55:
        return "".join(draw(rng, depth - 1) for _ in range(rng.randint(2, 3)))
    if kind < 0.75:
        return f"(?:{'|'.join(draw(rng, depth - 1) for _ in range(rng.randint(2, 3)))})"
    times = rng.choice(["*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{0,2}?", "{2,}"])
    return f"(?:{draw(rng, depth - 1)}){times}"


def test_the_automaton_answers_as_re_does() -> None:
    rng = random.Random(7)
    found = 0
    for _ in range(CASES):
        pattern = rng.choice(["", "", "", "(?i)", "(?m)", "(?s)", "(?a)"]) + draw(rng, 3)
        machine = automaton(pattern)
        for _ in range(8):
            text = "".join(rng.choice(LETTERS) for _ in range(rng.randint(0, 8)))
            expected = re.search(pattern, text) is not None
            found += expected
            assert machine.search(text) is expected, (pattern, text)
    assert CASES < found < 7 * CASES


def test_what_is_judged_or_read_in_both_ways_is_the_same() -> None:
    rng = random.Random(8)
    for _ in range(CASES):
        pattern = draw(rng, 3)
        search = searcher(pattern)
        for _ in range(4):
            text = "".join(rng.choice(LETTERS) for _ in range(rng.randint(0, 12)))
            assert search(text) is (re.search(pattern, text) is not None), (pattern, text)


ENDLESS = ["(a+)+$", "(a|a)+$", "(a|aa)+$", "(.*a){12}$", r"(\w+\s?)+$", "(a?|b?)*c$", "a?" * 40 + "a" * 40]


@pytest.mark.parametrize("pattern", ENDLESS)
def test_patterns_on_which_re_never_ends(pattern: str) -> None:
    assert searcher(pattern)("a" * 39 + "!") is False
    assert searcher(pattern)("a" * 48 + "c" * pattern.endswith("c$")) is True


@pytest.mark.parametrize("pattern", [r"\s+$", "a*b", ".*x.*y.*z", r"(\d+,)*\d+;"])
def test_long_texts_take_linear_time(pattern: str) -> None:
    assert searcher(pattern)(" " * 300_000 + "a" * 100_000 + "1," * 100_000 + "!") is False


@pytest.mark.parametrize("pattern", [r"(\w+) \1", "(?=.*a).*b", "a(?>b+c)+d", "(a)?(?(1)b|c)d+e"])
def test_what_no_automaton_can_do_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        searcher(pattern)
    with pytest.raises(SpecError, match="too hard"):
        parse(f'S(x) {{ event a(x) : row(matches(x, r"{pattern}"))\n ere : a }}')


@pytest.mark.parametrize("pattern", ["^(?!health)", r"(?<!\d)\d{3}(?!\d)", "^(?=.*a)(?=.*b)", "^(?>a+)b"])
def test_what_is_quick_on_every_text_is_left_to_re(pattern: str) -> None:
    for text in ("health aab 123", "aab", "health", ""):
        assert searcher(pattern)(text) is (re.search(pattern, text) is not None)


def test_an_automaton_with_very_many_states_begins_again() -> None:
    rng = random.Random(3)
    machine = automaton("(a|b)*a(a|b){14}c")
    for _ in range(30):
        text = "".join(rng.choice("ab") for _ in range(400))
        assert machine.search(text) is False
        assert machine.search(text + "c") is (text[-15] == "a")
    assert len(machine._states) <= MOST_STATES + 1
