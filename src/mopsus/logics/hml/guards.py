"""Stage 2: Python guards of formulas made into functions of the values that they read.

Nothing of a guard runs when its formula is compiled. The imports of the spec run when a guard first uses what they
bring.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any

from mopsus.logics.hml.formula import Call, Constant, Guard, Name, PythonGuard, Term, TermGuard
from mopsus.logics.hml.refute import MAX_CASES
from mopsus.logics.hml.scope import Scope
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import suggestion
from mopsus.model import Code
from mopsus.model.symbolic import PythonTest
from mopsus.spec.hml.predicates import PREDICATES


def python_test(guard: PythonGuard, scope: Scope, imports: tuple[Code, ...]) -> PythonTest:
    """The guard as a function of slots; `FormulaError` if it reads a name that is nowhere bound."""
    read = [name for name in guard.names if name in scope.slots]
    foreign = [name for name in guard.names if name not in scope.slots and not hasattr(builtins, name)]
    known = imported_names(imports)
    for name in foreign:
        if name not in known:
            scope_names = (*scope.slots, *known)
            raise FormulaError(
                f"'{name}' is neither bound by an event nor imported",
                offset=guard.offset,
                length=guard.length,
                hint=suggestion(name, scope_names) if scope_names else "bind it in a pattern",
                code="LOGIC-071",
            )
    namespace: dict[str, Any] = _Imports(imports) if foreign else {}
    tree = ast.parse(f"lambda {', '.join(read)}: (\n{guard.text}\n)", mode="eval")
    function = eval(compile(tree, "<guard>", "eval"), namespace)
    return PythonTest(function, tuple(scope.slots[name] for name in read), guard.text.strip(), guard.offset)


def predicate_test(call: Call, scope: Scope) -> PythonTest:
    """The call of a predicate, as a function of slots; `FormulaError` if it is of anything but variables."""
    slots: list[int] = []
    for operand in call.operands:
        if not isinstance(operand, Name):
            message, hint = f"'{call.operator}' is a Python function and takes variables", "bind the value to one"
            raise FormulaError(message, offset=operand.offset, hint=hint, code="LOGIC-074")
        slots.append(scope.slot(operand.name, operand.offset))
    text = f"{call.operator}({', '.join(each.name for each in call.operands if isinstance(each, Name))})"
    return PythonTest(PREDICATES[call.operator], tuple(slots), text, call.offset)


_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "/=",
    ast.Lt: "<",
    ast.LtE: "=<",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def conditions(guard: Guard | None) -> tuple[tuple[Term, ...], ...]:
    """The alternatives of a guard, as far as they can be reasoned about; a part that cannot be is left out."""
    if guard is None:
        return ((),)
    if isinstance(guard, TermGuard):
        return guard.alternatives
    return tuple(_alternatives(ast.parse(f"(\n{guard.text}\n)", mode="eval").body))


def _alternatives(node: ast.expr) -> list[tuple[Term, ...]]:
    match node:
        case ast.BoolOp(ast.Or(), values):
            return [alternative for value in values for alternative in _alternatives(value)]
        case ast.BoolOp(ast.And(), values):
            found: list[tuple[Term, ...]] = [()]
            for value in values:
                found = [(*before, *after) for before in found for after in _alternatives(value)]
                if len(found) > MAX_CASES:
                    return [()]
            return found
        case ast.Compare(left, operators, comparators):
            operands = [left, *comparators]
            pairs = zip(operators, operands, comparators, strict=False)
            return [tuple(part for each in pairs for part in _comparison(*each))]
    return [()]


def _comparison(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> list[Term]:
    terms = [_operand(left), _operand(right)]
    if type(operator) not in _COMPARED or None in terms:
        return []
    return [Call(_COMPARED[type(operator)], tuple(term for term in terms if term is not None))]


def _operand(node: ast.expr) -> Term | None:
    match node:
        case ast.Name(name):
            return Name(name)
        case ast.Constant(value) if type(value) in (int, float, str):
            return Constant(value)
        case ast.UnaryOp(ast.USub(), ast.Constant(value)) if type(value) in (int, float):
            return Constant(-value)  # type: ignore[operator]  # a number, as the guard says
    return None


def names_in(text: str) -> tuple[str, ...]:
    """The names that a Python expression reads and does not bind itself, each once, in the order of the text."""
    tree = ast.parse(f"(\n{text}\n)", mode="eval")
    own = {
        *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)),
        *(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)),
    }
    read = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in own]
    read.sort(key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in read))


def imported_names(imports: Iterable[Code]) -> tuple[str, ...]:
    """The names that import statements bring."""
    found: list[str] = []
    for code in imports:
        for statement in ast.parse(code.text).body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                found += [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    return tuple(found)


class _Imports(dict[str, Any]):
    """A namespace that runs imports when it is first asked for a name that it does not have."""

    def __init__(self, imports: tuple[Code, ...]) -> None:
        super().__init__()
        self._pending = imports

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - whatever an import brings
        pending, self._pending = self._pending, ()
        found: dict[str, Any] = {}
        for code in pending:
            exec(compile(code.text, code.span.file if code.span else "<spec>", "exec"), found)
        self.update(found)
        if name not in self:
            raise KeyError(name)
        return self[name]
