"""Where findings are switched off: by a comment in the source, or by the settings of the project.

`# mopsus: ignore[Name]` on the line of an event that led to a finding switches it off; on the line of a `def` or
`class` it does so for the whole body. What is switched off is counted, so that it is not forgotten.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePath

from mopsus import untouched
from mopsus.contracts.choice import unknown
from mopsus.contracts.settings import FILE, Settings
from mopsus.model import Diagnostic, Span, Verdict, WitnessEvent
from mopsus.model.text import file_line, position, short_path
from mopsus.syntax import syntax_tree

_MARK = re.compile(rb"#\s*mopsus:\s*ignore")
_COMMENT = re.compile(r"#\s*mopsus:\s*ignore(?:\[(?P<names>[^\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that switches contracts off: where it stands, and the lines that it is about."""

    names: frozenset[str]
    span: Span
    about: range


class Switches:
    """Decides about each verdict. Safe to be called from several threads, and without a lock: a verdict may come in
    the middle of another, when an object dies, and in a process that was forked while another thread had one.

    `known` gives the names of all specs that there are, to tell of others that are mentioned.
    """

    def __init__(self, settings: Settings, known: Callable[[], Collection[str]]) -> None:
        self._settings = settings
        self._known = known
        self._comments = cache(read_comments)
        self._files: set[str] = set()
        self._suppressed: list[str] = []
        """The spec of each verdict that was switched off."""

    @property
    def suppressed(self) -> Counter[str]:
        """By spec, how many verdicts were switched off."""
        return Counter(self._suppressed)

    def __call__(self, verdict: Verdict) -> Verdict | None:
        """The verdict as it is to be reported; None if it is switched off."""
        if self._is_off(verdict):
            self._suppressed.append(verdict.spec)
            return None
        severity = self._settings.severity.get(verdict.spec)
        return verdict if severity is None else replace(verdict, severity=severity)

    def before(self, report: Callable[[Verdict], object]) -> Callable[[Verdict], None]:
        """Return what decides about a verdict, and then gives it to `report` unless it is switched off."""

        def decide(verdict: Verdict) -> None:
            if (kept := self(verdict)) is not None:
                report(kept)

        return decide

    def warnings(self) -> Iterator[Diagnostic]:
        """What is mentioned but does not exist: in the settings, and in comments of files that findings touch."""
        known = self._known()
        for name in sorted(self._settings.names() - set(known)):
            told = unknown(name, list(known))
            yield Diagnostic("CONTRACT-003", f"{FILE}: {told.message}", hint=told.hint, warning=True)
        for file in sorted(self._files):
            for comment in self._comments(file):
                if not comment.names:
                    message, hint = "this ignores nothing", "say what: # mopsus: ignore[Name]"
                    yield Diagnostic("CONTRACT-004", message, comment.span, hint=hint, warning=True)
                for name in sorted(comment.names - set(known)):
                    told = unknown(name, list(known))
                    yield Diagnostic("CONTRACT-004", told.message, comment.span, hint=told.hint, warning=True)

    def _is_off(self, verdict: Verdict) -> bool:
        if verdict.spec in self._settings.disable or self._is_off_by_path(verdict):
            return True
        return any(self._is_off_by_comment(verdict.spec, *place) for place in _places(verdict))

    def _is_off_by_path(self, verdict: Verdict) -> bool:
        places = _places(verdict) if self._settings.paths else []
        if not places:
            return False
        path, root = PurePath(places[-1][0]), self._settings.root
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
        return any(
            fnmatchcase(name, pattern) and (verdict.spec in names or "*" in names)
            for pattern, names in self._settings.paths.items()
        )

    def _is_off_by_comment(self, spec: str, file: str, line: int) -> bool:
        self._files.add(file)
        return any(spec in comment.names and line in comment.about for comment in self._comments(file))


def _places(verdict: Verdict) -> list[tuple[str, int]]:
    """File and line of each event that led to a verdict, as far as they have one; the last comes last."""
    items: tuple[Verdict | WitnessEvent, ...] = (*verdict.witness, verdict)
    found = []
    for item in items:
        place, in_trace = position(item.location, item.row)
        if not in_trace and (at := file_line(place)):
            found.append((at[0], at[1]))
    return found


def read_comments(file: str) -> tuple[Comment, ...]:
    """The comments of a source file that switch something off; none if there is no such file."""
    try:
        with untouched.open_file(file, "rb") as source:
            data = source.read()
    except (OSError, ValueError):
        return ()
    if _MARK.search(data) is None:  # most files need not be parsed
        return ()
    try:
        tree = syntax_tree(data)
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    heads = list(_heads(tree))
    return tuple(
        _comment(file, token, found, heads)
        for token in tokens
        if token.type == tokenize.COMMENT and (found := _COMMENT.search(token.string))
    )


def _comment(file: str, token: tokenize.TokenInfo, found: re.Match[str], heads: list[tuple[range, range]]) -> Comment:
    line, column = token.start
    span = Span(short_path(file), line, column + found.start() + 1, line, column + found.end() + 1)
    names = frozenset(filter(None, (name.strip() for name in (found["names"] or "").split(","))))
    about = next((body for head, body in heads if line in head), range(line, line + 1))
    return Comment(names, span, about)


def _heads(tree: ast.Module) -> Iterator[tuple[range, range]]:
    """Of each function and class: the lines from `def` or `class` to where its body begins, and all its lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            head = range(node.lineno, max(node.body[0].lineno, node.lineno + 1))
            yield head, range(node.lineno, (node.end_lineno or node.lineno) + 1)
