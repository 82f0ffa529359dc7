"""Stage 1: names in the Python of a specification that nothing can ever give a value to.

What a name means is decided by Python's own rules (`symtable`), with the code as the body of a function, as it is run.
A name is unknown only if it certainly is: code that makes names in ways which cannot be read off (`from x import *`,
`exec`, `globals`) is believed.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from mopsus.model import Code, Event, Span, Spec
from mopsus.spec.diagnostics import suggest
from mopsus.spec.errors import Findings

SPECIAL = ("__RESET", "__SKIP", "__LOC", "__MONITOR", "__DEFAULT_MESSAGE")
"""Names that the language gives to the code of a `.mop` file."""

_GIVEN = frozenset({"__name__", "__builtins__", "__class__", "__annotations__", "__module__", "__qualname__", "_"})
"""Names that code has without anybody's doing; `_` is what `gettext` installs."""
_MAKERS = frozenset({"exec", "globals", "builtins", "__builtins__", "__import__"})
"""Code that reads one of these can make any name."""
_BUILTINS = frozenset(name for name in vars(builtins) if not name.startswith("_"))
_ALL = "*"


@dataclass(frozen=True, slots=True)
class Use:
    """A name that code reads and does not make, and where it does so first: a line of the code, from 1."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Names:
    """What a piece of code does with names that are not its own."""

    read: tuple[Use, ...] = ()
    made: frozenset[str] = frozenset()
    """Names that all code in the same namespace knows from then on; `*`: any."""


def names_of(body: list[ast.stmt], known: Collection[str], *, shared: bool = False) -> Names:
    """What code does with names. With `shared`, what it assigns at its top is known to all code of its namespace.

    Names that are `known` to it are not looked into.
    """
    loads = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Name)]
    made = {_ALL} if any(node.id in _MAKERS for node in loads) else {_ALL} & set(_brought(body))
    if shared or any(isinstance(node, ast.Global) for part in body for node in ast.walk(part)):
        made |= set(_assigned_globally(body, shared=shared))
    suspects = {node.id for node in loads if isinstance(node.ctx, ast.Load)} - made
    suspects = {name for name in suspects if name not in known and not is_given(name)}
    if not suspects or _ALL in made:
        return Names((), frozenset(made))
    free = suspects & _read_globally(body)
    probed = set(_probed(body))
    first: dict[str, int] = {}
    for node in sorted(loads, key=lambda node: (node.lineno, node.col_offset)):
        if node.id in free and node.id not in probed:
            first.setdefault(node.id, node.lineno)
    return Names(tuple(Use(*each) for each in first.items()), frozenset(made))


def is_given(name: str) -> bool:
    """Is it a builtin, or a name that all code has?"""
    return name in _GIVEN or hasattr(builtins, name)


def imported_names(imports: Iterable[Code]) -> frozenset[str]:
    """The names that import statements bring; `*`: any."""
    return frozenset(name for code in imports for name in _brought(parse_code(code.text)))


def _brought(body: list[ast.stmt]) -> Iterator[str]:
    """What imports among some statements bring; who has `builtins` may put any name there."""
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.alias):
                yield _ALL if node.name in (_ALL, "builtins") else node.asname or node.name.partition(".")[0]


def names_made_by(text: str) -> frozenset[str]:
    """The names that a file of Python gives to whoever runs it; `*`: any."""
    return names_of(parse_code(text), (), shared=True).made


def parse_code(text: str) -> list[ast.stmt]:
    """The statements of some code; none if it is not valid, which was reported where it was read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def check_names(spec: Spec, findings: Findings) -> None:
    """Report names in conditions, actions, handlers and initial values that nothing gives a value to."""
    known = imported_names(spec.imports)
    known |= {parameter.name for parameter in spec.parameters} | {variable.name for variable in spec.variables}
    known |= frozenset(SPECIAL)
    if _ALL in known:
        return
    pieces = [(what, event, code, names_of(_body(code), known)) for what, event, code in _pieces(spec)]
    made = frozenset().union(*(names.made for _, _, _, names in pieces))
    if _ALL in made:
        return
    for what, event, code, names in pieces:
        for use in names.read:
            if use.name not in made:
                _report(spec, what, event, code, use, known | made, findings)


def check_shared(
    pieces: Iterable[tuple[Code, Collection[str]]],
    known: Collection[str],
    where: str,
    findings: Findings,
    *,
    shared: bool = True,
) -> None:
    """Report unknown names in pieces of code, each of which sees some values beside what is `known` to all.

    With `shared`, what one of them assigns is known to all. `where` says what they can see.
    """
    if _ALL in known:
        return
    read = [(code, seen, names_of(_body(code), {*known, *seen}, shared=shared)) for code, seen in pieces]
    made = frozenset[str]().union(*(names.made for _, _, names in read))
    if _ALL in made:
        return
    for code, seen, names in read:
        for use in names.read:
            if use.name not in made:
                near = suggest(use.name, sorted({*known, *seen, *made, *_BUILTINS}))
                hint = f"did you mean '{near}'?" if near else where
                findings.error("SPEC-090", f"'{use.name}' is not defined here", place_of(code, use, findings), hint)


def place_of(code: Code, use: Use, findings: Findings) -> Span | None:
    """Where a name stands in the source that code was written in; the whole code, if that is not known."""
    if code.span is None:
        return None
    line = code.span.line + use.line - 1
    text = findings.source.line(line) if code.span.file == findings.source.file else ""
    start = code.span.column - 1 if use.line == 1 else 0
    found = re.compile(rf"(?<![\w.]){re.escape(use.name)}(?!\w)").search(text, start)
    if found is None:
        return code.span
    return Span(code.span.file, line, found.start() + 1, line, found.end() + 1)


def _pieces(spec: Spec) -> Iterator[tuple[str, Event | None, Code]]:
    for variable in spec.variables:
        yield "an initial value", None, variable.initial
    for event in spec.events:
        if event.condition is not None:
            yield "a condition", event, event.condition
        if event.action is not None:
            yield "an action", event, event.action
    for prop in spec.properties:
        for handler in prop.handlers:
            if handler.code is not None:
                yield "a handler", None, handler.code


def _body(code: Code) -> list[ast.stmt]:
    if code.function is not None:  # it has a module of its own
        return []
    return parse_code(code.text.strip("\n")) or parse_code(code.text.strip())


def _report(
    spec: Spec, what: str, event: Event | None, code: Code, use: Use, known: Collection[str], findings: Findings
) -> None:
    span, name = place_of(code, use, findings), use.name
    owners = [each for each in spec.events if name in each.fields]
    if owners:
        owner = event if event in owners else owners[0]
        parameters = ", ".join((*(parameter.name for parameter in spec.parameters), name))
        message = f"'{name}' is a field of event '{owner.name}', which {what} cannot see"
        hint = (
            f"make it a parameter, {spec.name}({parameters}), before the semicolon of the event; or look at it in "
            "a property in efsm; rows of a trace are chosen by row(…)"
        )
        findings.error("SPEC-091", message, span, hint)
        return
    near = suggest(name, sorted({*known, *_BUILTINS}))
    if near:
        hint = f"did you mean '{near}'?"
    elif what == "a condition":
        hint = "it can see parameters, variables and what is imported; a column of a trace is tested by row(…)"
    else:
        hint = "it can see parameters, variables and what is imported"
    findings.error("SPEC-090", f"'{name}' is not defined here", span, hint)


def _read_globally(body: list[ast.stmt]) -> set[str]:
    """The names that the code, as the body of a function, would look for outside of it."""
    import symtable  # only for code that reads what is not known at once

    function = ast.parse("def code(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = body or [ast.Pass()]
    module = _Unannotated().visit(ast.fix_missing_locations(ast.Module([function], [])))
    try:
        table = symtable.symtable(ast.unparse(module), "<spec>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    tables = list(table.get_children())
    while tables:
        table = tables.pop()
        found |= {each.get_name() for each in table.get_symbols() if each.is_referenced() and each.is_global()}
        tables += table.get_children()
    return found


class _Unannotated(ast.NodeTransformer):
    """Annotations of variables in functions are not evaluated; those of arguments are seldom meant to be."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        value = node.value if node.value is not None else ast.Constant(None)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.copy_location(ast.arg(node.arg), node)


def _assigned_globally(body: list[ast.stmt], *, shared: bool) -> Iterator[str]:
    """The names that code makes for all code of its namespace: declared `global`, or assigned at the top."""
    from mopsus.spec.prop.python import assigned

    if shared:
        yield from (name for name, _ in assigned(body))
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Global):
                yield from node.names


def _probed(body: list[ast.stmt]) -> Iterator[str]:
    """Names that code reads ready for their not being there."""
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Try) and any(_catches_names(handler) for handler in node.handlers):
                yield from (each.id for inner in node.body for each in ast.walk(inner) if isinstance(each, ast.Name))


def _catches_names(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and any(
        isinstance(node, ast.Name) and node.id == "NameError" for node in ast.walk(handler.type)
    )
