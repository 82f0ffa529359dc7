"""Stage 4: events of components as JSON lines: an object on each line, such as
`{"event":"recv","subject":"<0.20.0>","message":{"$tuple":["job",7]}}`.

Texts, numbers, truth values, null, lists and objects with plain keys are themselves. Everything else is an object of
one key that begins with a dollar sign and says what it is.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mopsus.events.component.log.messages import BadLineError, UnwritableError
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model import UNDECODABLE
from mopsus.model.term import Atom, Pid, Reference, String

OTHERS: Final = {Kind.FORK: "child", Kind.INIT: "parent", Kind.SEND: "receiver"}
DATA: Final = {Kind.EXIT: "reason", Kind.SEND: "message", Kind.RECV: "message"}
_KINDS: Final = ", ".join(f"`{kind}`" for kind in Kind)
_DEEPEST: Final = 100
_KEY = re.compile(r'"\s*+((?:[^"\\]|\\.)*+)"\s*+:')


def parse_line(line: str, *, time: float | None = None, location: str | None = None) -> tuple[Occurrence, int] | None:
    """The event of a line and the milliseconds by which it is to be delayed; None for a blank line.

    `BadLineError` for anything else. What the line says of time and location goes before the arguments.
    """
    if not line or line.isspace():
        return None
    try:
        row = msgspec.json.decode(line)
    except UNDECODABLE as error:
        at = re.search(r"\(byte (\d+)\)", str(error))
        before = line.encode()[: int(at[1])] if at else b""
        message = f"expected a JSON object on one line: {error}"
        raise BadLineError(message, len(before.decode("utf-8", "ignore"))) from None
    if not isinstance(row, dict):
        raise BadLineError("expected a JSON object, `{…}`", 0)
    try:
        return _occurrence(row, time, location)
    except _WrongError as error:
        kind = OtherEventError if error.key == "event" and isinstance(row.get("event"), str) else BadLineError
        raise kind(str(error), _place_of(line, error.key)) from None


class OtherEventError(BadLineError):
    """A line is an event, but none of components."""


class _WrongError(Exception):
    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


def _place_of(line: str, key: str) -> int:
    """Where a key stands in a line."""
    return next((match.start() for match in _KEY.finditer(line) if match[1] == key), 0)


def _occurrence(row: Mapping[str, Any], time: float | None, location: str | None) -> tuple[Occurrence, int]:
    name = row.get("event")
    if name not in list(Kind):
        raise _WrongError(f"expected `event` to be one of {_KINDS}", "event")
    kind = Kind(name)
    subject = _pid(row, "subject")
    other = _pid(row, OTHERS[kind]) if kind in OTHERS else None
    data = _function(row) if kind in (Kind.FORK, Kind.INIT) else _data(row, DATA[kind])
    time = _typed(row, "time", (int, float), "a number", time)
    location = _typed(row, "location", (str,), "a text", location)
    delay = _typed(row, "delay", (int,), "a number of milliseconds", 0)
    if delay < 0:
        raise _WrongError("expected `delay` to be a number of milliseconds", "delay")
    return Occurrence(kind, subject, other, data, time, location), delay


def _typed(row: Mapping[str, Any], key: str, types: tuple[type, ...], what: str, default: Any) -> Any:  # noqa: ANN401
    value = row.get(key)
    if value is None:
        return default
    if not isinstance(value, types) or isinstance(value, bool):
        raise _WrongError(f"expected `{key}` to be {what}", key)
    return value


def _pid(row: Mapping[str, Any], key: str) -> Pid:
    value = row.get(key)
    if isinstance(value, dict):
        value = value.get("$pid")
    if not isinstance(value, str) or not value:
        raise _WrongError(f"expected `{key}` to be an identifier such as `<0.20.0>`", key)
    return Pid(value)


def _data(row: Mapping[str, Any], key: str) -> object:
    if key not in row:
        raise _WrongError(f"expected a `{key}`", "event")
    return decode_value(row[key], key)


def _function(row: Mapping[str, Any]) -> Function:
    arguments, keywords = row.get("arguments", []), row.get("keywords")
    if not isinstance(arguments, list):
        raise _WrongError("expected `arguments` to be a list", "arguments")
    if keywords is not None and not isinstance(keywords, dict):
        raise _WrongError("expected `keywords` to be an object", "keywords")
    names = [_typed(row, key, (str,), "a text", None) for key in ("module", "function")]
    for key, name in zip(("module", "function"), names, strict=True):
        if name is None:
            raise _WrongError(f"expected a `{key}`", "event")
    positional = tuple(decode_value(each, "arguments") for each in arguments)
    named = {key: decode_value(each, "keywords") for key, each in keywords.items()} if keywords else None
    return Function(names[0], names[1], positional, named)


# ---- values ----------------------------------------------------------------------------------


def decode_value(value: object, key: str = "", depth: int = 0) -> object:
    """What a value in JSON stands for."""
    if depth > _DEEPEST:
        raise _WrongError(f"values are nested more than {_DEEPEST} deep", key)
    if isinstance(value, list):
        return [decode_value(each, key, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    mark = next(iter(value), "")
    if not mark.startswith("$"):
        return {name: decode_value(each, key, depth + 1) for name, each in value.items()}
    decode = _MARKED.get(mark)
    if decode is None or len(value) != 1:
        raise _WrongError(f"expected one of {', '.join(_MARKED)} as the only key", mark)
    try:
        return decode(value[mark], key, depth + 1)
    except (TypeError, ValueError, KeyError, OverflowError):
        raise _WrongError(f"`{mark}` cannot have this value", mark) from None


def _texts(cls: type[str]) -> Callable[[Any, str, int], object]:
    def decode(value: object, key: str, depth: int) -> object:
        if not isinstance(value, str):
            raise TypeError
        return cls(value)

    return decode


def _decode_tuple(value: object, key: str, depth: int) -> object:
    if not isinstance(value, list):
        raise TypeError
    return tuple(decode_value(each, key, depth) for each in value)


def _decode_map(value: Any, key: str, depth: int) -> object:  # noqa: ANN401 - what JSON holds
    pairs = [(decode_value(name, key, depth), decode_value(each, key, depth)) for name, each in value]
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _decode_bytes(value: Any, key: str, depth: int) -> object:  # noqa: ANN401 - what JSON holds
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError from None


def _decode_float(value: Any, key: str, depth: int) -> object:  # noqa: ANN401 - what JSON holds
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value] if isinstance(value, str) else float(value)


_MARKED: Final[dict[str, Callable[[Any, str, int], object]]] = {
    "$atom": _texts(Atom),
    "$pid": _texts(Pid),
    "$ref": _texts(Reference),
    "$string": _texts(String),
    "$tuple": _decode_tuple,
    "$map": _decode_map,
    "$bytes": _decode_bytes,
    "$float": _decode_float,
}


def encode_value(value: object) -> Any:  # noqa: ANN401 - what JSON holds
    """A value as JSON can hold it; `UnwritableError` if it has no such form."""
    if value is None or type(value) in (bool, int, str):
        return value
    match value:
        case Atom():
            return {"$atom": str(value)}
        case Pid():
            return {"$pid": str(value)}
        case Reference():
            return {"$ref": str(value)}
        case String():
            return {"$string": str(value)}
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if type(value) is tuple:
        return {"$tuple": [encode_value(each) for each in value]}
    if type(value) is list:
        return [encode_value(each) for each in value]
    if isinstance(value, Mapping):
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: encode_value(each) for key, each in value.items()}
        return {"$map": [[encode_value(key), encode_value(each)] for key, each in value.items()]}
    raise UnwritableError(f"a {type(value).__name__} has no form in a log", hint="send plain data")


def format_line(occurrence: Occurrence) -> str:
    """The line of an event, without a line break; `UnwritableError` if a value in it has no form in JSON."""
    kind, subject, other, data, time, location = occurrence[:6]
    row: dict[str, Any] = {"event": kind.value, "subject": str(subject)}
    if other is not None:
        row[OTHERS[kind]] = str(other)
    if isinstance(data, Function) and kind in (Kind.FORK, Kind.INIT):
        row |= {"module": data.module, "function": data.name, "arguments": encode_value(list(data.arguments))}
        if data.keywords:
            row["keywords"] = {key: encode_value(each) for key, each in data.keywords.items()}
    else:
        row[DATA[kind]] = encode_value(data)
    if time is not None:
        row["time"] = time
    if location is not None:
        row["location"] = location
    try:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        line.encode()
        return line
    except ValueError as error:
        raise UnwritableError(f"an event cannot be written: {error}") from None
