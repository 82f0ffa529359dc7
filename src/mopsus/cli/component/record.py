"""`mopsus component record`: a log of what the components of a program do."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import Envelopes
from mopsus.stopping import STOPPING, flush_output


class Form(StrEnum):
    """Forms of a log."""

    HML = "hml"
    JSONL = "jsonl"


def record(
    arguments: Annotated[
        list[str],
        typer.Argument(help="The program and its arguments.", metavar="-- PROGRAM [ARGUMENT…]"),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the log there.", metavar="LOG")],
    form: Annotated[
        Form, typer.Option("--format", help="The form of the log: lines as detectEr reads them, or JSON.")
    ] = Form.HML,
    module: Annotated[
        str | None, typer.Option("--module", "-m", help="Run a module, as `python -m` does.", metavar="MODULE")
    ] = None,
    envelopes: Envelopes = False,
) -> int:
    """Run a Python program, and write down what its components do.

    Every fork, init, exit, send and recv of its threads, tasks, processes and actors is a line of the log, which
    `mopsus check` and `mopsus watch` read. Nothing is monitored meanwhile. The status is that of the program.

    `mopsus component record -o server.log -- server.py --port 8000`
    """
    from mopsus import _core
    from mopsus.cli.arguments import program_of
    from mopsus.events.component.program import begin_program, end_program
    from mopsus.events.component.record import Recorder
    from mopsus.events.weave.launch import launch
    from mopsus.events.weave.weaver import Weaver
    from mopsus.run.children import Children, Order
    from mopsus.run.lending import lent

    program = program_of(arguments, module)
    try:
        recorder = Recorder(str(output), form.value)
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror}", hint="choose another file") from None
    order = Order(log=str(output.absolute()), form=form.value, envelopes=envelopes)
    children = Children(order, lambda outbox: None, tuple)

    def end_killed(number: int) -> None:
        """The program dies of a signal, wherever it is just now."""
        recorder.stop()
        children.close()

    def end_at_once(status: int) -> int:
        """The program ends by `os._exit`, wherever it is just now."""
        children.close()
        return status

    with STOPPING.deferred(), children:
        recorder.start(envelopes=envelopes)
        try:
            begin_program(program)
            with lent(end_killed):
                _core.before_exit(end_at_once)
                ended = launch(program, Weaver({}))
                _core.before_exit(None)
            end_program(ended)
        finally:
            recorder.stop()
        if not children.first:  # a process that the program has forked
            flush_output()
            os._exit(ended.status)
    if recorder.opaque:
        noun = "event has a value" if recorder.opaque == 1 else "events have values"
        print(f"mopsus: {recorder.opaque} {noun} with no form in a log; a mark stands for it", file=sys.stderr)
    return ended.status
