"""Stage 6: a list of known violations that are accepted for now.

A violation is known again by its *fingerprint*: the spec, the property, the category, and the place without line
numbers, so that an edit elsewhere in a file does not make it a new one. The place is the file and the function in it; a
file of the project is named by its path below the root, one of an installed package or the standard library by its
path there.
"""

from __future__ import annotations

import ast
import builtins
import sysconfig
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import NamedTuple

import msgspec

from mopsus.model import UNDECODABLE, Verdict
from mopsus.model.text import file_line, position
from mopsus.report.messages import ReportError
from mopsus.report.output import Output
from mopsus.syntax import syntax_tree

VERSION = 1


class Fingerprint(NamedTuple):
    """What makes two violations the same in two runs."""

    spec: str
    property: str
    category: str
    place: str


class Accepted(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An entry of a baseline file. `reason` is for people, and stays when the file is written anew."""

    spec: str
    property: str
    category: str
    place: str = ""
    reason: str = ""

    @builtins.property  # the field `property` hides the name in this class
    def fingerprint(self) -> Fingerprint:
        """What the entry accepts."""
        return Fingerprint(self.spec, self.property, self.category, self.place)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    accepted: list[Accepted]


def read_baseline(path: Path) -> list[Accepted]:
    """The entries of a baseline file; `ReportError` if it cannot be read or is none."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise ReportError(
            f"cannot read the baseline {path}: {error.strerror or error}",
            hint="write one from the violations of a run",
            code="REPORT-005",
        ) from error
    except UNDECODABLE as error:
        raise ReportError(
            f"{path} is no baseline: {error}", hint="delete it, and write it anew", code="REPORT-005"
        ) from error
    if found.version != VERSION:
        raise ReportError(f"{path} is a baseline of version {found.version}, not {VERSION}", code="REPORT-005")
    return found.accepted


def write_baseline(path: Path, fingerprints: Iterable[Fingerprint], known: Iterable[Accepted] = ()) -> None:
    """Write the fingerprints, sorted, as a baseline file; those that were known keep their reasons."""
    reasons = {entry.fingerprint: entry.reason for entry in known}
    entries = [Accepted(*each, reason=reasons.get(each, "")) for each in sorted(set(fingerprints))]
    output = Output(path)
    text = msgspec.json.format(msgspec.json.encode(_File(VERSION, entries)), indent=2).decode()
    output.write(text + "\n")
    output.commit()


class Fingerprints:
    """Gives the fingerprints of verdicts in the project at `root`. Sources are read once."""

    def __init__(self, root: Path) -> None:
        self._bases = [*(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")), str(root)]
        self._functions: dict[str, tuple[tuple[int, int, str], ...]] = {}

    def __call__(self, verdict: Verdict) -> Fingerprint:
        """The fingerprint of a verdict."""
        place, in_trace = position(verdict.location, verdict.row)
        if not in_trace and (found := file_line(place)):
            place = self._place(found[0], found[1])
        text = place.encode("utf-8", "replace").decode("utf-8")
        return Fingerprint(verdict.spec, verdict.property, verdict.category, text)

    def _place(self, file: str, line: int) -> str:
        if file not in self._functions:
            self._functions[file] = _functions(file)
        name = self._portable(PurePath(file))
        function = next((name for first, last, name in self._functions[file] if first <= line <= last), "")
        return f"{name}::{function}" if function else name

    def _portable(self, path: PurePath) -> str:
        """A path that is the same on another machine, as far as there is one."""
        for base in self._bases:  # an environment often lies below the root of its project, so that comes last
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return path.as_posix()


def _functions(file: str) -> tuple[tuple[int, int, str], ...]:
    """First line, last line and qualified name of each function and class in a file, inner ones first."""
    try:
        with open(file, "rb") as source:  # no Path: a test may be under way that plays another system
            tree = syntax_tree(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: list[tuple[int, int, str]] = []
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, outer = pending.pop()
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{outer}.{child.name}" if outer else child.name
                found.append((child.lineno, child.end_lineno or child.lineno, name))
            pending.append((child, name))
    return tuple(sorted(found, key=lambda each: (each[1] - each[0], each[0])))
