"""Random specifications and parametric traces: one generator, for seeded bulk runs and for Hypothesis.

A generator takes a `random.Random`. Hypothesis can hand out such an object whose draws it records,
so the same code serves to search many cases quickly and to shrink one that fails.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st
from oracle.machines import random_machine
from oracle.slicing import Occurrence, Subject

from mopsus.model import BindingMode, Code, Event, Handler, Modifiers, Parameter, Property, Spec

Made = TypeVar("Made")

RESET = "__RESET"
"""The body of a handler that does nothing but restart its property's machine."""


class Colour(enum.Enum):
    """An immutable value with a type of its own."""

    RED = 1
    BLUE = "1"


MIXED: tuple[Any, ...] = (
    1, 1.0, True, "1", b"1", 2, -1, 0.5, "", "é", None, 2**70, -(2**63),
    Colour.RED, Colour.BLUE, (1,), (True, "1"), ((), 1.0),
)  # fmt: skip
"""Values of which several are equal to Python and none are the same to a monitor."""
INTEGERS: tuple[Any, ...] = (0, 1, 2, -1, 2**63 - 1, -(2**63))
TEXTS: tuple[Any, ...] = ("", "a", "b", "1", "é", "a longer text than fits beside its length")
FLOATS: tuple[Any, ...] = (0.0, 1.0, -1.5, 1e300)
BOOLS: tuple[Any, ...] = (False, True)


@dataclass(frozen=True)
class Case:
    """A spec and a trace of it."""

    spec: Spec
    trace: tuple[Occurrence, ...]

    def __str__(self) -> str:
        spec = self.spec
        lines = [f"{spec.modifiers}", f"parameters {', '.join(parameter.name for parameter in spec.parameters)}"]
        lines += [f"{'creation ' * e.creation}event {e.name}({', '.join(e.parameters)})" for e in spec.events]
        for prop in spec.properties:
            handlers = " ".join(f"@{h.category}{' ' + RESET if h.code else ''}" for h in prop.handlers)
            lines.append(f"{prop.logic} : {prop.formula}   {handlers}")
        lines += [f"  {e.event} {dict(e.binding)}" + (f" in {e.thread}" if e.thread else "") for e in self.trace]
        return "\n".join(lines)


def resets(spec: Spec) -> list[frozenset[str]]:
    """Of each property, the categories whose handler restarts it."""
    return [frozenset(h.category for h in prop.handlers if h.code and RESET in h.code.text) for prop in spec.properties]


def random_spec(rng: Random, *, parameters: int = 4, raw: bool = True) -> Spec:
    """A spec with up to `parameters` parameters, up to 6 events and up to 3 properties (none: raw, if asked for)."""
    names = [f"p{number}" for number in range(rng.randint(0, parameters))]
    alphabet = [f"e{number}" for number in range(rng.randint(1, 6))]
    events = {
        event: tuple(rng.sample(names, min(len(names), rng.choice((0, 1, 1, 1, 2, 2, 3, 4))))) for event in alphabet
    }
    if rng.random() < 0.9:  # a parameter that nothing binds is rarely interesting
        names = [name for name in names if any(name in bound for bound in events.values())]
    declared = rng.random() < 0.3
    count = 0 if raw and rng.random() < 0.02 else rng.choice((1, 1, 1, 2, 3))
    modifiers = Modifiers(
        binding=rng.choice((BindingMode.ANY, BindingMode.ANY, BindingMode.MAXIMAL, BindingMode.FULL)),
        connected=rng.random() < 0.25,
        suffix=rng.random() < 0.25,
        every=rng.random() < 0.2,
        perthread=rng.random() < 0.2,
        unsynchronized=rng.random() < 0.2,
        decentralized=rng.random() < 0.2,
    )
    make = (_ere,) if modifiers.suffix else (_ere, _fsm)  # suffix matching is defined for patterns
    return Spec(
        name="Random",
        parameters=tuple(Parameter(name) for name in names),
        modifiers=modifiers,
        events=tuple(Event(event, bound, creation=declared and rng.random() < 0.4) for event, bound in events.items()),
        properties=tuple(
            rng.choice(make)(rng, f"property{number}", alphabet, modifiers.suffix) for number in range(count)
        ),
    )


def random_trace(
    rng: Random,
    events: Mapping[str, Sequence[str]],
    values: Sequence[Sequence[Any]] = (MIXED,),
    *,
    length: int = 24,
    threads: bool = False,
    noise: bool = False,
) -> tuple[Occurrence, ...]:
    """A trace over few values of each parameter; each parameter draws from one of the kinds in `values`.

    `noise` adds an event that nobody declares.
    """
    shared = rng.choice(values)
    pools = {}
    for parameter in sorted({name for bound in events.values() for name in bound}):
        kind = shared if rng.random() < 0.7 else rng.choice(values)
        pools[parameter] = rng.sample(kind, min(len(kind), rng.choice((1, 1, 2, 2, 3))))
    names = [*events, *["noise"] * noise]
    count = rng.choice((1, 2, 3)) if threads else 1
    trace = []
    for _ in range(rng.randint(0, length)):
        event = rng.choice(names)
        binding = {name: rng.choice(pools[name]) for name in events.get(event, ())}
        trace.append(Occurrence(event, binding, rng.randrange(count)))
    return tuple(trace)


def random_case(rng: Random, values: Sequence[Sequence[Any]] = (MIXED,), *, noise: bool = False) -> Case:
    spec = random_spec(rng)
    events = {event.name: event.parameters for event in spec.events}
    return Case(spec, random_trace(rng, events, values, threads=spec.modifiers.perthread, noise=noise))


def drawn(make: Callable[[Random], Made]) -> st.SearchStrategy[Made]:
    """The Hypothesis strategy of what `make` makes."""
    return st.builds(make, st.randoms(use_true_random=False))


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case that still fails, and of which no single event, property or modifier can be taken away."""
    shrunk = True
    while shrunk:
        shrunk = False
        for smaller in _smaller(case):
            if fails(smaller):
                case, shrunk = smaller, True
                break
    return case


def _smaller(case: Case) -> list[Case]:
    spec = case.spec
    found = [Case(spec, case.trace[:i] + case.trace[i + 1 :]) for i in range(len(case.trace))]
    plain = Modifiers(suffix=spec.modifiers.suffix)
    for name in ("binding", "connected", "every", "perthread", "unsynchronized", "decentralized"):
        if getattr(spec.modifiers, name) != getattr(plain, name):
            changed = replace(spec.modifiers, **{name: getattr(plain, name)})
            found.append(Case(replace(spec, modifiers=changed), case.trace))
    if len(spec.properties) > 1:
        for i in range(len(spec.properties)):
            rest = spec.properties[:i] + spec.properties[i + 1 :]
            found.append(Case(replace(spec, properties=rest), case.trace))
    return found


def _handlers(rng: Random, categories: Sequence[str], default: bool) -> tuple[Handler, ...]:
    """Some of the categories, in any order; none at all only where the logic has a `default`."""
    if default and rng.random() < 0.2:
        return ()
    chosen = rng.sample(categories, rng.randint(1, min(2, len(categories))))
    return tuple(Handler(category, Code(RESET) if rng.random() < 0.15 else None) for category in chosen)


def _ere(rng: Random, name: str, alphabet: Sequence[str], suffix: bool) -> Property:
    categories = ["match"] if suffix else ["match", "fail"]
    return Property(name, "ere", _pattern(rng, alphabet, rng.choice((1, 2, 3, 3))), _handlers(rng, categories, True))


def _pattern(rng: Random, alphabet: Sequence[str], depth: int) -> str:
    if depth == 0:
        return rng.choice(alphabet) if rng.random() < 0.95 else rng.choice(("epsilon", "empty"))

    def part() -> str:
        return _pattern(rng, alphabet, depth - 1)

    kind = rng.random()
    if kind < 0.5:
        return f"({' '.join(part() for _ in range(rng.randint(2, 3)))})"
    if kind < 0.7:
        return f"({part()} | {part()})"
    if kind < 0.85:
        return f"({part()}){rng.choice('*+')}"
    if kind < 0.95:
        return f"~({part()})"
    return f"({part()} & {part()})"


def _fsm(rng: Random, name: str, alphabet: Sequence[str], suffix: bool) -> Property:
    states = [f"s{number}" for number in range(rng.randint(1, 4))]
    items = []
    for state in states:
        moves = [f"{event} -> {rng.choice(states)}" for event in alphabet if rng.random() < 0.6]
        if rng.random() < 0.3:
            moves.append(f"default {rng.choice(states)}")
        items.append(f"{state} [ {', '.join(moves)} ]")
    categories = [*states, "fail", "fail"]
    if rng.random() < 0.2:
        items.append(f"alias group = {', '.join(rng.sample(states, rng.randint(1, len(states))))}")
        categories.append("group")
    return Property(name, "fsm", " ".join(items), _handlers(rng, list(dict.fromkeys(categories)), True))


def random_subject(rng: Random) -> tuple[Subject, bool]:
    """A subject over machines made at random, and whether its creation events were declared."""
    parameters = tuple("abcd"[: rng.randint(0, 4)])
    events = {
        f"e{number}": tuple(rng.sample(parameters, rng.randint(0, min(3, len(parameters)))))
        for number in range(rng.randint(1, 5))
    }
    restarts = [frozenset(c for c in ("match", "fail") if rng.random() < 0.15) for _ in range(rng.choice((1, 1, 2)))]
    machines = tuple(
        random_machine(rng, tuple(events), mine, anytime=any(other for other in restarts if other is not mine))
        for mine in restarts
    )
    declared = frozenset(event for event in events if rng.random() < 0.4) if rng.random() < 0.4 else frozenset()
    subject = Subject(
        parameters=parameters,
        events=events,
        machines=machines,
        creation=declared or frozenset().union(*(machine.creation for machine in machines)),
        resets=tuple(restarts),
        binding=rng.choice(list(BindingMode)),
        connected=rng.random() < 0.25,
        perthread=rng.random() < 0.2,
    )
    return subject, bool(declared)
