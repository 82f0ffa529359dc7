"""Stage 4: a source compiled twice: as it is, which is the code that the program is given, and rewritten, which runs.

What the compiler has to say about a source, it says once: when it compiles it as it is.
"""

from __future__ import annotations

import _imp
import ast
import marshal
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType
from typing import NamedTuple, TypeAlias

from mopsus import _core
from mopsus.events.weave.rewrite import Plan, rewrite
from mopsus.events.weave.sites import Rewritten
from mopsus.syntax import syntax_tree

Prepare: TypeAlias = "Callable[[ast.Module, bytes], object]"
"""Changes the syntax tree of a source."""

_REWRITING = "<rewriting>"
"""The name of all sources while they are rewritten, by which warnings about them are known."""
_UNHEARD = ("ignore", None, Warning, re.compile(re.escape(_REWRITING) + r"\Z"), 0)


class Compiled(NamedTuple):
    """What became of a source."""

    original: CodeType
    rewritten: Rewritten | None
    """None if it cannot be rewritten."""


def compile_prepared(source: bytes, path: str, plan: Plan, prepare: Prepare) -> Compiled:
    """Compile a source whose syntax tree is changed before by somebody else."""
    tree = syntax_tree(source, path)
    prepare(tree, source)
    original = compile(tree, path, "exec", dont_inherit=True)
    return Compiled(original, _rewritten(tree, path, plan, original))


def compile_beside(original: CodeType, source: bytes, path: str, plan: Plan) -> Compiled:
    """Compile a source that has been compiled as it is."""
    try:
        with _unheard():
            tree = syntax_tree(source, _REWRITING)
    except (SyntaxError, ValueError, RecursionError):
        return Compiled(original, None)
    return Compiled(original, _rewritten(tree, path, plan, original))


def _rewritten(tree: ast.Module, path: str, plan: Plan, original: CodeType) -> Rewritten | None:
    try:
        places = rewrite(tree, plan)
        if not places:
            return Rewritten((), original, b"")
        with _unheard():
            code = compile(tree, _REWRITING, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):  # expressions may have become too deep for the compiler
        return None
    _imp._fix_co_filename(code, path)  # type: ignore[attr-defined]  # as the import system does it
    return Rewritten(places, code, marshal.dumps(original)) if _core.alike(code, original) else None


@contextmanager
def _unheard() -> Iterator[None]:
    """Nothing is said about sources that are being rewritten.

    The list of filters is changed without telling anybody of it: else what was said before would be said again.
    """
    filters = warnings.filters
    filters.insert(0, _UNHEARD)  # type: ignore[attr-defined]  # a list, as long as nobody assigns something else
    try:
        yield
    finally:
        with suppress(ValueError):
            filters.remove(_UNHEARD)  # type: ignore[attr-defined]
