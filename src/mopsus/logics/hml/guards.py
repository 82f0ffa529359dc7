"""Stage 2: Python guards of formulas made into functions of the values that they read.

Nothing of a guard runs when its formula is compiled. The imports of the spec run when a guard first uses what they
bring.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any

from mopsus.logics.hml.formula import PythonGuard
from mopsus.logics.hml.scope import Scope
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import suggestion
from mopsus.model import Code
from mopsus.model.symbolic import PythonTest


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
    return PythonTest(function, tuple(scope.slots[name] for name in read), guard.text)


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
