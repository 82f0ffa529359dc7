"""Stage 4: syntax trees in which loops and operators refer to sites.

Only expressions are put around expressions, at the same place in the source: lines, columns and the order of evaluation
stay, and so do docstrings, annotations and `__future__` imports. The tree is walked without recursion, because
programs contain expressions that are deeper than Python's stack.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mopsus.events.weave.joinpoints import Operation, Rewrite
from mopsus.events.weave.sites import DEFINED, Place, builtin_name

REVISION = 1
"""Of the rewriting: code that an earlier one has left in a cache is not used."""

_UNTOUCHED = frozenset({"annotation", "returns", "type_params", "pattern", "ctx", "op", "ops", "type_comment"})
"""Fields that hold no code that is run where it stands, or none that may be changed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is rewritten in one module."""

    names: dict[Operation, frozenset[str]] = field(default_factory=dict)
    """By operation: the names that it is about; empty: all."""
    definitions: frozenset[str] = frozenset()
    """Functions and classes at module level that are decorated; `*`: all."""

    @staticmethod
    def of(rewrites: Iterable[Rewrite], definitions: frozenset[str] = frozenset()) -> Plan:
        """All that these ask for."""
        names: dict[Operation, frozenset[str]] = {}
        for rewrite in rewrites:
            known = names.get(rewrite.operation)
            narrow = rewrite.names and (known is None or known)
            names[rewrite.operation] = rewrite.names | (known or frozenset()) if narrow else frozenset()
        return Plan(names, definitions)

    def __bool__(self) -> bool:
        return bool(self.names or self.definitions)

    def key(self) -> str:
        """The same for plans that are the same."""
        names = {operation.value: sorted(named) for operation, named in sorted(self.names.items())}
        return repr((REVISION, names, sorted(self.definitions)))


def rewrite(tree: ast.Module, plan: Plan, module: str) -> frozenset[Place]:
    """Change a tree as planned; which sites the code refers to now."""
    return _Rewriter(plan, module).run(tree)


@dataclass(slots=True)
class _Found:
    """A node that is looked at, and where it hangs: `setattr(parent, field, …)`, or in a list there."""

    node: Any
    parent: Any
    field: str
    index: int | None

    def replace(self, new: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


class _Rewriter:
    def __init__(self, plan: Plan, module: str) -> None:
        self._plan = plan
        self._module = module
        self._used: set[Place] = set()
        self._visitors: dict[type, Callable[[_Found], None]] = {}
        if Operation.ITER in plan.names or Operation.NEXT in plan.names:
            self._visitors |= {
                ast.For: self._loop,
                ast.comprehension: self._comprehension,
                ast.Assign: self._unpacking,
                ast.Starred: self._spread,
                ast.YieldFrom: self._delegation,
                ast.Call: self._call,
            }

    def run(self, tree: ast.Module) -> frozenset[Place]:
        found = list(_walk(tree, self._visitors))
        # Inner nodes come after outer ones: what is put around a node holds what its parts have become.
        for each in reversed(found):
            self._visitors[type(each.node)](each)
        if self._plan.definitions:
            self._decorate(tree)
        return frozenset(self._used)

    def _site(self, place: Place, at: ast.expr) -> ast.Name:
        self._used.add(place)
        return ast.copy_location(ast.Name(builtin_name(self._module, place), ast.Load()), at)

    def _around(self, kind: str, node: ast.expr, at: ast.AST) -> ast.expr:
        """A call with this argument; `at`: where the interpreter says that the operation is."""
        return ast.copy_location(ast.Call(self._site(Place(kind), node), [node], []), at)

    # ---- iteration ----

    def _loop(self, found: _Found) -> None:
        found.node.iter = self._around("loop", found.node.iter, _iterating_at(found.node, found.node.iter))

    def _comprehension(self, found: _Found) -> None:
        if not found.node.is_async:
            found.node.iter = self._around("loop", found.node.iter, _iterating_at(found.parent, found.node.iter))

    def _unpacking(self, found: _Found) -> None:
        node: ast.Assign = found.node
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Tuple | ast.List):
            return  # with several targets, the value itself is used as well
        if not isinstance(node.value, ast.Tuple | ast.List):  # of these the parts are assigned one by one
            node.value = self._around("spread", node.value, node.targets[0])

    def _spread(self, found: _Found) -> None:
        if isinstance(found.node.ctx, ast.Load):
            found.node.value = self._around("spread", found.node.value, found.parent)

    def _delegation(self, found: _Found) -> None:
        found.node.value = self._around("loop", found.node.value, found.node)

    def _call(self, found: _Found) -> None:
        node: ast.Call = found.node
        if isinstance(node.func, ast.Name) and node.func.id in ("iter", "next"):
            operation = Operation(node.func.id)
            if operation in self._plan.names:
                self._hand_over(node, Place(node.func.id))

    def _hand_over(self, node: ast.Call, place: Place) -> None:
        node.args.insert(0, node.func)
        node.func = self._site(place, node.func)

    # ---- definitions ----

    def _decorate(self, tree: ast.Module) -> None:
        chosen = self._plan.definitions
        pending: list[ast.AST] = list(tree.body)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if "*" in chosen or node.name in chosen:
                    node.decorator_list.append(ast.copy_location(ast.Name(DEFINED, ast.Load()), node))
            elif isinstance(node, ast.stmt):
                pending.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))


def _iterating_at(whole: ast.AST, iterable: ast.expr) -> ast.AST:
    """Where tracebacks say that a loop or comprehension gets its iterator."""
    return iterable if sys.version_info >= (3, 13) else whole


def _walk(tree: ast.AST, wanted: dict[type, Callable[[_Found], None]]) -> Iterator[_Found]:
    pending: list[Any] = [tree]
    while pending:
        parent = pending.pop()
        for name in parent._fields:
            if name in _UNTOUCHED:
                continue
            value = getattr(parent, name, None)
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        if type(item) in wanted:
                            yield _Found(item, parent, name, index)
                        pending.append(item)
            elif isinstance(value, ast.AST):
                if type(value) in wanted:
                    yield _Found(value, parent, name, None)
                pending.append(value)
