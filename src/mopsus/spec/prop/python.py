"""Stage 1: what the Python of a property does: which names it assigns, and what it returns."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def parse_body(text: str) -> list[ast.stmt]:
    """The statements of a block; none if it is not valid, which was reported where it was read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """The names that statements give a value to, each with the node that does."""
    for node in _walk(body):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, node
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.alias(name=name, asname=alias):
                yield alias or name.partition(".")[0], node
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield name, node


def returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """The return statements of a block itself."""
    return (node for node in _walk(body) if isinstance(node, ast.Return))


def _walk(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes that belong to the block itself: not what has a scope of its own, but for `:=` in comprehensions."""
    stack: list[tuple[ast.AST, bool]] = [(node, False) for node in reversed(nodes)]
    while stack:
        node, inner = stack.pop()
        if not inner or isinstance(node, ast.NamedExpr):
            yield node
        if isinstance(node, ast.NamedExpr):
            stack += [(node.value, inner), (node.target, False)]
        elif not isinstance(node, _SCOPES):
            within = inner or isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
            stack += [(child, within) for child in reversed(list(ast.iter_child_nodes(node)))]
