"""Stage 4: detectEr's second format: a file of Erlang terms, each an event as the virtual machine reports it, ended by
a period, such as `{trace,"<0.20.0>",send,{done,7},"<0.30.0>"}.`

Its writer turns identifiers and references into strings wherever they stand, so here every string that looks like one
is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mopsus.events.component.log.messages import BadLineError
from mopsus.events.component.log.values import ValueReader, format_atom, format_value
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Atom, Pid, Reference, String

_PID = re.compile(r"<\d+\.\d+\.\d+>", re.ASCII)
_REFERENCE = re.compile(r"#Ref<\d+\.\d+\.\d+\.\d+>", re.ASCII)
_COMMENT = re.compile(r"[ \t]*%.*")
_EXPECTED: Final = (
    "an event: `{trace,P,spawn,C,{M,F,[…]}}`, `{trace,C,spawned,P,{M,F,[…]}}`, `{trace,P,exit,Reason}`, "
    "`{trace,P,send,Message,Q}` or `{trace,P,'receive',Message}`"
)


class TermsReader:
    """Puts lines together to terms."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    @property
    def open(self) -> bool:
        """Has a term begun that has not ended?"""
        return bool(self._lines)

    def parse_line(
        self, line: str, *, time: float | None = None, location: str | None = None
    ) -> tuple[Occurrence, int] | None:
        """The event that ends on this line, if one does; `BadLineError` if what ends there is none."""
        if not self._lines and (not line.strip() or _COMMENT.fullmatch(line)):
            return None
        self._lines.append(line)
        if not line.rstrip(" \t").endswith("."):
            return None
        text = " ".join(self._lines).rstrip(" \t")[:-1]
        before = sum(len(each) + 1 for each in self._lines[:-1])
        self._lines = []
        try:
            return _event(text, time, location), 0
        except BadLineError as error:
            raise BadLineError(error.message, max(0, error.offset - before)) from None


def _event(text: str, time: float | None, location: str | None) -> Occurrence:
    reader = ValueReader(text)
    value = _restored(reader.value())
    kind, *_ = reader.peek()
    if kind or reader.position < len(text):
        raise reader.fail("the period that ends the event")
    match value:
        case ("trace", Pid() as parent, "spawn", Pid() as child, (Atom() as module, Atom() as name, list() as given)):
            return Occurrence(Kind.FORK, parent, child, Function(module, name, tuple(given)), time, location)
        case ("trace", Pid() as child, "spawned", Pid() as parent, (Atom() as module, Atom() as name, list() as given)):
            return Occurrence(Kind.INIT, child, parent, Function(module, name, tuple(given)), time, location)
        case ("trace", Pid() as subject, "exit", reason):
            return Occurrence(Kind.EXIT, subject, None, reason, time, location)
        case ("trace", Pid() as subject, "send", message, Pid() as receiver):
            return Occurrence(Kind.SEND, subject, receiver, message, time, location)
        case ("trace", Pid() as subject, "receive", message):
            return Occurrence(Kind.RECV, subject, None, message, time, location)
    raise BadLineError(f"expected {_EXPECTED}", 0)


def _restored(value: object) -> object:
    """A value in which identifiers are identifiers again."""
    match value:
        case String() if _PID.fullmatch(value):
            return Pid(value)
        case String() if _REFERENCE.fullmatch(value):
            return Reference(value)
        case tuple():
            return tuple(map(_restored, value))
        case list():
            return list(map(_restored, value))
        case dict():
            return {_restored(key): _restored(item) for key, item in value.items()}
    return value


def format_term(occurrence: Occurrence) -> str:
    """The line of an event, with its period and without a line break."""
    kind, subject, other, data = occurrence[:4]
    shown: Callable[[object], str] = lambda value: format_value(_stringed(value))  # noqa: E731
    if isinstance(data, Function) and kind in (Kind.FORK, Kind.INIT):
        function = f"{{{format_atom(data.module)},{format_atom(data.name)},{shown(data.listed())}}}"
        return f"{{trace,{shown(subject)},{'spawn' if kind is Kind.FORK else 'spawned'},{shown(other)},{function}}}."
    if kind is Kind.SEND:
        return f"{{trace,{shown(subject)},send,{shown(data)},{shown(other)}}}."
    return f"{{trace,{shown(subject)},{'exit' if kind is Kind.EXIT else format_atom('receive')},{shown(data)}}}."


def _stringed(value: object) -> object:
    match value:
        case Pid() | Reference():
            return String(value)
        case tuple():
            return tuple(map(_stringed, value))
        case list():
            return list(map(_stringed, value))
        case dict():
            return {_stringed(key): _stringed(item) for key, item in value.items()}
    return value
