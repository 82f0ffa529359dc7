"""`mopsus equiv`: are two formulas the same as monitors?"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from mopsus.cli.compile import Events, listed
from mopsus.cli.messages import CommandError, unknown

if TYPE_CHECKING:
    from mopsus.model import Machine, Property, Spec, TableMachine

DIFFERENT = 1
SPEC_SUFFIX, AUTOMATON_SUFFIX = ".mop", ".hoa"
Formula = Annotated[
    str,
    typer.Argument(
        help="`LOGIC:FORMULA`, a spec file with one property, `FILE#NAME` for one of several, or a `.hoa` file."
    ),
]


def equiv(
    first: Formula,
    second: Formula,
    events: Events = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            help="Compare this category of the first with that of the second, and only what is named so.",
            metavar="FIRST=SECOND",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> int:
    """Decide whether two formulas, of whatever finite logics, are equivalent as monitors.

    They are if after every trace of at least one event both are in the same categories. Compared are the categories
    match, fail, validation and violation that both have; if they have none in common, match with validation and fail
    with violation. The events are those of `--events` or of a spec that is compared.

    Status 0: equivalent. 1: not, and a shortest trace that tells them apart is printed. 2: they cannot be compared.
    """
    from mopsus.logics.machines.compare import compare

    sides = (read_side(first), read_side(second))
    alphabet = common_events(sides, events)
    chosen = choose_pairs(pairs or [], *(side.categories(alphabet) for side in sides))
    found = compare(
        sides[0].machine(alphabet, tuple(chosen)), sides[1].machine(alphabet, tuple(chosen.values())), chosen
    )
    if json:
        answer = {
            "version": 1,
            "equivalent": found is None,
            "compared": [list(pair) for pair in chosen.items()],
            "trace": list(found.trace) if found else None,
            "first": sorted(found.first) if found else None,
            "second": sorted(found.second) if found else None,
        }
        print(jsonlib.dumps(answer))
    elif found is None:
        print(f"equivalent in {_compared(chosen)}")
    else:
        print(f"not equivalent in {_compared(chosen)}")
        print(f"after  {' '.join(found.trace)}")
        print(f"  {first}  says {', '.join(sorted(found.first)) or 'nothing'}")
        print(f"  {second}  says {', '.join(sorted(found.second)) or 'nothing'}")
    return DIFFERENT if found else 0


class Side(Protocol):
    """One of the two formulas that are compared."""

    @property
    def events(self) -> tuple[str, ...]:
        """The events that it says it is about; none if it does not say."""

    def categories(self, alphabet: Sequence[str]) -> frozenset[str]:
        """What it can report."""

    def machine(self, alphabet: Sequence[str], goal: Sequence[str]) -> TableMachine:
        """The machine for these categories; `LogicError` if it is not finite."""


@dataclass(frozen=True, slots=True)
class Text:
    """A formula on its own."""

    logic: str
    formula: str
    events: tuple[str, ...] = ()

    def categories(self, alphabet: Sequence[str]) -> frozenset[str]:
        from mopsus.logics import formula_categories

        return formula_categories(self.logic, self.formula, alphabet)

    def machine(self, alphabet: Sequence[str], goal: Sequence[str]) -> TableMachine:
        from mopsus.logics import compile_formula

        compiled = compile_formula(self.logic, self.formula, alphabet, goal=goal, allow_unmonitorable=True)
        return finite(self.logic, compiled.machines[0])


@dataclass(frozen=True, slots=True)
class Written:
    """A property of a spec; what it handles is what is compared."""

    spec: Spec
    prop: Property

    @property
    def events(self) -> tuple[str, ...]:
        return tuple(event.name for event in self.spec.events)

    def categories(self, alphabet: Sequence[str]) -> frozenset[str]:
        from mopsus.logics import property_categories

        found = property_categories(self.spec, self.prop)
        return frozenset(handler.category for handler in self.prop.handlers) or found

    def machine(self, alphabet: Sequence[str], goal: Sequence[str]) -> TableMachine:
        from mopsus.logics import compile_property
        from mopsus.model import Handler

        asked = replace(self.prop, handlers=tuple(map(Handler, dict.fromkeys(goal))))
        alone = replace(self.spec, properties=(asked,))
        return finite(self.prop.logic, compile_property(alone, asked, allow_unmonitorable=True))


def read_side(argument: str) -> Side:
    """The formula that an argument names."""
    file, _, name = argument.partition("#")
    if file.endswith(SPEC_SUFFIX):
        return Written(*find_property(file, name))
    if argument.endswith(AUTOMATON_SUFFIX):
        return Text("hoa", f'"{argument}"')
    logic, colon, formula = argument.partition(":")
    if not colon:
        hint = "write LOGIC:FORMULA, spec.mop, spec.mop#Name or automaton.hoa"
        raise CommandError(f"'{argument}' is no formula", hint=hint, code="CLI-005")
    return Text(logic.strip(), formula.strip())


def find_property(file: str, name: str) -> tuple[Spec, Property]:
    """The one property of a spec file, or that of a name, which may be its own or its spec's."""
    from mopsus.spec import load

    found = {(spec.name, prop.name): (spec, prop) for spec in load(file).values() for prop in spec.properties}
    named = {key: pair for key, pair in found.items() if name in ("", *key, "/".join(key))}
    if not named and name:
        raise unknown("property", name, [part for key in found for part in key])
    if len(named) != 1:
        names = ", ".join("/".join(key) for key in named) or "none"
        raise CommandError(
            f"{file} has {len(named)} properties: {names}", hint=f"choose one as {file}#NAME", code="CLI-002"
        )
    return next(iter(named.values()))


def common_events(sides: Sequence[Side], option: str | None) -> Sequence[str]:
    """The events of the comparison."""
    given = [side.events for side in sides if side.events]
    if option is not None:
        given.append(tuple(listed("--events", option)))
    if not given:
        raise CommandError("no events are given", hint="name them with --events a,b,c", code="CLI-005")
    for others in given[1:]:
        if odd := sorted(set(given[0]) ^ set(others)):
            raise CommandError(
                f"the two are about different events: only one has {', '.join(odd)}",
                hint="a spec ignores what it does not declare; declare the same events in both",
                code="CLI-005",
            )
    return given[0]


def choose_pairs(options: Sequence[str], first: frozenset[str], second: frozenset[str]) -> dict[str, str]:
    """The categories that are compared, each of the first formula with one of the second."""
    from mopsus.logics.machines.compare import shared_categories

    chosen: dict[str, str] = {}
    for option in options:
        mine, equals, theirs = (part.strip() for part in option.partition("="))
        if not equals:
            raise CommandError(f"--as {option} is not understood", hint="write --as match=validation", code="CLI-005")
        for name, known in ((mine, first), (theirs, second)):
            if name not in known:
                raise unknown("category", name, sorted(known))
        chosen[mine] = theirs
    chosen = chosen or shared_categories(first, second)
    if not chosen:
        raise CommandError(
            f"the two have no categories in common: {', '.join(sorted(first))} and {', '.join(sorted(second))}",
            hint="say which to compare with --as FIRST=SECOND",
            code="CLI-005",
        )
    return chosen


def finite(logic: str, machine: Machine) -> TableMachine:
    """The machine, if it is finite."""
    from mopsus.logics import LogicError
    from mopsus.model import TableMachine

    if not isinstance(machine, TableMachine):
        raise LogicError(
            f"formulas of '{logic}' have no finite machine, so they cannot be compared",
            code="LOGIC-042",
            hint="equivalence is decided for finite logics: ere, fsm, ltl, ptltl, hoa",
        )
    return machine


def _compared(pairs: dict[str, str]) -> str:
    return ", ".join(one if one == other else f"{one}={other}" for one, other in pairs.items())
