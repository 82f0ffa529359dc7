"""`mopsus fmt`: specs in canonical form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.model.text import printable

if TYPE_CHECKING:
    from mopsus.model import Diagnostic


def fmt(
    files: Annotated[list[str], typer.Argument(help="Spec files; `-` for standard input.", metavar="FILE…")],
    check: Annotated[
        bool, typer.Option("--check", help="Only name the files that are not in canonical form; status 1 if any.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Put the canonical form into the files.")] = False,
) -> int:
    """Print specs in canonical form.

    Comments are kept. With an error in any of the files, nothing is printed or written.
    """
    if check and write:
        raise CommandError("--check and --write exclude each other", hint="choose one", code="CLI-005")
    before = {name: read(name) for name in files}
    after = canonical(before)
    changed = [name for name in before if after[name] != before[name]]
    if check:
        for name in changed:
            print(printable(name, len(name)))
        return 1 if changed else 0
    for name, text in after.items():
        if not write or name == "-":
            sys.stdout.write(text)
        elif name in changed:
            replace(name, text)
    return 0


def read(name: str) -> str:
    """The text of a file, or of standard input."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"cannot read {name}: it is not UTF-8 text", hint="is it a specification?") from None


def canonical(texts: dict[str, str]) -> dict[str, str]:
    """The canonical form of each text; one `SpecError` with the errors of all of them if there are any."""
    from mopsus.spec import SpecError
    from mopsus.spec.printer import format_file

    formatted: dict[str, str] = {}
    errors: list[Diagnostic] = []
    for name, text in texts.items():
        try:
            formatted[name] = format_file(text, "<stdin>" if name == "-" else name)
        except SpecError as error:
            errors += error.diagnostics
    if errors:
        raise SpecError(errors)
    return formatted


def replace(name: str, text: str) -> None:
    """Put a text into a file, and say so."""
    try:
        Path(name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise CommandError(f"cannot write {name}: {error.strerror}") from None
    print(f"{printable(name)}: written in canonical form", file=sys.stderr)
