"""Source files of programs that are monitored: comments that switch findings off, and places of functions."""

from __future__ import annotations

from fuzz.files import file_of

from mopsus.contracts.switches import read_comments
from mopsus.report.baseline import _functions


def one(data: bytes) -> None:
    path = str(file_of("program.py", data))
    for comment in read_comments(path):
        assert comment.span.line >= 1
        assert comment.about
    for first, last, name in _functions(path):
        assert 1 <= first <= last, name
