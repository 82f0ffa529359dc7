"""What a program has, as far as its text says: to tell of names that nothing has, before it runs."""

from __future__ import annotations

import ast
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from types import BuiltinFunctionType, CodeType

from mopsus.interactive.python.atlas import is_file, lines_of, split_line
from mopsus.model import Place, PlaceKind

_DYNAMIC = frozenset({"exec", "__import__", "importlib", "setattr", "runpy"})
"""Names whose use makes that a program may have functions which its text does not show."""


class Outline:
    """The program's own files: its script, and the modules beside it that it imports."""

    def __init__(self, script: str, root: str) -> None:
        """`root` is the folder from which it imports its own modules."""
        self._script, self._root = script, root

    def wrong_with(self, place: Place) -> str | None:
        """Why the program will never come to a place, in words that say what to do; None if it may."""
        match place.kind:
            case PlaceKind.SYSCALL:
                return "system calls of a Python program are not seen here; run the interpreter under GDB for them"
            case PlaceKind.SIGNAL:
                return _wrong_with_signal(place.what)
            case PlaceKind.LINE:
                return self._wrong_with_line(place.what)
            case PlaceKind.CALL:
                return self._wrong_with_call(place.what)
            case PlaceKind.READ | PlaceKind.WRITE | PlaceKind.ACCESS:
                return _wrong_with_variable(place.what)
            case PlaceKind.UPDATE:
                return _wrong_with_expression(place.what)
        return None

    def _wrong_with_line(self, what: str) -> str | None:
        file, line = split_line(what, self._script)
        codes = [code for code in self._codes if is_file(file, code.co_filename)]
        if not codes:
            return None  # it may be loaded later
        lines = sorted(set().union(*map(lines_of, codes)))
        if line in lines:
            return None
        after = next((each for each in lines if each > line), None)
        return f"line {line} of {file} has no code" + (f"; the next that has is {after}" if after is not None else "")

    def _wrong_with_call(self, what: str) -> str | None:
        own = self._functions
        if "*" in what or self._is_dynamic or any(f".{name}".endswith(f".{what}") for name in own):
            return None
        if _is_native(what):
            return f"{what} is no function in Python, and calls of others are not seen; name the function that calls it"
        if what.partition(".")[0] in self._imported or self._may_come(what.split(".")):
            return None
        last = {name.rpartition(".")[2]: name for name in sorted(own, key=lambda name: (-len(name), name))}
        near = get_close_matches(what, [*own, *last], 3)
        said = f"; there is {', '.join(sorted({last.get(name, name) for name in near}))}" if near else ""
        return f"the program has no function {what}{said}"

    def _may_come(self, parts: Sequence[str]) -> bool:
        """Is there anything by which a function could get this name, that its definition does not show?"""
        modules = {os.path.splitext(os.path.basename(path))[0] for path in self._files}
        bound = self._bound
        for part in parts[1:] if parts[0] in modules | {"__main__"} else parts:
            if bound.get(part, False):
                return True
            if part not in bound:
                return False
        return True

    # ---- reading its text

    @cached_property
    def _files(self) -> dict[str, ast.Module]:
        found: dict[str, ast.Module] = {}
        todo = [self._script]
        while todo:
            path = todo.pop()
            if path in found:
                continue
            try:
                with open(path, "rb") as file:
                    tree = found[path] = ast.parse(file.read())
            except (OSError, SyntaxError, ValueError):
                continue
            todo += (file for name in _imports(tree) for file in _find(name, path, self._root))
        return found

    @cached_property
    def _codes(self) -> list[CodeType]:
        return [code for path, tree in self._files.items() for code in codes_inside(compile(tree, path, "exec"))]

    @cached_property
    def _functions(self) -> set[str]:
        """With and without the name of the module."""
        names = set()
        for code in self._codes:
            name = code.co_qualname.replace(".<locals>", "")
            module = os.path.splitext(os.path.basename(code.co_filename))[0]
            for each in {name, name.removesuffix(".__init__")} - {"<module>"}:
                names |= {each, f"{module}.{each}", f"__main__.{each}"}
        return names

    @cached_property
    def _bound(self) -> dict[str, bool]:
        """All names that something is given to, and whether that may have more in it than the text shows."""
        nodes = [node for tree in self._files.values() for node in ast.walk(tree)]
        classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
        bound: dict[str, bool] = {}
        for node in nodes:
            for name, is_open in _bindings(node, classes):
                bound[name] = bound.get(name, False) or is_open
        return bound

    @cached_property
    def _imported(self) -> set[str]:
        return {name.partition(".")[0] for tree in self._files.values() for name in _imports(tree)}

    @cached_property
    def _is_dynamic(self) -> bool:
        return not self._files or any(
            isinstance(node, ast.Name) and node.id in _DYNAMIC
            for tree in self._files.values()
            for node in ast.walk(tree)
        )


def _bindings(node: ast.AST, classes: Mapping[str, ast.ClassDef]) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name, bool(node.decorator_list)
        case ast.ClassDef():
            yield node.name, _is_open(node, classes)
        case ast.Import() | ast.ImportFrom():
            yield from ((each.asname or each.name.partition(".")[0], True) for each in node.names)
        case ast.Name(ctx=ast.Store()):
            yield node.id, True
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr, True


def _is_open(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], within: tuple[str, ...] = ()) -> bool:
    """May a class have more in it than the text of the program shows?"""
    bases = [classes.get(base.id) if isinstance(base, ast.Name) else None for base in node.bases]
    return bool(node.decorator_list or node.keywords or node.name in within) or any(
        base is None or _is_open(base, classes, (*within, node.name)) for base in bases
    )


def _is_native(what: str) -> bool:
    """Is it a function in C, of a module that is loaded?"""
    module, _, name = what.rpartition(".")
    found = getattr(sys.modules.get(module or "builtins"), name, None)
    return isinstance(found, BuiltinFunctionType)


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{each.name}" if node.module else f"{base}{each.name}" for each in node.names)


def _find(name: str, importer: str, folder: str) -> Iterator[str]:
    """The file of a module that lies in a folder, or within the package of the importer."""
    bare = name.lstrip(".")
    if bare != name:
        folder = os.path.dirname(os.path.abspath(importer))
        for _ in range(len(name) - len(bare) - 1):
            folder = os.path.dirname(folder)
    path = os.path.join(folder, *bare.split(".")) if bare else folder
    yield from (file for file in (f"{path}.py", os.path.join(path, "__init__.py")) if os.path.isfile(file))


def codes_inside(code: CodeType) -> Iterator[CodeType]:
    """Some code, and all that is defined in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes_inside(each)


def _wrong_with_signal(name: str) -> str | None:
    if not name or (name in signal.Signals.__members__ and name not in {"SIGKILL", "SIGSTOP"}):
        return None
    near = get_close_matches(name, signal.Signals.__members__, 1)
    return f"a program cannot be told of a signal {name}" + (f"; did you mean {near[0]}?" if near else "")


def _wrong_with_variable(what: str) -> str | None:
    if all(part.isidentifier() for part in what.split(".")):
        return None
    return f"`{what}` is neither a variable nor an attribute; its updates can be watched"


def _wrong_with_expression(what: str) -> str | None:
    try:
        compile(what, "<expression>", "eval")
    except SyntaxError as error:
        return f"`{what}` is no Python expression: {error.msg}"
    return None
