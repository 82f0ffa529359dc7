"""Random formulas of ptcaret and words with calls, from a `random.Random`."""

from __future__ import annotations

EVENTS = ("call", "begin", "end", "return", "a", "b")
ROLES = {"call": "call", "begin": "begin", "end": "end", "return": "return"}
STACKS = ("s@b", "s@c", "s@bc")


def random_formula(rng, events, depth=3, *, calls=True, begins=True):
    """A text; with neither calls nor begins it has no operator that needs any."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([*events, *events, "true", "false"])

    def part():
        return random_formula(rng, events, depth - 1, calls=calls, begins=begins)

    stacks = [mode for mode in STACKS if (calls and "c" in mode) or (begins and "b" in mode)]
    mode = rng.choice(["", *["a"] * 2 * (calls or begins), *stacks])
    at = rng.choice([f"@{mode[2:]} " for mode in stacks] or ["not "])
    short = mode if mode in ("", "a") else "a"
    kind = rng.randrange(9)
    match kind:
        case 0:
            return f"({part()} {rng.choice(('and', 'or', 'xor', '=>', '<=>'))} {part()})"
        case 1:
            return f"not ({part()})"
        case 2:
            return f"{rng.choice(('', '~'))}(*{short})({part()})"
        case 3:
            return f"<*{mode}>({part()})"
        case 4:
            return f"[*{mode}]({part()})"
        case 5 | 6:
            return f"(({part()}) {rng.choice(('', '~'))}S{mode} ({part()}))"
    return f"{at}({part()})"


def random_word(rng, events, length=20, order=0.8):
    """A word; `order` is how often an event keeps calls and returns in step."""
    word = []
    opened = []
    for _ in range(rng.randint(1, length)):
        event = rng.choice(events)
        if rng.random() < order:
            if event == "begin" and "call" in events and (not opened or opened[-1] != "call"):
                event = "call"
            elif event in ("end", "return") and opened:
                event = {"begin": "end", "call": "return"}[opened[-1]]
                event = event if event in events else rng.choice(events)
        if event in ("call", "begin"):
            opened.append(event)
        elif event in ("end", "return") and opened:
            opened.pop()
        word.append(event)
    return word
