"""`mopsus graph`: the machines of a spec, drawn."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError, unknown
from mopsus.cli.options import AllowUnmonitorable

if TYPE_CHECKING:
    from mopsus.model import Machine, Property, Spec
    from mopsus.model.drawing import Drawable


class Form(StrEnum):
    """How a machine can be drawn."""

    TEXT = "text"
    SVG = "svg"
    PNG = "png"
    DOT = "dot"
    MERMAID = "mermaid"
    HOA = "hoa"


SUFFIXES = {".txt": Form.TEXT, ".gv": Form.DOT, ".mmd": Form.MERMAID} | {f".{form.value}": form for form in Form}

DECENTRAL = (".xml", ".toml")


def graph(
    file: Annotated[str, typer.Argument(help="A spec file, or a decentralized specification.", metavar="SPEC")],
    spec: Annotated[str | None, typer.Option("--spec", help="Only the spec of this name.", metavar="NAME")] = None,
    prop: Annotated[
        str | None, typer.Option("--property", help="Only the property of this name.", metavar="NAME")
    ] = None,
    to: Annotated[
        Form | None, typer.Option("--to", help="The form; by default as the output's suffix says, else text.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.", metavar="FILE")] = None,
    allow_unmonitorable: AllowUnmonitorable = False,
) -> int:
    """Draw the machines that a spec's properties become.

    As text, all of them; in any other form, one: choose it with `--spec` and `--property` where there are several.
    The form hoa is for other tools, and for properties of the logic `hoa`.
    Of a decentralized specification (`.xml`, `.toml`): as text, all automata; in any other form, that of the
    monitor chosen with `--spec`, else which monitors tell which.
    """
    form = to or form_of(output)
    if Path(file).suffix in DECENTRAL:
        from mopsus.cli.decentral import draw_specification

        deliver(draw_specification(Path(file), spec, form), form, output)
        return 0

    from mopsus.logics import compile_property
    from mopsus.spec import load

    chosen = choose(load(file), spec, prop)
    if form is not Form.TEXT and len(chosen) > 1:
        names = ", ".join(title(*each) for each in chosen)
        raise CommandError(
            f"{form.value} shows one machine, and there are {len(chosen)}: {names}",
            hint="choose one with --spec and --property",
            code="CLI-002",
        )
    drawn = [
        render(compile_property(*each, allow_unmonitorable=allow_unmonitorable), form, title(*each)) for each in chosen
    ]
    deliver(b"\n".join(drawn), form, output)
    return 0


def render(machine: Machine, form: Form, title: str) -> bytes:
    """The drawing of one machine, as it goes into a file."""
    if form is Form.HOA:
        from mopsus.logics.hoa.printer import export_machine

        return export_machine(machine, title).encode()
    return render_drawing(machine, form, title)


def render_drawing(drawn: Drawable, form: Form, title: str) -> bytes:
    """What can be drawn, in any form but that of other tools."""
    if form in (Form.SVG, Form.PNG):
        from mopsus.report.picture import draw_picture

        return draw_picture(drawn, form.value, title)
    from mopsus.logics import draw

    return draw(drawn, form.value, title).encode()


def form_of(output: Path | None) -> Form:
    """The form that a file's name asks for."""
    if output is None:
        return Form.TEXT
    if output.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise CommandError(f"{output} does not say its form", hint=f"use --to, or end it in {known}", code="CLI-003")
    return SUFFIXES[output.suffix]


def choose(specs: dict[str, Spec], name: str | None, property_name: str | None) -> list[tuple[Spec, Property]]:
    """The properties asked for, each with its spec; at least one."""
    if name is not None and name not in specs:
        raise unknown("spec", name, specs)
    pairs = [(spec, prop) for spec in specs.values() if name in (None, spec.name) for prop in spec.properties]
    if not pairs:
        raise CommandError("there is no property to draw", hint="the specs only have actions", code="CLI-002")
    chosen = [pair for pair in pairs if property_name in (None, pair[1].name)]
    if not chosen:
        raise unknown("property", str(property_name), [prop.name for _, prop in pairs])
    return chosen


def title(spec: Spec, prop: Property) -> str:
    """What a drawing is called: the spec's name, with the property's where it has several."""
    return spec.name if len(spec.properties) == 1 else f"{spec.name}/{prop.name}"


def deliver(data: bytes, form: Form, output: Path | None) -> None:
    """Write a drawing to its file or to standard output."""
    if output is None:
        if form is Form.PNG and sys.stdout.isatty():
            raise CommandError("a PNG is no use on a terminal", hint="name a file with -o", code="CLI-003")
        sys.stdout.buffer.write(data)
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror}") from None
