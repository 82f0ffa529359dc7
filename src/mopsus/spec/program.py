"""Stage 1: pointcut primitives for running programs: how their arguments are written, and what they are as data.

A *join point* primitive (`call`, `next`, `set`, …) names places in a program; a *binding* one (`target`, `args`,
`thread`, `task`) says where values come from; the others (`within`, `cflow`, `threadName`) restrict. What they mean for
an event is in `branches`; which objects of a program they pick is for the stage that weaves.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mopsus.model import Code, Pointcut
from mopsus.spec.errors import ArgumentError
from mopsus.spec.pointcuts import Primitive, register

CALLS = frozenset({"call", "execution"})
ATTRIBUTES = frozenset({"get", "set", "delete"})
ITEMS = frozenset({"getitem", "setitem", "delitem"})
SUBJECTS = frozenset({"iter", "next", "enter", "exit", "raising", "handling", "awaiting"})
"""Operations on a subject: a parameter that is bound to it, or types that it must have."""
GENERATORS = frozenset({"yielding", "resuming"})
LIFES = frozenset({"startThread", "endThread", "endObject", "endProgram"})
"""Beginnings and ends; they happen at one moment, so that before and after are the same."""
DEBUGGED = frozenset({"line", "write", "read", "access", "update", "syscall", "signal", "throw", "catch"})
"""Points that only a debugger sees; see `debugging`."""
JOIN_POINTS = CALLS | ATTRIBUTES | ITEMS | SUBJECTS | GENERATORS | LIFES | DEBUGGED | {"new"}
CURRENT = frozenset({"thread", "task"})
BINDINGS = frozenset({"target", "args", "value"}) | CURRENT
RESTRICTIONS = frozenset({"within", "cflow", "threadName"})
PROGRAM = JOIN_POINTS | BINDINGS | RESTRICTIONS

_FINALIZERS = frozenset({"__del__", "_dealloc_warn"})
"""Methods that are called when an object dies."""
MAX_BRANCHES = 64
"""A pointcut that falls into more cases than this is refused."""

_PART = re.compile(r"[\w*]+")
_SPACE = re.compile(r"\s*")
_GLOB = re.compile(r"[\w*?]+(?:\.[\w*?]+)*")
_NAME = re.compile(r"[^\W\d]\w*")
_VARIABLE = re.compile(rf"[*&]*{_NAME.pattern}(?:(?:\.|->|::){_NAME.pattern}|\[\d+\])*")
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)+\"|'(?:[^'\\\n]|\\.)+'")


@dataclass(frozen=True, slots=True)
class Dotted:
    """A dotted name with `*` in its parts; `plus` is the number of the part whose subclasses are meant too."""

    parts: tuple[str, ...]
    plus: int | None = None
    whole: bool = False
    """It begins with a package, so that it is the whole name of something, not the end of one."""

    def __str__(self) -> str:
        return ".".join(part + "+" * (number == self.plus) for number, part in enumerate(self.parts))

    @property
    def owner(self) -> Dotted:
        """The name without its last part."""
        return Dotted(self.parts[:-1], self.plus, self.whole)

    def is_plain(self) -> bool:
        """Is it written without quotes?"""
        return all(map(_PART.fullmatch, self.parts))

    @property
    def text(self) -> str:
        """How it is written: what is no dotted name, in quotes."""
        if self.is_plain():
            return str(self)
        from mopsus.spec.predicate import quote  # which most patterns do not need

        return quote(str(self))


Pattern = tuple[Dotted, ...]
"""Alternatives; none at all: anything."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What `args` says: names for arguments by position (None: any) and by name, and whether there may be more."""

    positional: tuple[str | None, ...]
    named: tuple[tuple[str, str | None], ...]
    more: bool

    def bound(self) -> tuple[str, ...]:
        """The names that values are bound to."""
        return tuple(name for name in (*self.positional, *(name for _, name in self.named)) if name is not None)


@dataclass(frozen=True, slots=True)
class Branch:
    """One case of a pointcut: all `points` match, none of `without`, and the others hold (or do not, if False)."""

    points: tuple[Pointcut, ...]
    without: tuple[Pointcut, ...]
    others: tuple[tuple[Pointcut, bool], ...]

    @property
    def kind(self) -> str:
        """What its join points are; the checks see to it that they are all the same."""
        return self.points[0].kind


def parse_types(text: str | None) -> Pattern:
    """The classes that the type of a parameter names; none at all: anything."""
    return _pattern(text)[0] if text else ()


def imported_packages(imports: Iterable[Code]) -> frozenset[str]:
    """The packages that import statements make known under their own names: `import http.client` does `http`."""
    names = [name for each in imports if each.text.startswith("import ") for name in each.text[7:].split(",")]
    return frozenset(name.strip().partition(".")[0] for name in names if " as " not in name)


def rooted(pattern: Pattern, packages: Set[str]) -> Pattern:
    """The pattern, of which a name that begins with one of the packages means what is in that package only."""
    return tuple(
        replace(dotted, whole=True) if len(dotted.parts) > 1 and dotted.parts[0] in packages else dotted
        for dotted in pattern
    )


class TooManyBranchesError(ValueError):
    """A pointcut falls into too many cases."""


def is_program(pointcut: Pointcut | None) -> bool:
    """Does the pointcut speak of a running program?"""
    if pointcut is None:
        return False
    if pointcut.kind == "exit":  # which is also something that components do
        return isinstance(pointcut.argument, tuple | None)
    return pointcut.kind in PROGRAM or any(map(is_program, pointcut.operands))


def is_end(pointcut: Pointcut | None) -> bool:
    """Does it tell of the end of an object or of the program, which may come anywhere?"""
    if pointcut is None or pointcut.operands:
        return pointcut is not None and pointcut.kind != "not" and any(map(is_end, pointcut.operands))
    if pointcut.kind in CALLS:
        return any(dotted.parts[-1] in _FINALIZERS for dotted in pointcut.argument)
    return pointcut.kind in ("endObject", "endProgram")


def evaluates(pointcut: Pointcut | None) -> bool:
    """Does whoever watches for it evaluate an expression, which may do anything, rather than look at variables?"""
    if pointcut is None or pointcut.operands:
        return pointcut is not None and any(map(evaluates, pointcut.operands))
    if pointcut.kind == "value":
        return any(reading.is_code() for _, reading in pointcut.argument or ())
    variable = pointcut.kind in ("write", "read", "access", "update") and pointcut.argument is not None
    return variable and _VARIABLE.fullmatch(pointcut.argument) is None


def branches(pointcut: Pointcut) -> tuple[Branch, ...]:
    """The cases of a pointcut, any of which may hold. Raises `TooManyBranchesError`."""
    made = []
    for literals in cases(pointcut, True):
        points = tuple(part for part, wanted in literals if part.kind in JOIN_POINTS and wanted)
        without = tuple(part for part, wanted in literals if part.kind in JOIN_POINTS and not wanted)
        made.append(Branch(points, without, tuple(each for each in literals if each[0].kind not in JOIN_POINTS)))
    return tuple(made)


def subject(pointcut: Pointcut) -> str | None:
    """The plain name that the argument of a primitive consists of: a parameter, unless it is no parameter's name."""
    pattern = pointcut.argument
    if pointcut.kind in SUBJECTS | LIFES | CURRENT | {"target"} and pattern and len(pattern) == 1:
        only = pattern[0]
        if len(only.parts) == 1 and only.plus is None and "*" not in only.parts[0]:
            return str(only.parts[0])
    return None


Literals = tuple[tuple[Pointcut, bool], ...]
"""Primitives, each with whether it must hold."""


def cases(pointcut: Pointcut, wanted: bool) -> list[Literals]:
    """The cases of a pointcut, or of its negation if not `wanted`: primitives, each with whether it must hold. Raises
    `TooManyBranchesError`."""
    if pointcut.kind == "not":
        return cases(pointcut.operands[0], not wanted)
    if not pointcut.operands:
        return [((pointcut, wanted),)]
    parts = [cases(operand, wanted) for operand in pointcut.operands]
    if (pointcut.kind == "or") is wanted:
        joined = [case for part in parts for case in part]
    else:
        joined = [()]
        for part in parts:
            if len(joined) * len(part) > MAX_BRANCHES:
                raise TooManyBranchesError
            joined = [(*before, *after) for before in joined for after in part]
    if len(joined) > MAX_BRANCHES:
        raise TooManyBranchesError
    return joined


# ---- reading arguments


class _Text:
    """A place in the text of an argument."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.skip()

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    def skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, wanted: str) -> bool:
        if not self.text.startswith(wanted, self.at):
            return False
        self.at += len(wanted)
        self.skip()
        return True

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        self.skip()
        return found.group()

    def error(self, message: str, hint: str, length: int = 1) -> ArgumentError:
        return ArgumentError(message, offset=min(self.at, len(self.text)), length=length, hint=hint)


_PATTERN_HINT = "write names such as list.append | list.extend, mypkg.*Pool+.acquire"


def _pattern(text: str, *, empty: bool = False, last_plus: bool = True) -> tuple[Pattern, str]:
    """A pattern of names. `empty`: it may be left out; `last_plus`: the last part may have `+`."""
    at = _Text(text)
    if at.done or text.strip() == "_":
        if empty:
            return (), "_" if text.strip() else ""
        raise at.error("a name is missing", _PATTERN_HINT)
    found = [_dotted(at, last_plus)]
    while not at.done:
        if at.text.startswith("||", at.at):
            raise at.error("alternatives of names are separated by '|'", "write a | b", 2)
        if not at.take("|"):
            _refuse_signature(at)
            raise at.error(f"unexpected '{at.text[at.at]}'", _PATTERN_HINT)
        found.append(_dotted(at, last_plus))
    return tuple(found), " | ".join(each.text for each in found)


def _dotted(at: _Text, last_plus: bool) -> Dotted:
    if (quoted := at.match(_QUOTED)) is not None:  # in another language than Python: "ns::f"
        return Dotted((_literal(quoted) or quoted,))
    parts: list[str] = []
    plus: int | None = None
    while True:
        start = at.at
        part = at.match(_PART)
        if part is None:
            _refuse_signature(at)
            raise at.error("a name is missing", _PATTERN_HINT)
        if part[0].isdigit():
            at.at = start
            raise at.error(f"'{part}' is no name", _PATTERN_HINT, len(part))
        parts.append(part)
        sign = at.at
        if at.take("+"):
            if plus is not None:
                at.at = sign
                raise at.error("a name has one '+' at the most", "keep the one at the class")
            plus = len(parts) - 1
        if not at.take("."):
            break
    if plus is not None and not last_plus and plus != len(parts) - 2:
        at.at = sign if plus == len(parts) - 1 else start
        raise at.error("'+' stands at the class", "write Base+.method")
    return Dotted(tuple(parts), plus)


def _refuse_signature(at: _Text) -> None:
    if not at.done and at.text[at.at] == "(":
        hint = "write the name only; what is said of arguments stands in args(…)"
        raise at.error("a name has no list of arguments", hint, len(at.text) - at.at)
    if not at.done and _PART.match(at.text, at.at):
        raise at.error("a name has no type before it", "write the name only, such as Table.open")


def parse_member(text: str) -> tuple[Pattern, str]:
    """What `call` and its like take, and how it is written."""
    return _pattern(text, last_plus=False)


def _class(text: str) -> tuple[Pattern, str]:
    return _pattern(text)


def _subject(text: str) -> tuple[Pattern, str]:
    return _pattern(text, empty=True)


_ARGS_HINT = "write names of parameters: args(a, _, key=b, ..); '_' is any argument, '..' any further ones"


def _arguments(text: str) -> tuple[Arguments, str]:
    at = _Text(text)
    positional: list[str | None] = []
    named: list[tuple[str, str | None]] = []
    more = False
    while not at.done:
        if more:
            raise at.error("'..' stands last", _ARGS_HINT)
        if at.take(".."):
            more = True
        else:
            _argument(at, positional, named)
        if not at.done and not at.take(","):
            raise at.error(f"unexpected '{at.text[at.at]}'", _ARGS_HINT)
        if at.done and text.rstrip().endswith(","):
            at.at = text.rindex(",")
            raise at.error("an argument is missing", _ARGS_HINT)
    written = [name or "_" for name in positional] + [f"{key}={name or '_'}" for key, name in named] + [".."] * more
    return Arguments(tuple(positional), tuple(named), more), ", ".join(written)


def _argument(at: _Text, positional: list[str | None], named: list[tuple[str, str | None]]) -> None:
    start = at.at
    name = at.match(_NAME)
    if name is None:
        raise at.error(f"unexpected '{at.text[at.at]}'", _ARGS_HINT)
    if not at.take("="):
        if named:
            at.at = start
            raise at.error("an argument by position stands before those by name", _ARGS_HINT, len(name))
        positional.append(None if name == "_" else name)
        return
    value = at.match(_NAME)
    if value is None:
        raise at.error("a name is missing after '='", _ARGS_HINT)
    if name in dict(named):
        at.at = start
        raise at.error(f"'{name}' is given twice", _ARGS_HINT, len(name))
    named.append((name, None if value == "_" else value))


def parse_globs(text: str) -> tuple[tuple[str, ...], str]:
    """Globs of modules or functions, and how they are written."""
    hint = "write globs of modules or functions: mypkg.*, mypkg.db.connect | tests.*"
    at = _Text(text)
    found: list[str] = []
    while True:
        glob = at.match(_GLOB)
        if glob is None:
            raise at.error("a glob is missing", hint)
        found.append(glob)
        if at.done:
            return tuple(found), " | ".join(found)
        if not at.take("|"):
            raise at.error(f"unexpected '{at.text[at.at]}'", hint)


def _quoted(text: str) -> tuple[str, str]:
    from mopsus.spec.predicate import quote

    value = _literal(text.strip())
    if value is None:
        hint = 'write threadName("worker")'
        raise ArgumentError("'threadName' takes a text in quotes", length=max(1, len(text)), hint=hint)
    return value, quote(value)


def _literal(text: str) -> str | None:
    """What a string literal stands for."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text or "0")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _nothing(text: str) -> tuple[Pattern, str]:
    if text.strip():
        raise ArgumentError("'endProgram' takes nothing", length=len(text), hint="write endProgram()")
    return (), ""


def _nested(text: str) -> tuple[Pointcut, str]:
    """A pointcut as an argument."""
    from mopsus.spec.errors import Findings
    from mopsus.spec.parser import parse_pointcut
    from mopsus.spec.printer import print_pointcut
    from mopsus.spec.source import Source

    hint = "write cflow(call(mypkg.*)); only call and execution, with within, have a control flow"
    if not text.strip():
        raise ArgumentError("'cflow' takes a pointcut", hint=hint)
    findings = Findings(Source(text, ""))
    condition, inner = parse_pointcut(findings)
    for found in findings.errors:
        offset = found.span.column - 1 if found.span and found.span.line == 1 else 0
        raise ArgumentError(found.message, offset=offset, hint=found.hint, code=found.code)
    if condition is not None or inner is None or not _flows(inner):
        raise ArgumentError("this has no control flow", length=len(text), hint=hint)
    return inner, print_pointcut(inner)


def _flows(pointcut: Pointcut) -> bool:
    if pointcut.kind == "not":
        return all(part.kind in RESTRICTIONS for part in pointcut.operands)
    if pointcut.operands:
        return all(map(_flows, pointcut.operands))
    return pointcut.kind in CALLS or pointcut.kind == "within"


def _debugged(kind: str, text: str) -> tuple[Any, str]:
    from mopsus.spec.debugging import parse_argument  # for those who need it

    return parse_argument(kind, text)


def _register_all() -> None:
    parsers: dict[str, Any] = dict.fromkeys(CALLS | ATTRIBUTES | GENERATORS, parse_member)
    parsers |= dict.fromkeys(ITEMS | SUBJECTS | LIFES | CURRENT, _subject)
    parsers |= {"target": _class, "new": _class, "args": _arguments, "within": parse_globs, "cflow": _nested}
    parsers |= {"threadName": _quoted, "endProgram": _nothing}
    parsers |= {name: partial(_debugged, name) for name in (*DEBUGGED, "value")}
    for name in sorted(PROGRAM):
        register(Primitive(name, parsers[name], top_level=name in CURRENT))


_register_all()
