"""Stage 4: values as text logs have them: atoms, numbers, strings, tuples, lists, maps, binaries, identifiers.

The notation is Erlang's, as far as it is about values. What is Python's own has a tilde before it, so that a recorded
value means afterwards what it meant when it happened: `~"text"` is a `str`, which a property may name as an atom or as
a string, and `~none` is `None`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from mopsus.events.component.log.messages import BadLineError, UnwritableError
from mopsus.model.term import Atom, Pid, Reference, String

DEEPEST = 100
"""How deep values may be nested; far less than what Python's stack allows."""
MOST_DIGITS = 4300
"""Of an integer; what Python reads in reasonable time."""

_GAP = re.compile(r"[ \t]*")
_TOKEN = re.compile(
    r"""
    (?P<pid><\d+\.\d+\.\d+>)
  | (?P<float>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))
  | (?P<int>-?\d+)
  | (?P<atom>[a-z][A-Za-z0-9_@]*)
  | (?P<quoted>'(?:[^'\\]|\\.)*')
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<text>~"(?:[^"\\]|\\.)*")
  | (?P<none>~none\b)
  | (?P<reference>\#Ref<\d+\.\d+\.\d+\.\d+>)
  | (?P<map>\#\{)
  | (?P<binary><<)
  | (?P<mark>[\[\]{}(),]|=>|>>)
    """,
    re.VERBOSE | re.ASCII,
)
_PLAIN_ATOM = re.compile(r"[a-z][A-Za-z0-9_@]*", re.ASCII)
_PID = re.compile(r"<\d+\.\d+\.\d+>", re.ASCII)
_REFERENCE = re.compile(r"#Ref<\d+\.\d+\.\d+\.\d+>", re.ASCII)
_ESCAPE = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "d": "\x7f"}
_VALUE = "an atom, a number, a string, an identifier, or `[`, `{`, `#{`, `<<`"


class ValueReader:
    """Reads values from a text, and the marks between them. `BadLineError` where something else stands."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self._depth = 0

    def peek(self) -> tuple[str, str, int]:
        """The next token: its kind ("" if there is none), its text, and where it ends."""
        gap = _GAP.match(self.text, self.position)
        assert gap is not None  # it matches the empty text
        self.position = gap.end()
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            return "", "", self.position
        return match.lastgroup, match[0], match.end()

    def fail(self, expected: str) -> BadLineError:
        """The error that something else should stand here."""
        rest = self.text[self.position :]
        if rest.startswith(('"', "'", '~"')):
            return BadLineError("expected the other quote of the text that begins here", self.position)
        found = re.match(r"[A-Za-z0-9_.@]+|.", rest, re.DOTALL)
        shown = f"not `{found[0][:20]}`" if found else "but the text ends"
        return BadLineError(f"expected {expected}, {shown}", self.position)

    def take(self, mark: str) -> None:
        """This mark, and nothing else."""
        kind, text, end = self.peek()
        if kind not in ("mark", "map", "binary") or text != mark:
            raise self.fail(f"`{mark}`")
        self.position = end

    def at(self, mark: str) -> bool:
        """Does this mark come next? Then it is taken."""
        kind, text, end = self.peek()
        if kind == "mark" and text == mark:
            self.position = end
            return True
        return False

    def pid(self) -> Pid:
        """An identifier of a component."""
        kind, text, end = self.peek()
        if kind != "pid":
            raise self.fail("an identifier such as `<0.20.0>`")
        self.position = end
        return Pid(text)

    def atom(self, what: str) -> str:
        """An atom, which names something."""
        kind, text, end = self.peek()
        if kind not in ("atom", "quoted"):
            raise self.fail(what)
        start, self.position = self.position, end
        return text if kind == "atom" else _unescape(text[1:-1], start + 1)

    def value(self) -> object:
        """A value of any kind."""
        kind, text, end = self.peek()
        start = self.position
        match kind:
            case "pid" | "reference" | "atom" | "int" | "float" | "none":
                self.position = end
                return _simple(kind, text, start)
            case "quoted":
                self.position = end
                return _atom(_unescape(text[1:-1], start + 1))
            case "string":
                self.position = end
                return String(_unescape(text[1:-1], start + 1))
            case "text":
                self.position = end
                return _unescape(text[2:-1], start + 2)
            case "binary":
                return self._binary()
            case "map":
                return self._map()
        if text == "{":
            return tuple(self.sequence("{", "}"))
        if text == "[":
            return self.sequence("[", "]")
        raise self.fail(_VALUE)

    def sequence(self, opening: str, closing: str) -> list[object]:
        """Values between two marks, with commas."""
        self.take(opening)
        self._deepen()
        items: list[object] = []
        if not self.at(closing):
            items.append(self.value())
            while self.at(","):
                items.append(self.value())
            if not self.at(closing):
                raise self.fail(f"`,` or `{closing}`")
        self._depth -= 1
        return items

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadLineError(f"values are nested more than {DEEPEST} deep", self.position - 1)

    def _map(self) -> dict[object, object]:
        self.take("#{")
        self._deepen()
        found: dict[object, object] = {}
        if not self.at("}"):
            while True:
                self.peek()
                at = self.position
                key = self.value()
                self.take("=>")
                value = self.value()
                try:
                    double = key in found
                except TypeError:
                    raise BadLineError("a list or map cannot be a key", at) from None
                if double:
                    raise BadLineError("a key occurs twice", at)
                found[key] = value
                if self.at("}"):
                    break
                if not self.at(","):
                    raise self.fail("`,` or `}`")
        self._depth -= 1
        return found

    def _binary(self) -> bytes:
        self.take("<<")
        parts: list[bytes] = []
        if not self.at(">>"):
            while True:
                kind, text, end = self.peek()
                start = self.position
                if kind == "string":
                    parts.append(_unescape(text[1:-1], start + 1).encode())
                elif kind == "int" and len(text) <= 3 and text.isdigit() and int(text) < 256:
                    parts.append(bytes([int(text)]))
                else:
                    raise self.fail("a string or a number from 0 to 255")
                self.position = end
                if self.at(">>"):
                    break
                if not self.at(","):
                    raise self.fail("`,` or `>>`")
        return b"".join(parts)


def _simple(kind: str, text: str, start: int) -> object:
    match kind:
        case "pid":
            return Pid(text)
        case "reference":
            return Reference(text)
        case "atom":
            return _atom(text)
        case "int":
            if len(text.lstrip("-")) > MOST_DIGITS:
                raise BadLineError(f"a number has more than {MOST_DIGITS:,} digits", start)
            return int(text)
        case "float":
            number = float(text)
            if math.isinf(number):
                raise BadLineError("a number is too large", start)
            return number
    return None


def _atom(name: str) -> Atom | bool:
    """An atom; those that are truth values are Python's."""
    return name == "true" if name in ("true", "false") else Atom(name)


def _unescape(text: str, offset: int) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        long, short, octal, other = match.groups()
        if other is not None:
            return _ESCAPED.get(other, other)
        code = int(octal, 8) if octal else int((long or short)[:8], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000 or (long and len(long) > 8):
            raise BadLineError("there is no such character", offset + match.start())
        return chr(code)

    return _ESCAPE.sub(character, text)


# ---- writing ---------------------------------------------------------------------------------

_SHORT_ESCAPES = {'"': '\\"', "'": "\\'", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _quote(text: str, mark: str) -> str:
    if text.isascii() and text.isprintable() and "\\" not in text and mark not in text:
        return f"{mark}{text}{mark}"
    return mark + "".join(_escaped(each) if each != "'" or mark == "'" else each for each in text) + mark


def _escaped(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        raise UnwritableError("a text has half of a character in it", hint="write whole characters, not surrogates")
    return character if character.isprintable() else f"\\x{{{code:X}}}"


def format_atom(name: str) -> str:
    """An atom, in quotes if it needs them."""
    return name if _PLAIN_ATOM.fullmatch(name) else _quote(name, "'")


def format_value(value: object) -> str:
    """A value as it is read again; `UnwritableError` if it has no such form."""
    match value:
        case Pid() | Reference():
            if not (_PID if isinstance(value, Pid) else _REFERENCE).fullmatch(value):
                raise UnwritableError(f"`{value}` is no identifier that a text log can hold", hint="use JSON lines")
            return str(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "~none"
        case Atom():
            return format_atom(value)
        case String():
            return _quote(value, '"')
    if type(value) is str:
        return "~" + _quote(value, '"')
    if type(value) is int:
        return _integer(value)
    if type(value) is float:
        return _float(value)
    if type(value) is tuple:
        return "{" + ",".join(map(format_value, value)) + "}"
    if type(value) is list:
        return "[" + ",".join(map(format_value, value)) + "]"
    if isinstance(value, bytes | bytearray):
        return "<<" + ",".join(map(str, value)) + ">>"
    if isinstance(value, Mapping):
        return "#{" + ",".join(f"{format_value(key)} => {format_value(item)}" for key, item in value.items()) + "}"
    raise UnwritableError(
        f"a {type(value).__name__} has no form in a text log", hint="send plain data, or project the message"
    )


def _integer(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        raise UnwritableError(f"a number has more than {MOST_DIGITS:,} digits") from None


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise UnwritableError(f"{value} has no form in a text log", hint="use JSON lines")
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")
