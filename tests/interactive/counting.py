"""Random code of properties: guards and blocks that count and compare, and now and then do something else."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

VARIABLES = ("count", "most", "last")
STATES = ("init", "s1", "s2")
EVENTS = ("f", "g", "h")
NUMBERS = ("0", "1", "1", "2", "3", "-1", "7", "True", "False", str(1 << 31), str((1 << 63) - 1), str(1 - (1 << 63)))
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def expression(random: Random, names: Sequence[str], depth: int = 3) -> str:
    """Of integers."""
    if depth == 0 or random.random() < 0.25:
        return random.choice([*names, *names, random.choice(NUMBERS)])

    def part() -> str:
        return expression(random, names, depth - 1)

    match random.randrange(9):
        case 0 | 1:
            return f"({part()} {random.choice('+-')} {part()})"
        case 8:  # by a number: powers of powers would take more memory than there is
            return f"({part()} * {random.choice(NUMBERS)})"
        case 3:
            return f"({part()} {random.choice(COMPARISONS)} {part()})"
        case 4:
            return f"({part()} {random.choice(COMPARISONS)} {part()} {random.choice(COMPARISONS)} {part()})"
        case 5:
            return f"({part()} {random.choice(('and', 'or'))} {part()} {random.choice(('and', 'or'))} {part()})"
        case 6:
            return random.choice((f"(not {part()})", f"(-{part()})"))
        case _:
            return f"({part()} if {part()} else {part()})"


def guard(random: Random, names: Sequence[str]) -> str:
    """What decides on a transition."""
    simple = f"return {expression(random, names, 2)}"
    match random.randrange(6):
        case 0:
            return f"if {expression(random, names, 1)}: return None\n{simple}"
        case 1:
            return f"if {expression(random, names, 1)}:\n    {simple}\nelse:\n    pass"
        case 2:
            return f"if {expression(random, names, 1)}:\n    {simple}\nelif {expression(random, names, 1)}: return"
        case _:
            return simple


def block(random: Random, names: Sequence[str], assigned: Sequence[str], states: Sequence[str] = ()) -> str:
    """What an end does."""
    lines = []
    for _ in range(random.randint(1, 3)):
        name = random.choice(assigned)
        value = expression(random, names, 2)
        line = random.choice(
            (
                f"{name} += 1",
                f"{name} *= {random.choice(NUMBERS)}",
                f"{name} {random.choice('+-')}= {value}",
                f"{name} = {value}",
            )
        )
        if random.random() < 0.2:
            line = (
                f"if {expression(random, names, 1)}: {line}\nelse: {random.choice(assigned)} = {random.choice(NUMBERS)}"
            )
        lines.append(line)
    if states and random.random() < 0.2:
        lines.append(f'if {expression(random, names, 1)}: return "{random.choice(states)}"')
    if random.random() < 0.01:
        lines.append(random.choice((f"{assigned[0]} //= 2", f"{assigned[0]} = abs({names[0]})", "import math")))
    return "\n".join(lines)


def initialization(random: Random) -> str:
    """Values of some of the variables; not all of these are numbers."""
    values = ["0", "0", "3", "True", str((1 << 63) - 2)]
    if random.random() < 0.1:
        values += [str(1 << 64), "'text'"]
    given = random.sample(VARIABLES, random.choice((2, 3, 3, 3, 3)))
    return "\n".join(f"{name} = {random.choice(values)}" for name in given)


def braced(code: str, indent: str) -> str:
    """A block of a property file."""
    return "{\n" + "".join(f"{indent}    {line}\n" for line in code.splitlines()) + indent + "}"


def ends(random: Random, states: Sequence[str], names: Sequence[str], chance: float = 0.6) -> str:
    """The part of a transition behind its event: with code, or without."""
    text = []
    guarded = random.random() < chance
    if guarded:
        text.append(braced(guard(random, names), "        "))
    wanted = random.choice((("success",), ("success", "failure"), ("failure",))) if guarded else ("success",)
    for end in wanted:
        runs = random.random() < chance
        code = braced(block(random, names, VARIABLES, states), "        ") if runs else ""
        target = random.choice((*states, "")) if runs else random.choice(states)
        text.append(f"{end} {code} {target}".rstrip())
    return "\n        ".join(text)


def random_property(random: Random, keyed: bool) -> str:
    """Its text. Some events carry a number, which hides a variable of that name in some."""
    lines = ["slice on x"] if keyed else []
    lines.append(f"initialization {braced(initialization(random), '')}")
    field = random.choice(("y", "y", "last"))
    for state in STATES:
        acceptance = random.choice(("", "", "accepting", "accepting", "non-accepting" if state != "init" else ""))
        lines.append(f"state {state} {acceptance} {{")
        for event in random.choices(EVENTS, k=random.randint(1, 4)):
            given = {**({"x": "x"} if keyed else {}), **({field: "y"} if event == "f" else {})}
            values = ", ".join(f"{text} as {name}" for name, text in given.items())
            names = sorted({*VARIABLES, *given})
            lines.append(f"    transition {{ event {event}({values})\n        {ends(random, STATES, names)}\n    }}")
        lines.append("}")
    return "\n".join(lines) + "\n"
