"""`mopsus compile`: the machine of one formula, with its sets."""

from __future__ import annotations

import json as jsonlib
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import AllowUnmonitorable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mopsus.logics import CompiledSpec
    from mopsus.model import Diagnostic, Families, Machine


class CompiledForm(StrEnum):
    """How a compiled formula can be printed."""

    TEXT = "text"
    DOT = "dot"
    MERMAID = "mermaid"
    HOA = "hoa"


Events = Annotated[
    str | None,
    typer.Option(
        "--events",
        "-e",
        help="The events, separated by commas. Formulas of shml and maxhml can say them themselves.",
        metavar="NAME,…",
    ),
]


def compile(
    logic: Annotated[str, typer.Argument(help="The logic's name.", metavar="LOGIC")],
    formula: Annotated[str, typer.Argument(help="The formula; `-` for standard input.", metavar="FORMULA")],
    events: Events = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal", "-g", help="The categories to report; by default those of the logic.", metavar="CATEGORY,…"
        ),
    ] = None,
    suffix: Annotated[bool, typer.Option("--suffix", help="Match some suffix of the trace.")] = False,
    allow_unmonitorable: AllowUnmonitorable = False,
    json: Annotated[bool, typer.Option("--json", help="Print the machine as JSON.")] = False,
    to: Annotated[CompiledForm, typer.Option("--to", help="The form to print it in.")] = CompiledForm.TEXT,
) -> int:
    """Compile one formula, and print the machine with its creation, enable and coenable sets.

    An event creates a monitor instance if it can be the first of a trace that reaches a goal. The enable sets of an
    event are what can have happened before it on the way to a goal; its coenable sets, what must still happen after it.

    As dot, mermaid or hoa, the machine alone is printed.
    """
    if json and to is not CompiledForm.TEXT:
        raise CommandError(f"--json and --to {to.value} exclude each other", hint="use one of them", code="CLI-005")
    compiled = compile_argument(
        logic,
        formula,
        listed("--events", events) if events is not None else None,
        goal=listed("--goal", goal) if goal is not None else (),
        suffix=suffix,
        allow_unmonitorable=allow_unmonitorable,
    )
    show_warnings(compiled.warnings)
    machine = compiled.machines[0]
    if json:
        from mopsus.logics.machines.data import machine_data

        text = compiled.spec.properties[0].formula
        data = {"logic": logic, "formula": text, **machine_data(machine)}
        print("{" + ",\n ".join(f"{jsonlib.dumps(key)}: {jsonlib.dumps(value)}" for key, value in data.items()) + "}")
    else:
        sys.stdout.write(render(machine, to))
    return 0


def compile_argument(
    logic: str,
    formula: str,
    events: Sequence[str] | None,
    *,
    goal: Sequence[str] = (),
    suffix: bool = False,
    allow_unmonitorable: bool = False,
) -> CompiledSpec:
    """The machine of a formula given on the command line; events None: the formula says them itself."""
    from mopsus.logics import compile_formula, load_logic

    if events is None and load_logic(logic).alphabet is None:
        listed("--events", None)

    return compile_formula(
        logic,
        read_standard_input() if formula == "-" else formula,
        events,
        goal=goal,
        suffix=suffix,
        allow_unmonitorable=allow_unmonitorable,
        file="<stdin>" if formula == "-" else "<formula>",
    )


def listed(option: str, text: str | None) -> list[str]:
    """The names that an option gives, separated by commas or blanks; at least one, none twice."""
    names = (text or "").replace(",", " ").split()
    if not names:
        raise CommandError(f"no names are given by {option}", hint=f"write {option} a,b,c", code="CLI-005")
    for name in names:
        if not name.isidentifier():
            raise CommandError(f"'{name}' is not a name", hint=f"write {option} a,b,c", code="CLI-005")
        if names.count(name) > 1:
            raise CommandError(f"{option} has '{name}' twice", hint="leave one out", code="CLI-005")
    return names


def read_standard_input() -> str:
    """The text that comes in."""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise CommandError("standard input is not UTF-8 text") from None


def show_warnings(warnings: Sequence[Diagnostic]) -> None:
    """Print warnings to standard error."""
    if warnings:
        from mopsus.spec.diagnostics import render_all

        print(render_all(warnings), file=sys.stderr)


def render(machine: Machine, form: CompiledForm) -> str:
    """The machine as the command prints it."""
    if form is CompiledForm.HOA:
        from mopsus.logics.hoa.printer import export_machine

        return export_machine(machine)
    from mopsus.logics import draw

    drawn = draw(machine, form.value)
    return drawn if form is not CompiledForm.TEXT else "\n".join([drawn, *_sets(machine), ""])


def _sets(machine: Machine) -> Iterator[str]:
    yield f"creation: {', '.join(event for event in machine.alphabet if event in machine.creation) or 'no event'}"
    for title, families in (("enable", machine.enable), ("coenable", machine.coenable)):
        for category in sorted(families):
            yield f"{title} sets for {category}:"
            width = max(map(len, machine.alphabet))
            for event in machine.alphabet:
                yield f"  {event:<{width}}  {_family(families[category], event)}"


def _family(families: Families, event: str) -> str:
    if event not in families:
        return "any"
    found = sorted(families[event], key=lambda events: (len(events), sorted(events)))
    return " ".join("{" + ", ".join(sorted(events)) + "}" for events in found) or "none"
