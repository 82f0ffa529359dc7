"""Random properties of random programs: state machines, expressions, formulas and grammars over calls of functions."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from interactive.counting import VARIABLES, braced, ends, initialization
from interactive.gdb.hooked.code import GLOBALS, POINTERS, WHOLE, Function

import mopsus
from mopsus.logics import LogicError, compile_spec


@dataclass(frozen=True)
class Property:
    """The text of a file, and its suffix."""

    text: str
    suffix: str


@dataclass(frozen=True)
class _Event:
    function: str
    after: bool
    values: tuple[tuple[str, str], ...]
    """Of the parameter, if there is one, and of fields: the name, and where it is read."""


def random_property(random: Random, functions: tuple[Function, ...], name: str) -> Property:
    keyed = random.random() < 0.7
    events = _events(random, functions, keyed)
    if random.random() < 0.35:
        return Property(_states(random, events, keyed), ".prop")
    while True:
        text = _formula(random, events, keyed, name)
        try:
            compile_spec(mopsus.parse(text)[name])
        except LogicError:  # a formula that no trace can decide
            continue
        return Property(text, ".mop")


def random_scenario(random: Random) -> str:
    """One that only looks."""
    when = random.choice(
        ("entering non-accepting state", "entering accepting state", "leaving state s1", "entering state s2")
    )
    stops = random.choice(("suspend_execution()", "pass"))
    return f"on {when} {{\n    print(old_state, new_state, binding)\n    {stops}\n}}\n"


# ---- events


def _events(random: Random, functions: tuple[Function, ...], keyed: bool) -> list[_Event]:
    kinds = random.choice((set(WHOLE), set(WHOLE), {"int", "long", "short"}, set(POINTERS), set(WHOLE) | set(POINTERS)))
    found: dict[tuple[str, bool], _Event] = {}
    for _ in range(12):
        function, after = random.choice(functions), random.random() < 0.35
        readings = _readings(function, after)
        values = []
        if keyed:
            fitting = [text for text, kind in readings if kind in kinds or random.random() < 0.05]
            if not fitting:
                continue
            values.append(("x", random.choice(fitting)))
        for number in range(random.choice((0, 0, 1, 2))):
            values.append((f"y{number}", random.choice(readings)[0]))
        found.setdefault((function.name, after), _Event(function.name, after, tuple(values)))
        if len(found) == 4:
            break
    if not found:  # no function has such a value
        return [_Event(functions[0].name, False, (("x", "limit"),) if keyed else ())]
    return list(found.values())[: random.randint(1, 4)]


def _readings(function: Function, after: bool) -> list[tuple[str, str]]:
    """What can be read at a function, with its type; "" for what only a debugger can read."""
    found = list(GLOBALS.items())
    for number, (name, kind) in enumerate(function.parameters, 1):
        found += [(name, kind), (f"arg {number}", kind)]
        if kind == "int *":
            found.append((f"*{name}", "int"))
        elif kind in POINTERS and kind != "void *":
            found.append((f"*{name}", ""))
        elif kind in WHOLE:
            found.append((f'"{name} + 1"', ""))
    if after and function.result != "void":
        found.append(("ret", function.result))
        if function.result == "int *":
            found.append(("*ret", "int"))
    return found


# ---- languages


def _states(random: Random, events: list[_Event], keyed: bool) -> str:
    names = ["init", *(f"s{k}" for k in range(1, random.randint(2, 4)))]
    lines = ["slice on x"] if keyed else []
    if computes := random.random() < 0.6:
        lines.append(f"initialization {braced(initialization(random), '')}")
    for name in names:
        acceptance = random.choice(("", "accepting", "non-accepting" if name != "init" else "accepting"))
        lines.append(f"state {name} {acceptance} {{")
        for event in random.sample(events, random.randint(0 if name != "init" else 1, len(events))):
            values = ", ".join(f"{text} as {value}" for value, text in event.values)
            call = f"{'after ' if event.after else ''}event {event.function}({values})"
            seen = [*VARIABLES, *(value for value, _ in event.values)]
            taken = ends(random, names, seen) if computes else f"success {random.choice(names)}"
            lines.append(f"    transition {{ {call} {taken} }}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _formula(random: Random, events: list[_Event], keyed: bool, name: str) -> str:
    lines = [f"{name}({'x' if keyed else ''}) {{"]
    for number, event in enumerate(events):
        fields = ", ".join(value for value, _ in event.values[keyed:])
        head = f"{'x' if keyed else ''}{'; ' if fields else ''}{fields}"
        reads = ", ".join(f"{value} = {text}" for value, text in event.values)
        value = f" && value({reads})" if reads else ""
        when = "after" if event.after else "before"
        lines.append(f"    event e{number} {when}({head}) : call({event.function}){value}")
    names = [f"e{number}" for number in range(len(events))]
    lines += [f"    {line}" for line in random.choice((_fsm, _fsm, _ere, _ltl, _cfg))(random, names)]
    return "\n".join([*lines, "}"]) + "\n"


def _fsm(random: Random, events: list[str]) -> list[str]:
    states = [f"s{k}" for k in range(1, random.randint(2, 5))]
    lines = ["fsm :"]
    for state in states:
        taken = random.sample(events, random.randint(0, len(events)))
        lines.append(f"    {state} [ {' '.join(f'{event} -> {random.choice(states)}' for event in taken)} ]")
    goals = [goal for goal in (*states, "fail") if random.random() < 0.4] or ["fail"]
    return [*lines, *(f"@{goal} {{ }}" for goal in goals)]


def _ere(random: Random, events: list[str], depth: int = 3) -> list[str]:
    def expression(depth: int) -> str:
        if depth == 0 or random.random() < 0.2:
            return random.choice(events)
        one, other = expression(depth - 1), expression(depth - 1)
        return random.choice((f"({one} {other})", f"({one} | {other})", f"{one}*", f"{one}+", f"~({one})"))

    return [f"ere : {expression(depth)}", random.choice(("@match { }", "@fail { }", "@match { }\n    @fail { }"))]


def _ltl(random: Random, events: list[str]) -> list[str]:
    def formula(depth: int) -> str:
        if depth == 0 or random.random() < 0.2:
            return random.choice(events)
        one, other = formula(depth - 1), formula(depth - 1)
        return random.choice(
            (
                f"G ({one})",
                f"F ({one})",
                f"X ({one})",
                f"!({one})",
                f"({one} U {other})",
                f"({one} => {other})",
                f"({one} or {other})",
            )
        )

    return [
        f"ltl : {formula(3)}",
        random.choice(("@violation { }", "@validation { }", "@violation { } @validation { }")),
    ]


def _cfg(random: Random, events: list[str]) -> list[str]:
    one, other = random.choice(events), random.choice(events)
    return [
        f"cfg : S -> epsilon | {one} S {other} | {random.choice(events)} S",
        random.choice(("@match { }", "@fail { }")),
    ]
