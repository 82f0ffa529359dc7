"""Sources of a running program as syntax trees: read while other threads and finalizers run, which may do the same."""

from __future__ import annotations

import ast


def syntax_tree(source: bytes, path: str = "<unknown>") -> ast.Module:
    """Parse a source; raises what `ast.parse` does."""
    try:
        return ast.parse(source, path)
    except SystemError:  # Python 3.11 loses count when something else is parsed meanwhile
        return ast.parse(source, path)
