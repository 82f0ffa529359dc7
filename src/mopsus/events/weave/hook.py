"""Stage 4: the import hook: tells when a module has been executed, and executes rewritten code where that is asked for.

The loader of a module is replaced for the time of loading only: the module, its spec and whoever asks them see the
original.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from mopsus import _core
from mopsus.events.weave.cache import CodeCache
from mopsus.events.weave.compiling import Compiled, Prepare, compile_beside, compile_prepared
from mopsus.events.weave.exceptions import EXCEPTIONS
from mopsus.events.weave.joinpoints import Operation, Weaving
from mopsus.events.weave.origin import is_ours, is_own
from mopsus.events.weave.rewrite import ITERTOOLS, MAKERS, Plan
from mopsus.events.weave.sites import NOTHING, SITES, concerns

if TYPE_CHECKING:
    from importlib.abc import Loader  # which loads much that nobody needs

_log = logging.getLogger("mopsus")


class Hook:
    """Weaves modules as they are imported, from `install` to `remove`. Several may be installed at a time."""

    def __init__(self, weaving: Weaving) -> None:
        self.weaving = weaving
        self.rewrites = weaving.rewrites
        self._defined = weaving.defined
        self.left_alone: list[str] = []
        """Files that could not be rewritten: an expression is deeper than Python's compiler takes, or a hook for audits
        of the program refuses something that is needed."""
        self.hears = False
        """The interpreter tells of exceptions; no code is rewritten for them."""

    def install(self) -> None:
        """Modules that are imported from now on are woven; taps are served in those that were rewritten before."""
        if any(each.operation is Operation.RAISE for each in self.rewrites):
            self.hears = EXCEPTIONS.start()
        if self.hears:
            self.rewrites = tuple(
                replace(each, operation=Operation.RAISED) if each.operation is Operation.RAISE else each
                for each in self.rewrites
            )
        SITES.start(self.rewrites, self._defined)
        _FINDER.hooks.append(self)
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)

    def remove(self) -> None:
        """Modules are imported as before. Code that was rewritten stays, and serves no taps."""
        _FINDER.hooks.remove(self)
        if not _FINDER.hooks and _FINDER in sys.meta_path:
            sys.meta_path.remove(_FINDER)
        SITES.stop(self.rewrites, self._defined)
        if self.hears:
            EXCEPTIONS.stop()

    def main_code(self, source: bytes, path: str) -> CodeType:
        """The code of a main program, where functions and classes are told of as soon as they are defined."""
        definitions = frozenset(name for hook in _FINDER.hooks for name in hook.weaving.definitions)
        plan = _FINDER.plan("__main__", definitions, own=True)
        original = compile(source, path, "exec", dont_inherit=True)
        if not plan or not _candidate(source, plan):
            return original
        return _FINDER.bind("__main__", path, compile_beside(original, source, path, plan), own=True)


_PYTHONS_OWN = (BuiltinImporter, FrozenImporter, PathFinder)
"""Finders of which nothing is the program's doing."""


class _Finder:
    """Finds what the other finders find, with a loader that weaves."""

    def __init__(self) -> None:
        self.hooks: list[Hook] = []
        self.cache = CodeCache()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            if any(finder is own for own in _PYTHONS_OWN):
                spec = _core.unobserved(finder.find_spec, fullname, path, target)
            else:
                spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = cast("Loader", _WeavingLoader(spec.loader))
                return spec
        return None

    def loaded(self, module: ModuleType) -> None:
        """Tell that a module has been executed."""
        for hook in tuple(self.hooks):
            hook.weaving.module_loaded(module)

    def plan(self, module: str, definitions: frozenset[str] = frozenset(), *, own: bool) -> Plan:
        """What is rewritten in a module."""
        if is_ours(module):
            return Plan()
        asked = [each for hook in self.hooks for each in hook.rewrites if concerns(each, module, own=own)]
        return Plan.of(asked, definitions)

    def code(
        self, loader: SourceFileLoader, module: str, prepare: Prepare | None = None, how: str = ""
    ) -> CodeType | None:
        """The rewritten code of a module; None if there is nothing in it to rewrite, or it cannot be. `how` says what
        `prepare` does."""
        path = loader.path
        own = is_own(path)
        plan = self.plan(module, own=own)
        if not plan:
            return None
        try:
            return self._code(loader, module, plan, prepare, how, own=own)
        except Exception as error:  # what is the program's own, who loads it as it is will meet as well
            self._leave_alone(path, error)
            return None

    def _code(
        self, loader: SourceFileLoader, module: str, plan: Plan, prepare: Prepare | None, how: str, *, own: bool
    ) -> CodeType | None:
        path = loader.path
        found = loader.path_stats(path)
        stamp = int(found["mtime"] * 1e6), int(found["size"])
        key = plan.key(module) + how
        made = self.cache.load(path, key, *stamp)
        if made is not None:
            return SITES.bind(module, made, own=own)
        source = loader.get_data(path)
        if not _candidate(source, plan):
            self.cache.store(path, key, *stamp, NOTHING)
            return None
        try:
            if prepare is not None:
                compiled = compile_prepared(source, path, plan, prepare)
            else:
                compiled = compile_beside(_get_code(loader, module), source, path, plan)
        except (SyntaxError, ValueError, RecursionError):
            return None  # who compiles it as it is will complain
        if compiled.rewritten is not None:
            self.cache.store(path, key, *stamp, compiled.rewritten)
        return self.bind(module, path, compiled, own=own)

    def bind(self, module: str, path: str, compiled: Compiled, *, own: bool) -> CodeType:
        """What runs of a source that was just compiled."""
        if compiled.rewritten is None:
            self._leave_alone(path, None)
            return compiled.original
        return SITES.bind(module, compiled.rewritten, own=own) or compiled.original

    def _leave_alone(self, path: str, error: Exception | None) -> None:
        """Say that a file is loaded as it is. `error`: what has come up; None if an expression is too deep."""
        for hook in self.hooks:
            hook.left_alone.append(path)
        reason = f"{type(error).__name__}: {error}" if error is not None else "an expression in it is too deep"
        with suppress(Exception):  # a hook for audits that refuses something may refuse whatever logging does
            _log.warning(
                "%s could not be rewritten: its loops, operators and statements are no events (%s)", path, reason
            )


def _get_code(loader: SourceFileLoader, module: str) -> CodeType:
    """The code of a module as Python gets and keeps it."""
    code = loader.get_code(module)
    assert code is not None
    return code


_FINDER = _Finder()


def rewritten_code(path: str, module: str, prepare: Prepare, how: str) -> CodeType | None:
    """For a loader that itself changes the syntax trees of modules, which `prepare` does: the code with both changes;
    None if there is nothing to rewrite, so that the loader does its work alone. `how` names what `prepare` does and
    all that it depends on, so that the code can be kept."""
    return _FINDER.code(SourceFileLoader(module, path), module, prepare, how)


class _WeavingLoader:
    """Stands for a loader until its module is executed."""

    def __init__(self, original: Loader) -> None:
        self._original = original

    def __getattr__(self, name: str) -> object:
        return getattr(self._original, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        original = self._original
        if module.__spec__ is not None:
            module.__spec__.loader = original
        module.__loader__ = original
        # What finding code does, which depends on what is kept of earlier runs, is not the program's doing.
        code = _core.unobserved(_code_of, original, module.__name__)
        if code is None:
            original.exec_module(module)
        else:
            _call_with_frames_removed(code, module.__dict__)
        _FINDER.loaded(module)


def _code_of(loader: Loader, module: str) -> CodeType | None:
    """The code of a module, rewritten if that is asked for; None if only its loader knows how to execute it."""
    if not isinstance(loader, SourceFileLoader):
        return None
    code = _FINDER.code(loader, module)
    if code is None and type(loader).exec_module is SourceFileLoader.exec_module:
        code = loader.get_code(module)
    return code


def _call_with_frames_removed(code: CodeType, namespace: dict[str, Any]) -> None:
    exec(code, namespace)


def _hide_from_tracebacks(*functions: FunctionType) -> None:
    """The interpreter leaves out of tracebacks whatever looks like this: its own import system."""
    for function in functions:
        function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")


_hide_from_tracebacks(
    cast(FunctionType, _call_with_frames_removed),
    cast(FunctionType, _code_of),
    cast(FunctionType, _WeavingLoader.exec_module),
)


_ITERATION = rb"\bfor\b|\biter\b|\*|\byield\b|,[^=\n]*=|[\])][ \t]*=[^=]|\bas\s*[(\[]"
_CANDIDATES = {
    Operation.ITER: _ITERATION,
    Operation.NEXT: _ITERATION + rb"|\bnext\b|\b(?:" + "|".join((*MAKERS, ITERTOOLS)).encode() + rb")\b",
    Operation.GET_ITEM: rb"\[",
    Operation.SET_ITEM: rb"\[",
    Operation.DELETE_ITEM: rb"\[",
    Operation.ENTER: rb"\bwith\b",
    Operation.EXIT: rb"\bwith\b",
    Operation.RAISE: rb"\braise\b|\bassert\b",
    Operation.HANDLE: rb"\bexcept\b",
    Operation.AWAIT: rb"\bawait\b",
}
"""What a text must contain to be looked at; for the other operations a name is looked for."""


@lru_cache(maxsize=256)
def _candidates(plan: Plan) -> tuple[tuple[bytes, ...], re.Pattern[bytes] | None]:
    """Words and a pattern: a text without them has nothing to rewrite."""
    patterns = [rb"\bdef\b|\bclass\b"] if plan.definitions else []
    words: set[bytes] = set()
    for operation, names in plan.names.items():
        if operation in _CANDIDATES:
            patterns.append(_CANDIDATES[operation])
        elif operation in (Operation.YIELD, Operation.RESUME):
            words.add(b"yield")
        elif not names:
            patterns.append(rb"\.|\(")
        else:
            # `a.b` may be broken into lines, and `_C__x` is written `__x` in its class.
            words |= {re.sub(r"^_[^_].*?(?=__)", "", name.rpartition(".")[2]).encode() for name in names}
    return tuple(sorted(words)), re.compile(b"|".join(patterns)) if patterns else None


def _candidate(source: bytes, plan: Plan) -> bool:
    """Whether there may be something to rewrite: decided by the text alone, which is much quicker than parsing it."""
    words, pattern = _candidates(plan)
    if any(word in source for word in words) or _ENCODED.match(source) is not None:
        return True
    return pattern is not None and pattern.search(source) is not None


_ENCODED = re.compile(rb"^(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=][ \t]*(?!utf-?8|latin-1|ascii)", re.IGNORECASE)
"""A text that may not spell names as bytes of ASCII."""
