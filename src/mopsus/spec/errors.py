"""Stage 1: what is raised when a specification is wrong, and how several findings are gathered into one error."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from mopsus.model import Diagnostic, MopsusError, Span
from mopsus.spec.diagnostics import render_all, suggest
from mopsus.spec.source import Source

MAX_ERRORS = 50
"""A text with more errors than this is not worth reading further."""


class SpecError(MopsusError):
    """A specification is wrong; `diagnostics` has every error found, in the order of the text."""

    code = "SPEC-001"

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        found = tuple(diagnostics)
        first = found[0]
        super().__init__(first.message, hint=first.hint, code=first.code, diagnostics=found)

    def __str__(self) -> str:
        return render_all(self.diagnostics)


def refusal(code: str, message: str, span: Span | None, hint: str) -> SpecError:
    """The error that something of a spec that is right cannot be used as it is; shows the line of its file."""
    line = linecache.getline(span.file, span.line).rstrip("\n") if span is not None else ""
    return SpecError([Diagnostic(code, message, span, hint, line)])


class ArgumentError(MopsusError):
    """The argument of a pointcut primitive is wrong at `offset` (and `length` characters on) of its text."""

    code = "SPEC-019"

    def __init__(
        self, message: str, *, offset: int = 0, length: int = 1, hint: str = "", code: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.offset = offset
        self.length = length


class Findings:
    """The errors and warnings found so far in one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    @property
    def full(self) -> bool:
        """Have so many errors been found that reading on is no help?"""
        return len(self.errors) >= MAX_ERRORS

    def error(self, code: str, message: str, span: Span | None, hint: str = "") -> None:
        """Record an error."""
        if not self.full:
            self.errors.append(self._diagnostic(code, message, span, hint, warning=False))

    def error_at(self, code: str, message: str, start: int, end: int, hint: str = "") -> None:
        """Record an error about `text[start:end]`."""
        self.error(code, message, self.source.span(start, end), hint)

    def warning(self, code: str, message: str, span: Span | None, hint: str = "") -> None:
        """Record something that is legal but hardly meant."""
        self.warnings.append(self._diagnostic(code, message, span, hint, warning=True))

    def unknown(self, code: str, what: str, name: str, candidates: Iterable[str], span: Span | None) -> None:
        """Record that `name` is none of the `candidates`, naming the nearest or all of them."""
        known = sorted(candidates)
        near = suggest(name, known)
        hint = f"did you mean '{near}'?" if near else f"use one of: {', '.join(known)}" if known else ""
        self.error(code, f"unknown {what} '{name}'", span, hint)

    def add(self, others: Findings) -> None:
        """Record what was found elsewhere in the same source."""
        self.errors += others.errors[: MAX_ERRORS - len(self.errors)]
        self.warnings += others.warnings

    def finish(self) -> tuple[Diagnostic, ...]:
        """Raise `SpecError` if there were errors; otherwise give the warnings."""
        if self.errors:
            raise SpecError(sorted(self.errors, key=_place))
        return tuple(sorted(self.warnings, key=_place))

    def _diagnostic(self, code: str, message: str, span: Span | None, hint: str, *, warning: bool) -> Diagnostic:
        line = self.source.line(span.line) if span else ""
        return Diagnostic(code, message, span, hint, line, warning)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (span.line, span.column) if span else (0, 0)
