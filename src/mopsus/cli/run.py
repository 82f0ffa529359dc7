"""`mopsus run`: a Python program, watched from within."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import (
    AllowSilent,
    AllowUnmonitorable,
    AtEnd,
    Contracts,
    Envelopes,
    ExtraSpecs,
    FirstMatch,
    History,
    Html,
    Json,
    Junit,
    MaxLive,
    Monitors,
    NoCode,
    OnFault,
    OnFaultOption,
    Quiet,
    Sarif,
    Strict,
    WhenFull,
    WhenFullOption,
    silence_of,
)
from mopsus.cli.reporting import Reporting
from mopsus.cli.specs import SPEC_HINT, SPEC_SUFFIXES, load_specs
from mopsus.model import Fault
from mopsus.model.limits import MAX_LIVE
from mopsus.stopping import STOPPING, flush_output

if TYPE_CHECKING:
    from mopsus.cli.children import Children, Outbox
    from mopsus.events.weave.launch import Program
    from mopsus.logics import CompiledSpec
    from mopsus.model import Diagnostic, MopsusError, Unseen, Verdict
    from mopsus.monitor import Monitor
    from mopsus.monitor.stats import Stats


def run(
    arguments: Annotated[
        list[str],
        typer.Argument(
            help="Spec files (`*.mop`), then the program and its arguments.", metavar="SPEC… -- PROGRAM [ARGUMENT…]"
        ),
    ],
    spec: ExtraSpecs = None,
    contracts: Contracts = None,
    module: Annotated[
        str | None, typer.Option("--module", "-m", help="Run a module, as `python -m` does.", metavar="MODULE")
    ] = None,
    explain_weaving: Annotated[
        bool, typer.Option("--explain-weaving", help="Also say how each event is observed, and what is not seen.")
    ] = False,
    fail_on_violation: Annotated[
        bool,
        typer.Option("--fail-on-violation", help="Exit with status 1 if the program did well, but violated a spec."),
    ] = False,
    strict: Strict = False,
    allow_silent: AllowSilent = False,
    on_fault: OnFaultOption = OnFault.REPORT,
    history: History = 32,
    max_live: MaxLive = MAX_LIVE,
    json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the report there, not to standard error.", metavar="FILE"),
    ] = None,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    quiet: Quiet = False,
    no_code: NoCode = False,
    allow_unmonitorable: AllowUnmonitorable = False,
    first_match: FirstMatch = False,
    at_end: AtEnd = False,
    groups: Annotated[
        bool,
        typer.Option(
            "--groups", help="Of components: who is not selected belongs to its parent's group, as in detectEr."
        ),
    ] = False,
    envelopes: Envelopes = False,
    outline: Annotated[
        bool, typer.Option("--outline", help="Watch components from a process beside the program, which does not wait.")
    ] = False,
    when_full: WhenFullOption = WhenFull.BLOCK,
    monitors_count: Monitors = 1,
) -> int:
    """Run a Python program, and watch it from within, or with `--outline` from beside.

    The program is a script, a folder or archive with a `__main__.py`, or with `-m` a module. It is not changed on disk,
    and what no spec mentions runs untouched. What stands after `--` is the program's own:
    `mopsus run iterators.mop -- script.py --verbose`.

    Standard output and input belong to the program; the report goes to standard error, or to a file by `--output`.

    The status is that of the program. With `--fail-on-violation` it is 1 if the program ended with 0 but a spec was
    violated. Signals are the program's own; if one kills it, what was found up to there is reported before.
    """
    from mopsus import _core
    from mopsus.cli.children import Children, Order, seen_events, unwatched_processes
    from mopsus.cli.lending import lent
    from mopsus.contracts import choose
    from mopsus.contracts.catalogue import by_module, loops_of
    from mopsus.events.component.watching import InlineProgram, Watching
    from mopsus.events.weave.launch import INTERRUPTED, Ended, launch
    from mopsus.events.weave.weaver import Weaver
    from mopsus.report import Options

    if not outline and (when_full is not WhenFull.BLOCK or monitors_count > 1):
        option = "--when-full" if when_full is not WhenFull.BLOCK else "--monitors"
        raise CommandError(f"{option} is for --outline", hint="add --outline, or leave it out", code="CLI-005")
    if envelopes and monitors_count > 1:
        hint = "with several, only the events of one component are in order"
        raise CommandError("--envelopes needs one monitor process", hint=hint, code="CLI-005")
    if outline and contracts is not None:
        raise CommandError("--contracts watches from within", hint="leave out --outline", code="CLI-005")
    spec_files, program = split(arguments, spec or (), module, needs_spec=contracts is None)
    chosen = choose(contracts) if contracts is not None else []
    loaded = load_specs(spec_files, at_end=at_end, allow_unmonitorable=allow_unmonitorable, first_match=first_match)
    reporting = Reporting(
        loaded,
        {"junit": junit, "sarif": sarif, "html": html},
        Options(history=history, max_live=max_live, quiet=quiet, live=outline),
        json=json,
        allow_code=not no_code,
        at_end=at_end,
        output=sys.stderr if output is None else output,
        silence=silence_of(strict, allow_silent),
        on_fault=on_fault,
    )
    verdicts = Verdicts(reporting)
    if outline:
        from mopsus.cli.outline import watch_program
        from mopsus.cli.sidecar import Terms

        outcome = watch_program(
            program,
            reporting,
            Terms(when_full.value, groups=groups, monitors=monitors_count, envelopes=envelopes),
            verdicts.add,
        )
        return reporting.finish(outcome, program=outcome.status, gate=fail_on_violation)
    monitors = {each.name: reporting.open_monitor(each, verdicts.add) for each in reporting.specs.values()}

    def open_contract(compiled: CompiledSpec) -> Monitor:
        reporting.take(compiled)
        return reporting.open_monitor(compiled.spec, verdicts.add, trusted=True)

    weaver = Weaver(monitors, by_module(chosen, open_contract), loops_of(chosen))
    order = Order(
        [str(path.absolute()) for path in spec_files],
        history,
        max_live,
        not no_code,
        first_match=first_match,
        groups=groups,
        envelopes=envelopes,
        contracts=contracts,
        stops=on_fault is OnFault.STOP,
    )
    children = Children(order, verdicts.send, lambda: weaver.monitors.values())
    started = time.perf_counter()

    def conclude(ended: Ended) -> int:
        """Report what was found; the status. A process that the program has forked leaves that to the first one."""
        if children.outbox is not None:
            children.end_fork()
            return ended.status
        elapsed = time.perf_counter() - started
        elsewhere = verdicts.collect(children)
        children.close()
        if explain_weaving:
            from mopsus.events.weave.explain import explain

            print(explain(weaver), file=sys.stderr)
        from mopsus.events.weave.unseen import add_seen, find_unseen
        from mopsus.model.unseen import by_spec, with_conditions

        # Without contracts, which are about what many programs do not do.
        seen = add_seen(seen_events(monitors.values()), children.seen)
        found = find_unseen(weaver, seen, whole=not elsewhere)
        unseen = by_spec(found, [monitor.spec for monitor in monitors.values()])
        unseen += reporting.unseen_in_components(seen)
        unseen = with_conditions(unseen, {monitor.spec.name: monitor.stats() for monitor in monitors.values()})
        warnings = [*verdicts.switches.warnings(), *unwatched_processes(children.unwatched)]
        watched = Watched(weaver.monitors, program.name, elapsed, ended.interrupted, elsewhere, warnings, unseen)
        suppressed = verdicts.switches.suppressed.total()
        return reporting.finish(watched, suppressed=suppressed, program=ended.status, gate=fail_on_violation)

    def end_killed(number: int) -> None:
        """The program dies of a signal, wherever it is just now: what we do then is no part of it."""
        _core.unobserved(conclude, Ended(128 + number, interrupted=True))

    def end_at_once(status: int) -> int:
        """The program ends by `os._exit`, wherever it is just now."""
        _core.before_exit(None)
        return conclude(Ended(status))

    with STOPPING.deferred(), children:
        watching = Watching(groups=groups, envelopes=envelopes)
        try:
            with lent(end_killed), InlineProgram(program, monitors.values(), watching) as inline:
                _core.before_exit(end_at_once)
                ended = inline.end(launch(program, weaver))
                _core.before_exit(None)
        except KeyboardInterrupt:  # one more, when the program had ended
            _core.before_exit(None)
            ended = Ended(INTERRUPTED, interrupted=True)
        for monitor in weaver.monitors.values():
            monitor.close()
        status = conclude(ended)
        if children.outbox is not None:
            flush_output()
            os._exit(ended.status)
    return status


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


class Verdicts:
    """Passes verdicts on to the reports, but for those that are switched off."""

    def __init__(self, reporting: Reporting) -> None:
        from mopsus.contracts import Switches, catalogue, read_settings

        self._reporting = reporting
        self._outbox: Outbox | None = None
        self.switches = Switches(read_settings(Path.cwd()), lambda: {*catalogue(), *reporting.specs})

    def add(self, verdict: Verdict) -> None:
        """Take a verdict."""
        if self._outbox is not None:
            self._outbox.add(verdict)
        elif (kept := self.switches(verdict)) is not None:
            self._reporting.report(kept)

    def send(self, outbox: Outbox) -> None:
        """From now on verdicts go to another process, which decides about them."""
        self._outbox = outbox
        self._reporting.send_fault = outbox.add_fault

    def collect(self, children: Children) -> int:
        """Take the verdicts of other processes; how many events there were."""
        count = 0
        for told, events in children.messages():
            count += events
            if isinstance(told, Fault):
                self._reporting.take_fault(None, told)
            elif told is not None:
                self.add(told)
        return count


@dataclass(slots=True)
class Watched:
    """What is known of a program when it is over."""

    monitors: Mapping[str, Monitor]
    program: str
    elapsed_s: float
    interrupted: bool
    elsewhere: int
    """Events in processes that the program has started."""
    warnings: Sequence[Diagnostic]
    unseen: Sequence[Unseen]
    ignored: int = 0
    bad_rows: int = 0
    error: MopsusError | None = None
    full: bool = False
    sources: Sequence[str] = field(init=False)
    stats: Mapping[str, Stats] = field(init=False)
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        self.sources = (self.program,)
        self.stats = {name: monitor.stats() for name, monitor in self.monitors.items()}
        self.rows = self.elsewhere + sum(stats.events for stats in self.stats.values())
