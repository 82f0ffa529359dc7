"""`mopsus run`: a Python program, watched from within."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.arguments import split
from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AtEnd,
    Contracts,
    Envelopes,
    MonitorOptions,
    Monitors,
    SpecOptions,
    WhenFull,
    WhenFullOption,
)
from mopsus.run.policy import OnFault
from mopsus.stopping import STOPPING

if TYPE_CHECKING:
    from mopsus.run import Source


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What is run, and how it is woven."""

    contracts: Contracts = None
    module: Annotated[
        str | None, typer.Option("--module", "-m", help="Run a module, as `python -m` does.", metavar="MODULE")
    ] = None
    explain_weaving: Annotated[
        bool, typer.Option("--explain-weaving", help="Also say how each event is observed, and what is not seen.")
    ] = False
    fail_on_violation: Annotated[
        bool,
        typer.Option("--fail-on-violation", help="Exit with status 1 if the program did well, but violated a spec."),
    ] = False


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """How the components of the program are watched."""

    groups: Annotated[
        bool,
        typer.Option(
            "--groups", help="Of components: who is not selected belongs to its parent's group, as in detectEr."
        ),
    ] = False
    envelopes: Envelopes = False
    outline: Annotated[
        bool, typer.Option("--outline", help="Watch components from a process beside the program, which does not wait.")
    ] = False
    when_full: WhenFullOption = WhenFull.BLOCK
    monitors_count: Monitors = 1

    def check(self, *, contracts: bool) -> None:
        """Refuse what excludes each other."""
        if not self.outline and (self.when_full is not WhenFull.BLOCK or self.monitors_count > 1):
            option = "--when-full" if self.when_full is not WhenFull.BLOCK else "--monitors"
            raise CommandError(f"{option} is for --outline", hint="add --outline, or leave it out", code="CLI-005")
        if self.envelopes and self.monitors_count > 1:
            hint = "with several, only the events of one component are in order"
            raise CommandError("--envelopes needs one monitor process", hint=hint, code="CLI-005")
        if self.outline and contracts:
            raise CommandError("--contracts watches from within", hint="leave out --outline", code="CLI-005")


def run(
    arguments: Annotated[
        list[str],
        typer.Argument(
            help="Spec files (`*.mop`), then the program and its arguments.", metavar="SPEC… -- PROGRAM [ARGUMENT…]"
        ),
    ],
    choice: SpecOptions,
    weaving: ProgramOptions,
    monitoring: MonitorOptions,
    components: ComponentOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the report there, not to standard error.", metavar="FILE"),
    ] = None,
    at_end: AtEnd = False,
) -> int:
    """Run a Python program, and watch it from within, or with `--outline` from beside.

    The program is a script, a folder or archive with a `__main__.py`, or with `-m` a module. It is not changed on disk,
    and what no spec mentions runs untouched. What stands after `--` is the program's own:
    `mopsus run iterators.mop -- script.py --verbose`.

    Standard output and input belong to the program; the report goes to standard error, or to a file by `--output`.

    The status is that of the program. With `--fail-on-violation` it is 1 if the program ended with 0 but a spec was
    violated. Signals are the program's own; if one kills it, what was found up to there is reported before.
    """
    from mopsus.run import Run

    components.check(contracts=weaving.contracts is not None)
    spec_files, program = split(arguments, choice.spec or (), weaving.module, needs_spec=weaving.contracts is None)
    if components.outline:
        from mopsus.run.beside import ProgramBeside
        from mopsus.run.sidecar import Terms

        source: Source = ProgramBeside(
            program,
            Terms(
                components.when_full.value,
                groups=components.groups,
                monitors=components.monitors_count,
                envelopes=components.envelopes,
            ),
        )
    else:
        from mopsus.contracts import choose
        from mopsus.run.children import Order
        from mopsus.run.program import WovenProgram

        order = Order(
            [str(path.absolute()) for path in spec_files],
            monitoring.history,
            choice.max_live,
            not monitoring.no_code,
            first_match=choice.first_match,
            groups=components.groups,
            envelopes=components.envelopes,
            contracts=weaving.contracts,
            stops=monitoring.on_fault is OnFault.STOP,
        )
        contracts = choose(weaving.contracts) if weaving.contracts is not None else []
        source = WovenProgram(program, order, contracts, explain_weaving=weaving.explain_weaving)
    watching = Run(
        choice.load(spec_files, at_end=at_end),
        monitoring.run_options(max_live=choice.max_live, at_end=at_end, gate=weaving.fail_on_violation, switches=True),
        monitoring.sinks(sys.stderr if output is None else output, max_live=choice.max_live, live=components.outline),
    )
    if components.outline:
        return watching.go(source)
    with STOPPING.deferred():
        return watching.go(source)
