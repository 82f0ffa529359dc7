"""Stage 3: Python written in a spec, made into functions of an instance and its parameters' values."""

from __future__ import annotations

import ast
import inspect
import traceback
from collections.abc import Callable
from typing import Any, TypeAlias

from mopsus.logics.reset import may_reset
from mopsus.model import Code, Diagnostic, Spec
from mopsus.monitor.errors import MonitorError
from mopsus.monitor.instance import Instance

Function: TypeAlias = "Callable[[Instance, tuple[Any, ...]], Any]"
"""Takes an instance and the values of all parameters of the spec, in order."""

_SELF = "__MONITOR"
_CALLS = {"__RESET": "reset", "__SKIP": "skip"}
_NAMES = {"__LOC": "location", "__DEFAULT_MESSAGE": "default_message"}


class CompiledCode:
    """All Python of one spec."""

    def __init__(self, spec: Spec) -> None:
        codes = [each.code for prop in spec.properties for each in prop.handlers if each.code is not None]
        self.resets = any(map(may_reset, codes))
        compiler = Compiler(spec)
        self.imported = compiler.namespace
        self.initials = [(variable, compiler.expression(variable.initial)) for variable in spec.variables]
        self.conditions = [compiler.expression(each.condition) if each.condition else None for each in spec.events]
        self.actions = [compiler.statements(each.action) if each.action else None for each in spec.events]
        self.handlers: list[dict[str, Function]] = [
            {each.category: compiler.statements(each.code) for each in prop.handlers if each.code is not None}
            for prop in spec.properties
        ]


class Compiler:
    """Compiles the code of one spec. All of it shares one namespace, in which the spec's imports have run."""

    def __init__(self, spec: Spec) -> None:
        self._parameters = tuple(parameter.name for parameter in spec.parameters)
        self._variables = frozenset(variable.name for variable in spec.variables) - set(self._parameters)
        self.namespace: dict[str, Any] = {"__name__": f"mopsus.spec.{spec.name}"}
        """What the spec's imports have brought."""
        for statement in spec.imports:
            self._import(statement)

    def _import(self, statement: Code) -> None:
        line = statement.span.line - 1 if statement.span else 0
        file = statement.span.file if statement.span else "<spec>"
        try:
            exec(compile("\n" * line + statement.text, file, "exec"), self.namespace)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a module does; one that leaves ends nobody's run
            told = traceback.format_exception_only(error)[-1].strip()
            message, hint = (
                f"`{statement.text.strip()}` fails: {told}",
                "correct it, install what is missing, or put it on PYTHONPATH; names in pointcuts need no import",
            )
            found = Diagnostic("MONITOR-012", message, statement.span, hint, statement.text)
            raise MonitorError(message, hint=hint, code=found.code, diagnostics=(found,)) from error

    def expression(self, code: Code) -> Function:
        """The value of an expression."""
        return self._function(code, lambda: [ast.Return(ast.parse(code.text.strip(), mode="eval").body)])

    def statements(self, code: Code) -> Function:
        """What some statements do."""
        return self._function(code, lambda: ast.parse(code.text).body or [ast.Pass()])

    def _function(self, code: Code, body: Callable[[], list[ast.stmt]]) -> Function:
        if code.function is not None:
            return _by_name(code.function, self._parameters)
        arguments = ast.arguments([], [ast.arg(_SELF), *map(ast.arg, self._parameters)], None, [], [], None, [])
        # Parsed rather than built, because what a function node consists of differs by version.
        function = ast.parse("def spec_code(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.args, function.body = arguments, body()
        tree = _Names(self._variables).visit(ast.Module([function], []))
        ast.fix_missing_locations(tree)
        ast.increment_lineno(tree, code.span.line - 1 if code.span else 0)
        scope: dict[str, Any] = {}
        exec(compile(tree, code.span.file if code.span else "<spec>", "exec"), self.namespace, scope)
        made = scope["spec_code"]
        return lambda instance, values: made(instance, *values)


def _by_name(function: Callable[..., Any], parameters: tuple[str, ...]) -> Function:
    """A function of a class-based spec takes the instance and those parameters that it names."""
    names = list(inspect.signature(function).parameters)[1:]
    places = [parameters.index(name) for name in names]
    return lambda instance, values: function(instance, *(values[place] for place in places))


class _Names(ast.NodeTransformer):
    """Monitor variables and the special names become attributes and methods of the instance."""

    def __init__(self, variables: frozenset[str]) -> None:
        self._variables = variables
        self._hidden: list[set[str]] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = isinstance(node.func, ast.Name) and node.func.id in _CALLS
        self.generic_visit(node)
        if called and isinstance(node.func, ast.Call):
            node.func = node.func.func  # by name alone it is a call already
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if any(node.id in names for names in self._hidden):
            return node
        instance = ast.Name(_SELF, ast.Load())
        made: ast.expr
        if node.id in _CALLS:
            made = ast.Call(ast.Attribute(instance, _CALLS[node.id], ast.Load()), [], [])
        elif node.id in _NAMES:
            made = ast.Attribute(instance, _NAMES[node.id], ast.Load())
        elif node.id in self._variables:
            made = ast.Attribute(instance, node.id, node.ctx)
        else:
            return node
        return ast.copy_location(made, node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._inner(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._inner(node)

    def _inner(self, node: ast.Lambda | ast.FunctionDef) -> ast.AST:
        # An argument of an inner function hides the variable of the same name.
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
        self._hidden.append({argument.arg for argument in every})
        try:
            return self.generic_visit(node)
        finally:
            self._hidden.pop()
