"""Stage 4: why a component is over, as properties see it."""

from __future__ import annotations

from typing import Final

from mopsus.model.term import Atom

NORMAL: Final = Atom("normal")
CANCELLED: Final = Atom("cancelled")
START_FAILED: Final = Atom("start_failed")
_TEXT_LIMIT: Final = 200


def of_exception(error: BaseException) -> object:
    """The reason of a component that ended with an exception: `{exit, Code}`, `cancelled` or `{error, Type, Text}`."""
    if isinstance(error, SystemExit):
        return of_code(0 if error.code is None else error.code)
    if isinstance(error, GeneratorExit) or type(error).__name__ == "CancelledError":
        return CANCELLED
    try:
        text = str(error)[:_TEXT_LIMIT]
    except Exception:
        text = ""
    return (Atom("error"), Atom(type(error).__name__), text)


def of_code(code: object) -> object:
    """The reason of a component that left with a code: `normal` or `{exit, Code}`."""
    if code == 0:
        return NORMAL
    return (Atom("exit"), code if isinstance(code, int) else str(code)[:_TEXT_LIMIT])


def of_status(status: int) -> object:
    """The reason of a process, from what its parent learns: `normal`, `{exit, Code}` or `{signal, Number}`."""
    return of_code(status) if status >= 0 else (Atom("signal"), -status)
