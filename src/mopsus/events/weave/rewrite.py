"""Stage 4: syntax trees in which loops and operators refer to sites.

Only expressions are put around expressions, at the same place in the source: lines, columns and the order of evaluation
stay, and so do docstrings, annotations and `__future__` imports. The tree is walked without recursion, because
programs contain expressions that are deeper than Python's stack.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mopsus.events.weave.joinpoints import Operation, Rewrite
from mopsus.events.weave.sites import DEFINED, Place, placeholder

REVISION = 5
"""Of the rewriting: code that an earlier one has left in a cache is not used."""

MAKERS = ("map", "filter", "zip", "enumerate", "reversed", "open")
"""Builtins that make iterators: C code may step them later on."""
ITERTOOLS = "itertools"
"""A module that has nothing but such functions."""

_UNTOUCHED = frozenset(
    {"annotation", "returns", "type_params", "pattern", "ctx", "op", "ops", "type_comment", "id", "attr", "kind"}
)
"""Fields that hold no code that is run where it stands, or none that may be changed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is rewritten in one module."""

    names: Mapping[Operation, frozenset[str]] = field(default_factory=dict)
    """By operation: the names that it is about; empty: all."""
    definitions: frozenset[str] = frozenset()
    """Functions and classes at module level that are decorated; `*`: all."""

    @staticmethod
    def of(rewrites: Iterable[Rewrite], definitions: frozenset[str] = frozenset()) -> Plan:
        """All that these ask for."""
        names: dict[Operation, frozenset[str]] = {}
        for rewrite in rewrites:
            if rewrite.operation is Operation.RAISED:
                continue
            known = names.get(rewrite.operation)
            narrow = rewrite.names and (known is None or known)
            names[rewrite.operation] = rewrite.names | (known or frozenset()) if narrow else frozenset()
        return Plan(names, definitions)

    def __bool__(self) -> bool:
        return bool(self.names or self.definitions)

    def __hash__(self) -> int:
        return hash((frozenset(self.names.items()), self.definitions))

    def key(self, module: str) -> str:
        """The same for what is rewritten in the same way."""
        names = {operation.value: sorted(named) for operation, named in sorted(self.names.items())}
        return repr((REVISION, module, names, sorted(self.definitions)))


def rewrite(tree: ast.Module, plan: Plan) -> tuple[Place, ...]:
    """Change a tree as planned; which sites the code refers to now, in the order of their numbers."""
    return _Rewriter(plan).run(tree)


class _Scope(NamedTuple):
    """What a node stands in: names that begin with two underscores are private to the class."""

    owner: str = ""
    function: str = ""


@dataclass(slots=True)
class _Found:
    """A node that is looked at, and where it hangs: in a field of its parent, or in a list there."""

    node: Any
    parent: Any
    field: str
    index: int | None
    scope: _Scope
    dotted: str | None = None
    """What is called, as it is written."""

    def replace(self, new: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


class _Rewriter:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._numbers: dict[Place, int] = {}
        self._makers = dict(zip(MAKERS, MAKERS, strict=True))
        asked = plan.names.keys()
        self._visitors: dict[type, Callable[[_Found], None]] = {}
        for operations, node, visit in (
            (_ITERATION, ast.For, self._loop),
            (_ITERATION, ast.AsyncFor, self._loop),
            (_ITERATION, ast.comprehension, self._comprehension),
            (_ITERATION, ast.Assign, self._assignment),
            (_ITERATION, ast.Starred, self._spread),
            (_ITERATION, ast.YieldFrom, self._delegation),
            ({Operation.NEXT}, ast.Import, self._imported),
            ({Operation.NEXT}, ast.ImportFrom, self._imported),
            (_ITERATION | {Operation.CALL}, ast.Call, self._call),
            (frozenset(_ATTRIBUTE.values()), ast.Attribute, self._attribute),
            (frozenset(_ITEM.values()), ast.Subscript, self._item),
            (_ITERATION | _MANAGEMENT, ast.With, self._with),
            (_MANAGEMENT, ast.AsyncWith, self._async_with),
            ({Operation.RAISE}, ast.Raise, self._raise),
            ({Operation.RAISE}, ast.Assert, self._assert),
            ({Operation.HANDLE}, ast.ExceptHandler, self._handler),
            ({Operation.AWAIT}, ast.Await, self._await),
            ({Operation.YIELD, Operation.RESUME}, ast.Yield, self._yield),
        ):
            if not operations.isdisjoint(asked):
                self._visitors[node] = visit

    def run(self, tree: ast.Module) -> tuple[Place, ...]:
        found = list(_walk(tree, self._visitors))
        for each in found:
            if isinstance(each.node, _IMPORTS):
                self._imported(each)
        # Inner nodes come after outer ones: what is put around a node holds what its parts have become.
        for each in reversed(found):
            if not isinstance(each.node, _IMPORTS):
                self._visitors[type(each.node)](each)
        if Operation.RESUME in self._plan.names:
            self._catch(tree)
        if self._plan.definitions:
            self._decorate(tree)
        return tuple(self._numbers)

    def _asks(self, operation: Operation, name: str = "") -> bool:
        names = self._plan.names.get(operation)
        return names is not None and (not names or name in names)

    def _site(self, place: Place, at: ast.AST) -> ast.expr:
        """A choice that the compiler has made: just the constant would be called, of which it warns."""
        number = self._numbers.setdefault(place, len(self._numbers))
        constant = ast.copy_location(ast.Constant(placeholder(number)), at)  # type: ignore[arg-type]  # tuples, too
        return ast.copy_location(ast.IfExp(constant, constant, constant), at)

    def _around(self, place: Place, node: ast.expr, at: ast.AST) -> ast.expr:
        """A call with this argument; `at`: where the interpreter says that the operation is."""
        return ast.copy_location(ast.Call(self._site(place, node), [node], []), at)

    # ---- iteration ----

    def _loop(self, found: _Found) -> None:
        node: ast.For | ast.AsyncFor = found.node
        self._iterate(node, node, is_async=isinstance(node, ast.AsyncFor))

    def _comprehension(self, found: _Found) -> None:
        self._iterate(found.node, found.parent, is_async=bool(found.node.is_async))

    def _iterate(self, node: ast.For | ast.AsyncFor | ast.comprehension, whole: ast.AST, *, is_async: bool) -> None:
        place = Place("async_loop") if is_async else Place("loop", _shape(node.target))
        node.iter = self._around(place, node.iter, _iterating_at(whole, node.iter))

    def _assignment(self, found: _Found) -> None:
        node: ast.Assign = found.node
        if len(node.targets) == 1:
            node.value = self._unpacked(node.targets[0], node.value)
            return
        shape = "".join(f"({_shape(each)})" if isinstance(each, _SEVERAL) else "_" for each in node.targets)
        if "(" in shape:
            # The value is used several times: each target gets one of its own, in the same order.
            first = node.targets[0]
            node.targets = [ast.copy_location(ast.Tuple(node.targets, ast.Store()), first)]
            node.value = self._around(Place("several", shape), node.value, first)

    def _unpacked(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """The value that is assigned to a target."""
        if not isinstance(target, _SEVERAL):
            return value
        if not isinstance(value, _SEVERAL):
            return self._around(Place("unpack", _shape(target)), value, target)
        # The parts are assigned one by one.
        parts = [*target.elts, *value.elts]
        if len(target.elts) == len(value.elts) and not any(isinstance(each, ast.Starred) for each in parts):
            value.elts = [self._unpacked(*each) for each in zip(target.elts, value.elts, strict=True)]
        return value

    def _spread(self, found: _Found) -> None:
        if isinstance(found.node.ctx, ast.Load):
            found.node.value = self._around(Place("spread"), found.node.value, found.parent)

    def _delegation(self, found: _Found) -> None:
        found.node.value = self._around(Place("delegate"), found.node.value, found.node)

    # ---- calls ----

    def _imported(self, found: _Found) -> None:
        """Names of the module that stand for `itertools` or for what it has."""
        node: ast.Import | ast.ImportFrom = found.node
        for each in node.names:
            if isinstance(node, ast.Import):
                if each.name == ITERTOOLS:
                    self._makers[each.asname or each.name] = ITERTOOLS
            elif node.module == ITERTOOLS and node.level == 0:
                self._makers[each.asname or each.name] = f"{ITERTOOLS}.{each.name}"

    def _call(self, found: _Found) -> None:
        node: ast.Call = found.node
        name = found.dotted
        if name is None:
            return
        if self._asks(Operation.CALL, name):
            self._hand_over(node, Place("call", name))
        elif name == "iter" or (name == "next" and self._asks(Operation.NEXT)):
            if not self._plan.names.keys().isdisjoint(_ITERATION):
                self._hand_over(node, Place(name))
        elif self._asks(Operation.NEXT):
            head, dot, rest = name.partition(".")
            maker = self._makers.get(head, "")
            if maker.startswith(ITERTOOLS) or (maker and not dot):
                self._hand_over(node, Place("make", maker + dot + rest))

    def _hand_over(self, node: ast.Call, place: Place) -> None:
        node.args.insert(0, node.func)
        node.func = self._site(place, node.func)

    # ---- attributes and items ----

    def _attribute(self, found: _Found) -> None:
        node: ast.Attribute = found.node
        private = _private(node.attr, found.scope.owner)
        for name in dict.fromkeys((node.attr, private)):
            if any(self._asks(operation, name) for operation in _operations(found, _ATTRIBUTE)):
                site = self._site(Place("attribute", name, private), node)
                new = _read(site, node.value) if isinstance(node.ctx, ast.Load) else _assigned(site, node.value, node)
                found.replace(ast.copy_location(new, node))
                return

    def _item(self, found: _Found) -> None:
        node: ast.Subscript = found.node
        if not any(self._asks(operation) for operation in _operations(found, _ITEM)):
            return
        site = self._site(Place("item"), node)
        if isinstance(node.ctx, ast.Load):
            found.replace(ast.copy_location(_read(site, node.value, node.slice), node))
        else:
            both = ast.copy_location(ast.Tuple([node.value, node.slice], ast.Load()), node)
            found.replace(ast.copy_location(_assigned(site, both, node), node))

    # ---- statements ----

    def _with(self, found: _Found) -> None:
        for item in found.node.items:
            if not self._plan.names.keys().isdisjoint(_MANAGEMENT):
                item.context_expr = self._around(Place("with"), item.context_expr, item.context_expr)
            if isinstance(item.optional_vars, _SEVERAL) and not self._plan.names.keys().isdisjoint(_ITERATION):
                place = Place("with_unpacked", _shape(item.optional_vars))
                item.context_expr = self._around(place, item.context_expr, item.context_expr)

    def _async_with(self, found: _Found) -> None:
        for item in found.node.items:
            item.context_expr = self._around(Place("async_with"), item.context_expr, item.context_expr)

    def _raise(self, found: _Found) -> None:
        node: ast.Raise = found.node
        if node.exc is None:
            return  # what is being handled goes on; nothing is raised
        # The cause is set by the site: an exception is made of a class when both have been evaluated.
        given = [node.exc] if node.cause is None else [node.exc, node.cause]
        node.exc = ast.copy_location(ast.Call(self._site(Place("raise"), node.exc), given, []), node)
        node.cause = None

    def _assert(self, found: _Found) -> None:
        node: ast.Assert = found.node
        if isinstance(node.test, ast.Tuple):
            return  # which never fails, and of which the compiler warns
        at = _failing_at(node)
        failure = ast.Call(self._site(Place("assert"), at), [node.msg] if node.msg is not None else [], [])
        raised = ast.copy_location(ast.Raise(ast.copy_location(failure, at)), at)
        failed = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        checked = ast.copy_location(ast.If(failed, [raised], []), node)
        asserting = ast.copy_location(ast.Name("__debug__", ast.Load()), node)
        found.replace(ast.copy_location(ast.If(asserting, [checked], []), node))

    def _handler(self, found: _Found) -> None:
        node: ast.ExceptHandler = found.node
        node.body.insert(0, self._told(Place("handle"), node))

    def _told(self, place: Place, at: ast.stmt | ast.ExceptHandler) -> ast.stmt:
        """A statement of its own, on the line where another begins."""
        beginning = ast.copy_location(ast.Pass(), at)
        beginning.end_lineno, beginning.end_col_offset = at.lineno, at.col_offset
        site = self._site(place, beginning)
        call = ast.copy_location(ast.Call(site, [], []), site)
        return ast.copy_location(ast.Expr(call), site)

    # ---- coroutines and generators ----

    def _await(self, found: _Found) -> None:
        node: ast.Await = found.node
        site = self._site(Place("await"), node)
        target = ast.copy_location(ast.Subscript(site, node.value, ast.Load()), node)
        node.value = ast.copy_location(ast.Call(site, [], []), node.value)
        found.replace(ast.copy_location(ast.Call(site, [target, node], []), node))

    def _yield(self, found: _Found) -> None:
        node: ast.Yield = found.node
        name = found.scope.function
        if self._asks(Operation.YIELD, name):
            given = node.value or ast.copy_location(ast.Constant(None), node)
            node.value = self._around(Place("yield", name), given, given)
        if self._asks(Operation.RESUME, name):
            found.replace(self._around(Place("resume", name), node, node))

    def _catch(self, tree: ast.Module) -> None:
        """Put statements that yield into `try`: to throw an exception there is to make the generator go on."""
        pending: list[tuple[ast.AST, _Scope]] = [(tree, _Scope())]
        while pending:
            node, outer = pending.pop()
            scope = _inside(node, outer)
            for name in _BODIES:
                block: list[Any] = getattr(node, name, [])
                for index, child in enumerate(block):
                    if not isinstance(child, _SIMPLE):
                        pending.append((child, scope))
                    elif self._asks(Operation.RESUME, scope.function) and _yields(child):
                        block[index] = self._caught(child, Place("thrown", scope.function))

    def _caught(self, node: ast.stmt, place: Place) -> ast.stmt:
        again = ast.copy_location(ast.Raise(), node)
        handler = ast.copy_location(ast.ExceptHandler(None, None, [self._told(place, node), again]), node)
        return ast.copy_location(ast.Try([node], [handler], [], []), node)

    # ---- definitions ----

    def _decorate(self, tree: ast.Module) -> None:
        chosen = self._plan.definitions
        pending: list[ast.AST] = list(tree.body)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if "*" in chosen or node.name in chosen:
                    # A class is told when its decorators are done with it, a function before.
                    outer = isinstance(node, ast.ClassDef)
                    at = node.decorator_list[0] if outer and node.decorator_list else node
                    node.decorator_list.insert(0 if outer else len(node.decorator_list), self._site(Place(DEFINED), at))
            elif isinstance(node, ast.stmt):
                pending.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, _BLOCKS))


_ITERATION = frozenset({Operation.ITER, Operation.NEXT})
_ATTRIBUTE: dict[type, Operation] = {ast.Load: Operation.GET, ast.Store: Operation.SET, ast.Del: Operation.DELETE}
_ITEM: dict[type, Operation] = {
    ast.Load: Operation.GET_ITEM,
    ast.Store: Operation.SET_ITEM,
    ast.Del: Operation.DELETE_ITEM,
}
_MANAGEMENT = frozenset({Operation.ENTER, Operation.EXIT})
_IMPORTS = (ast.Import, ast.ImportFrom)
_SEVERAL = (ast.Tuple, ast.List)
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete)
_FUNCTIONS = (ast.Lambda, ast.GeneratorExp)
"""Expressions that are functions of their own."""


def _operations(found: _Found, by_context: Mapping[type, Operation]) -> tuple[Operation, ...]:
    """What is done with an attribute or item: `+=` reads it, too."""
    operation = by_context[type(found.node.ctx)]
    if isinstance(found.parent, ast.AugAssign) and found.field == "target":
        return by_context[ast.Load], operation
    return (operation,)


def _read(site: ast.expr, *arguments: ast.expr) -> ast.expr:
    return ast.Call(site, list(arguments), [])


def _assigned(site: ast.expr, key: ast.expr, node: ast.Attribute | ast.Subscript) -> ast.expr:
    """A target wherever the other was one: evaluated when that would have been."""
    return ast.Subscript(site, key, node.ctx)


def _private(name: str, owner: str) -> str:
    """The name of an attribute as code in a class has it."""
    owner = owner.lstrip("_")
    return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name


def _shape(target: ast.expr) -> str:
    """Of the targets among which a value is distributed, as the core reads it; nothing if there is one."""
    shape = ""
    for each in target.elts if isinstance(target, _SEVERAL) else ():
        if isinstance(each, ast.Starred):
            return shape + "*"
        shape += f"({_shape(each)})" if isinstance(each, _SEVERAL) else "_"
    return shape


def _yields(statement: ast.stmt) -> bool:
    """Does its own function yield in it?"""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield):
            return True
        if not isinstance(node, _FUNCTIONS):
            pending.extend(ast.iter_child_nodes(node))
    return False


def _iterating_at(whole: ast.AST, iterable: ast.expr) -> ast.AST:
    """Where tracebacks say that a loop or comprehension gets its iterator."""
    return iterable if sys.version_info >= (3, 13) else whole


def _failing_at(node: ast.Assert) -> ast.AST:
    """Where tracebacks say that an assertion has failed."""
    if sys.version_info >= (3, 13):
        return node.test
    return node if sys.version_info >= (3, 12) else _last_comparison(node.test) or node


def _last_comparison(test: ast.expr) -> ast.expr | None:
    """The last comparison that decides whether to jump: the compiler of 3.11 forgets to leave its place."""
    match test:
        case ast.Compare():
            return test
        case ast.UnaryOp(ast.Not(), operand):
            parts = [operand]
        case ast.BoolOp(values=parts):
            pass
        case ast.IfExp():
            parts = [test.test, test.body, test.orelse]
        case _:
            return None
    return next(filter(None, map(_last_comparison, reversed(parts))), None)


def _dotted(node: ast.expr) -> str | None:
    """A name with dots, as it is written."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _walk(tree: ast.AST, wanted: Mapping[type, object]) -> Iterator[_Found]:
    """The nodes of some types, outer ones first."""
    pending: list[tuple[Any, _Scope]] = [(tree, _Scope())]
    while pending:
        parent, outer = pending.pop()
        inner = _inside(parent, outer)
        for name in parent._fields:
            if name in _UNTOUCHED:
                continue
            value = getattr(parent, name, None)
            scope = inner if name == "body" else outer
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        if type(item) in wanted:
                            yield _found(item, parent, name, index, scope)
                        pending.append((item, scope))
            elif isinstance(value, ast.AST):
                if type(value) in wanted:
                    yield _found(value, parent, name, None, scope)
                pending.append((value, scope))


def _found(node: Any, parent: Any, field: str, index: int | None, scope: _Scope) -> _Found:  # noqa: ANN401 - any node
    return _Found(node, parent, field, index, scope, _dotted(node.func) if type(node) is ast.Call else None)


def _inside(node: ast.AST, scope: _Scope) -> _Scope:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return scope._replace(function=node.name)
    if isinstance(node, ast.Lambda):
        return scope._replace(function="<lambda>")
    if isinstance(node, ast.ClassDef):
        return _Scope(owner=node.name)
    return scope
