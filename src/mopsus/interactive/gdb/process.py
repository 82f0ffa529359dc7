"""What happens in the process of GDB: a session is made, the program loaded and, without a prompt, run to its end."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import gdb

from mopsus.bus.codec import pack, unpack
from mopsus.interactive.dap.channel import EditorLine
from mopsus.interactive.dap.gdb.sitting import console, run_editor
from mopsus.interactive.follow import Follow
from mopsus.interactive.gdb.adapter import GdbDebugger
from mopsus.interactive.gdb.batch import run_batch
from mopsus.interactive.gdb.children import Children
from mopsus.interactive.gdb.course import Course
from mopsus.interactive.gdb.holding import Legacy, is_there, release
from mopsus.interactive.gdb.order import GdbOrder
from mopsus.interactive.gdb.prefix import NAMES, MonitorCommands
from mopsus.interactive.gdb.signals import Listener
from mopsus.interactive.gdb.viewing import Viewing
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.prepare import prepare
from mopsus.interactive.session import Session
from mopsus.interactive.setup import Setup
from mopsus.interactive.starter import end_with
from mopsus.model import MopsusError


def begin(file: str | None) -> None:
    """Have the commands for monitors; if `mopsus debug` gave an order in a file, do it."""
    order = unpack(GdbOrder, Path(file).read_bytes()) if file is not None else None
    if order is not None:
        end_with(order.starter)
    setup = order.setup if order is not None else Setup(())
    debugger = GdbDebugger(hooks=setup.hooks and setup.follow is Follow.PARENT)
    session = Session(debugger, history=setup.history, allow_code=setup.allow_code, record=setup.record)
    debugger.driver, debugger.tell, debugger.warn = session, session.tell, session.warn
    listener = None if setup.channel is not None else Listener(has_prompt=setup.has_prompt)
    course = Course(debugger, session, listener)
    Viewing(session, course, has_prompt=setup.has_prompt)
    for name in NAMES:
        MonitorCommands(name, session, course)
    streams = order.streams if order is not None else ()
    channel = EditorLine.of_descriptor(setup.channel) if setup.channel is not None else None
    speech: IO[str] | None = None
    if channel is not None:
        speech = console(channel)
    elif streams:
        speech = os.fdopen(streams[-1], "w", buffering=1, closefd=False)
    _replace_execute(debugger, speech)
    if speech is not None:
        _speak_through(debugger, speech)
    if order is None:
        return
    try:
        _load(setup, streams)
        prepare(session, setup)
        if not setup.has_prompt or setup.follow is Follow.CHILD:  # otherwise GDB tells of them itself
            Children(session, setup.follow, setup.handing_over)
        if setup.legacy is not None:
            _take_over(session, setup)
    except (MopsusError, gdb.error) as error:
        if setup.legacy is not None and not is_there(setup.process):  # killed before it has done anything
            session.ended(-signal.SIGKILL)
            _write(setup, session.outcome())
        else:
            _write(setup, Outcome(error=str(error)))
        gdb.write(f"{error}\n", gdb.STDERR)
        gdb.execute("quit 2")
        return
    if setup.batch:
        _write(
            setup,
            run_batch(
                session,
                course,
                attached=setup.process is not None,
                keep=setup.legacy is None,
                handing_over=setup.handing_over,
            ),
        )
    elif channel is not None:
        _write(setup, run_editor(session, debugger, setup, channel))
    else:
        gdb.events.gdb_exiting.connect(lambda _: _write(setup, session.outcome()))
        session.tell("Type `run` to start the program, `verde help` for the commands about monitors.")


def _load(setup: Setup, streams: Sequence[int]) -> None:
    """Load the program, to be run as a shell would run it: with its own standard streams, and no variable of GDB's."""
    gdb.execute("set debuginfod enabled off")
    if not setup.has_prompt:
        for line in ("set confirm off", "set pagination off", "set width 0", "set height 0", "set unwindonsignal on"):
            gdb.execute(line)
    if setup.process is not None:
        gdb.execute(f"attach {setup.process}", to_string=not setup.has_prompt)
        return
    program, *arguments = setup.program
    gdb.execute(f"file {_quoted(program)}", to_string=True)
    words = " ".join(map(shlex.quote, arguments))
    if streams:
        *source, out, err = streams
        os.environ["SHELL"] = "/bin/sh"  # for GDB: the program has the environment that GDB began with
        words += "".join(f" <&{each} {each}<&-" for each in source)
        words += f" >&{out} 2>&{err} {out}>&- {err}>&-"
    gdb.execute(f"set args {words}")
    for name in ("LINES", "COLUMNS"):
        if name not in os.environ:
            gdb.execute(f"unset environment {name}")


def _take_over(session: Session, setup: Setup) -> None:
    """Begin with what the parent's session knew. The child waits since before it did anything."""
    legacy = unpack(Legacy, Path(setup.legacy or "").read_bytes())
    session.inherit(legacy.monitors)
    release(legacy.process, legacy.held)
    gdb.execute("maintenance flush register-cache", to_string=True)
    gdb.execute("maintenance flush dcache", to_string=True)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _speak_through(debugger: GdbDebugger, stream: IO[str]) -> None:
    """What monitors, scenarios and their code say goes to the standard error of `mopsus debug`; GDB's talk does not."""

    def write(text: str) -> None:
        stream.write(f"{text}\n")

    sys.stdout = stream
    debugger.write = write  # type: ignore[method-assign]  # of this one debugger only


def _replace_execute(debugger: GdbDebugger, stream: IO[str] | None) -> None:
    """`gdb.execute` as code of properties and scenarios calls it.

    What it prints goes where they speak. It is a function of Python: their code belongs to no module, without which GDB
    cannot import what some commands need. And when a command fails while an event is handled, GDB believes that the
    command that lets the program run is over, so the program must stop here for a moment.
    """
    execute = gdb.execute

    def execute_and_show(command: str, from_tty: bool = False, to_string: bool = False) -> str | None:
        try:
            if to_string or stream is None:
                return execute(command, from_tty, to_string)
            stream.write(execute(command, from_tty, True))
        except gdb.error:
            debugger.pause()
            raise
        return None

    gdb.execute = execute_and_show  # type: ignore[assignment]  # the same, but for a string that may be None


def _write(setup: Setup, outcome: Outcome) -> None:
    if setup.outcome is not None:
        Path(setup.outcome).write_bytes(pack(outcome))
