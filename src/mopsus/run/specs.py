"""The specs of a run, read and compiled from their files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mopsus.run.messages import RunError

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec
    from mopsus.model import Diagnostic
    from mopsus.spec.source import Source

Loaded: TypeAlias = "tuple[dict[str, CompiledSpec], list[Diagnostic]]"
"""Specs by name, with what there is to say about them."""


def load_specs(
    files: Sequence[Path],
    *,
    at_end: bool = False,
    allow_unmonitorable: bool = False,
    first_match: bool = False,
    functions: Callable[[Path], Collection[str]] | None = lambda file: (),
) -> Loaded:
    """The specs of the files by name, with what there is to say about them.

    `functions` gives the names of functions that the machines of a file find beside what it says itself; None: nobody
    knows yet.
    """
    from mopsus.logics import compile_spec
    from mopsus.spec import load_file

    compiled: dict[str, CompiledSpec] = {}
    warnings: list[Diagnostic] = []
    for file in files:
        read = load_file(file)
        warnings += read.warnings
        for name, spec in read.specs.items():
            if name in compiled:
                hint = "rename one of them, or check them one at a time"
                raise RunError(f"there are two specs named {name}", hint=hint, code="CLI-002")
            compiled[name] = compile_spec(
                spec,
                read.source,
                at_end=at_end,
                allow_unmonitorable=allow_unmonitorable,
                first_match=first_match,
            )
            warnings += compiled[name].warnings
            if not allow_unmonitorable:
                _check_that_something_can_be_found(compiled[name], read.warnings)
            if functions is not None:
                _check_machines(compiled[name], read.source, functions(file))
    if files and not compiled:
        named = ", ".join(str(file) for file in files)
        raise RunError(f"there is no spec in {named}", hint="a spec is `Name(parameters) { … }`", code="CLI-002")
    return compiled, warnings


_NOTHING = ("LOGIC-022", "SPEC-061")
"""A property that can never report anything; no property at all."""


def _check_that_something_can_be_found(compiled: CompiledSpec, warnings: Iterable[Diagnostic]) -> None:
    """Refuse a spec without actions that has no properties, or only some which can never report anything: that they do
    not is no good news.

    The states of machines with variables are of use to a debugger also if none is reported.
    """
    from mopsus.model import GuardedMachine

    if any(isinstance(machine, GuardedMachine) or machine.reportable() for machine in compiled.machines):
        return
    if any(event.action is not None for event in compiled.spec.events):
        return
    own = (each for each in warnings if each.span == compiled.spec.span)
    if never := tuple(replace(each, warning=False) for each in (*compiled.warnings, *own) if each.code in _NOTHING):
        from mopsus.logics import LogicError

        raise LogicError(never[0].message, hint=never[0].hint, code=never[0].code, diagnostics=never)


def _check_machines(compiled: CompiledSpec, source: Source, functions: Collection[str]) -> None:
    """Refuse names in the code of machines that nothing will give a value to."""
    from mopsus.model import GuardedMachine

    properties = zip(compiled.spec.properties, compiled.machines, strict=True)
    machines = [(prop, machine) for prop, machine in properties if isinstance(machine, GuardedMachine)]
    if machines:
        from mopsus.logics.efsm.names import check_machine
        from mopsus.spec.errors import Findings

        findings = Findings(source)
        for prop, machine in machines:
            check_machine(compiled.spec, prop, machine, functions, findings)
        findings.finish()
