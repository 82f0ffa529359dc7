"""Where every `mopsus` command starts, and where every error and every signal of one ends.

Little is loaded before signals are looked after: until then, Ctrl-C would be answered by a traceback.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what is behind `signal`, which takes longer to load
import io
import os
import sys

from mopsus import collecting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MISUSED, BROKEN, INTERRUPTED = 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; always ends in `SystemExit`.

    Without `arguments` the command line is that of this process, which then has nothing else to do.
    """
    before = _signal.getsignal(_signal.SIGINT)
    if arguments is None and before is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # ends this process without a word: there is nothing to undo
    from mopsus.stopping import STOPPING

    if arguments is None and before is not None:
        _signal.signal(_signal.SIGINT, before)
    STOPPING.begin_command(os._exit)
    try:
        status = STOPPING.status(_run(arguments))
        if arguments is None:
            STOPPING.end_command(status)
    finally:
        if arguments is not None:
            STOPPING.forget_command()
    sys.exit(status)


def _run(arguments: Sequence[str] | None) -> int:
    from mopsus.stopping import STOPPING, flush_output

    collecting.seldom()
    _open_closed_streams()
    status = None
    try:
        try:
            status = _run_command(arguments)
            flush_output()
        except Exception as error:
            # In the midst of an import, for one, an interrupt may come out as something else.
            status = INTERRUPTED if STOPPING.is_set() and not STOPPING.heeded else _explain(error)
        STOPPING.end_work()
    except KeyboardInterrupt:
        STOPPING.end_work()
        status = interrupted_status() if status is None else status  # it may have come when all was done
    finally:
        collecting.as_before()
    if STOPPING.is_set() and not (STOPPING.heeded or STOPPING.expected):
        print("mopsus: interrupted", file=sys.stderr)
    return status


def _open_closed_streams() -> None:
    """What the caller has closed is empty, or goes nowhere; so nothing that is opened later gets its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(handle, handle == number)
            setattr(sys, name, os.fdopen(handle, mode, encoding="utf-8"))


def _run_command(arguments: Sequence[str] | None) -> int:
    from mopsus.cli.app import app

    try:
        app(arguments, prog_name="mopsus")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else MISUSED
    return 0


def interrupted_status() -> int:
    """The status of a command that was interrupted, if it has nothing better to say."""
    from mopsus.stopping import STOPPING

    return 0 if STOPPING.expected else INTERRUPTED


def _explain(error: Exception) -> int:
    """Say on standard error what was wrong; the status."""
    from mopsus.cli.failure import render_bug, render_error
    from mopsus.cli.messages import CommandError
    from mopsus.model import MopsusError

    if isinstance(error, MopsusError):
        print(render_error(error), file=sys.stderr)
        return MISUSED
    if os.environ.get("MOPSUS_DEBUG"):
        raise error
    if isinstance(error, OSError):
        what = error.filename or "standard output"
        print(render_error(CommandError(f"{what}: {error.strerror or error}")), file=sys.stderr)
        discard_output()
        return MISUSED
    print(render_bug(error), file=sys.stderr)
    return BROKEN


def discard_output() -> None:
    """Let nothing more go to standard output, where Python's last flush would fail once more."""
    import contextlib

    with contextlib.suppress(io.UnsupportedOperation):  # it may be no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
