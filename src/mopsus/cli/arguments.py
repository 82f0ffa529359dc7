"""What stands on a command line before the options: specs, and what they are checked against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mopsus.cli.messages import CommandError

if TYPE_CHECKING:
    from mopsus.events.weave.launch import Program

SPEC_SUFFIXES = (".mop", ".hml", ".prop")
SPEC_HINT = f"name a file that ends in {' or '.join(SPEC_SUFFIXES)}, or use --spec"


def sort_out(files: Sequence[str], extra: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The specs and the traces among the arguments."""
    specs = [*extra, *(Path(name) for name in files if name.endswith(SPEC_SUFFIXES))]
    if not specs:
        raise CommandError("no spec given", hint=SPEC_HINT, code="CLI-005")
    return specs, [name for name in files if not name.endswith(SPEC_SUFFIXES)]


def split(
    arguments: Sequence[str], extra: Sequence[Path], module: str | None, *, needs_spec: bool = True
) -> tuple[list[Path], Program]:
    """The specs and the program among the arguments: specs come first."""
    count = next((k for k, name in enumerate(arguments) if not name.endswith(SPEC_SUFFIXES)), len(arguments))
    specs = [*extra, *map(Path, arguments[:count])]
    rest = list(arguments[count:])
    if not specs and needs_spec:
        raise CommandError("no spec given", hint=f"{SPEC_HINT}, or choose contracts by --contracts", code="CLI-005")
    return specs, program_of(rest, module)


def program_of(words: Sequence[str], module: str | None) -> Program:
    """The program that the words after `--` name."""
    from mopsus.events.weave.launch import Program

    rest = list(words)
    if module is None and rest[:1] == ["-m"]:
        module, rest = (rest[1] if len(rest) > 1 else None), rest[2:]
    if module is not None:
        return Program(module, True, tuple(rest))
    if not rest:
        hint = "write `-- script.py` after everything else, or `-m module`"
        raise CommandError("no program given", hint=hint, code="CLI-005")
    return Program(rest[0], False, tuple(rest[1:]))
