"""Stage 1: a specification written as a Python class.

    @specification("full-binding", doc="a stale iterator is used", severity="warning")
    class UnsafeMapIter:
        m = param()
        c = param()
        i = param("collections.abc.Iterator+", by="identity")
        uses: int = var(0)

        @event(creation=True)
        def create_coll(self, m, c): ...
        @event(pointcut='named("next")', condition=lambda self: self.uses < 3)
        def use_iter(self, i):
            self.uses += 1

        stale = property("ere", "create_coll use_iter+")

        @stale.on("match", severity="error")
        def report(self, i):
            print("stale", i, "at", self.location)

The decorated name is the `Spec` itself, equal to the one that the same text in a `.mop` file gives.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from mopsus.model import Code, Diagnostic, Event, Handler, Parameter, Property, Severity, Span, Spec, Variable
from mopsus.spec.check import check_logic, check_spec, read_modifiers
from mopsus.spec.errors import Findings, SpecError
from mopsus.spec.formula import normalise_as
from mopsus.spec.parser import parse_pointcut, property_name
from mopsus.spec.source import Source

T = TypeVar("T")
Function = Callable[..., Any]
_IDLE = frozenset({"RESUME", "NOP", "RETURN_VALUE"})
_CONSTANT = frozenset({"LOAD_CONST", "RETURN_CONST"})


@dataclass(frozen=True, slots=True)
class _Param:
    type: str | None
    by: str | None


@dataclass(frozen=True, slots=True)
class _Var:
    make: Callable[[], Any]
    text: str


@dataclass(slots=True)
class _Event:
    function: Function
    creation: bool
    pointcut: str
    condition: Function | str | None
    advice: str | None
    returning: str | None
    raising: str | None
    fields: tuple[str, ...]


@dataclass(slots=True)
class _Handled:
    category: str
    severity: str | None
    line: int
    function: Function | None = None


@dataclass(slots=True)
class property:
    """A property in a class: the name of a logic and a formula. Its handlers are added by `on`."""

    logic: str
    formula: str
    _line: int = field(default=0, init=False)
    _handlers: list[_Handled] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._line = _caller_line(3)

    def on(self, category: str, *, severity: str | None = None) -> Callable[[Function], Function]:
        """Handle a category: alone, it reports; as a decorator, it also calls the function."""
        handled = _Handled(category, severity, _caller_line(2))
        self._handlers.append(handled)

        def attach(function: Function) -> Function:
            handled.function = function
            return function

        return attach


def param(type: str | None = None, *, by: str | None = None) -> object:
    """A parameter; its name is that of the attribute, the order that of the class body."""
    return _Param(type, by)


@overload
def var(initial: T) -> T: ...
@overload
def var(*, factory: Callable[[], T]) -> T: ...
def var(initial: Any = None, *, factory: Callable[[], Any] | None = None) -> Any:
    """A monitor variable. A value that can change, such as a list, needs a `factory` that makes a new one."""
    if factory is not None:
        return _Var(factory, _lambda_text(factory) or f"{getattr(factory, '__name__', 'factory')}()")
    if getattr(type(initial), "__hash__", None) is None:
        message, hint = f"every monitor would share this {type(initial).__name__}", "write var(factory=…)"
        raise SpecError([_diagnostic("SPEC-047", message, hint, 2)])
    return _Var(lambda: initial, repr(initial))


@overload
def event(function: Function, /) -> object: ...
@overload
def event(
    *,
    creation: bool = False,
    pointcut: str = "",
    condition: Function | str | None = None,
    advice: str | None = None,
    returning: str | None = None,
    raising: str | None = None,
    fields: tuple[str, ...] = (),
) -> Callable[[Function], object]: ...
def event(
    function: Function | None = None,
    /,
    *,
    creation: bool = False,
    pointcut: str = "",
    condition: Function | str | None = None,
    advice: str | None = None,
    returning: str | None = None,
    raising: str | None = None,
    fields: tuple[str, ...] = (),
) -> object:
    """An event named like the method, binding the parameters that the method names; its body is the action.

    A body that does nothing (`...`, `pass`, a docstring) is no action. `fields` are the names of the data that the
    event carries for formulas that read it; the method does not name them.
    """

    def declare(method: Function) -> _Event:
        return _Event(method, creation, pointcut, condition, advice, returning, raising, tuple(fields))

    return declare if function is None else declare(function)


@overload
def specification(cls: type, /) -> Spec: ...
@overload
def specification(
    modifiers: str = "", /, *, doc: str = "", severity: str | None = None, logics: Collection[str] | None = None
) -> Callable[[type], Spec]: ...
def specification(
    modifiers: str | type = "", /, *, doc: str = "", severity: str | None = None, logics: Collection[str] | None = None
) -> Spec | Callable[[type], Spec]:
    """Turn a class into a `Spec`. Raises `SpecError` with every error found, placed in the class's own file.

    `@specification` alone is `@specification()`. `logics` are the names that a property may use; by default those of
    the installed logics.
    """
    file, line = _caller(2)

    def build(cls: type) -> Spec:
        source = Source("".join(linecache.getlines(file)), file)
        findings = Findings(source)
        spec = _ClassReader(cls, findings, _line_span(source, file, line)).spec(words, doc, severity, logics)
        findings.finish()
        return spec

    words = modifiers if isinstance(modifiers, str) else ""
    return build if isinstance(modifiers, str) else build(modifiers)


class _ClassReader:
    """Reads the attributes of a class in the order of its body."""

    def __init__(self, cls: type, findings: Findings, span: Span) -> None:
        self.cls = cls
        self.findings = findings
        self.span = span
        self.parameters: list[Parameter] = []
        self.variables: list[Variable] = []
        self.events: list[Event] = []
        self.properties: list[Property] = []

    def spec(self, modifiers: str, doc: str, severity: str | None, logics: Collection[str] | None) -> Spec:
        annotations: Mapping[str, Any] = inspect.get_annotations(self.cls)
        for name, value in vars(self.cls).items():
            match value:
                case _Param():
                    self.parameters.append(self.parameter(name, value))
                case _Var():
                    kind = inspect.formatannotation(annotations[name]) if name in annotations else None
                    kind = annotations[name] if isinstance(annotations.get(name), str) else kind
                    code = Code(value.text, function=_initialiser(value.make))
                    self.variables.append(Variable(name, kind, code, self.span))
                case _Event():
                    self.events.append(self.event(name, value))
                case property():
                    self.properties.append(self.property(value, logics))
        spec = Spec(
            self.cls.__name__,
            tuple(self.parameters),
            read_modifiers([(word, self.span) for word in modifiers.split()], self.findings),
            tuple(self.variables),
            tuple(self.events),
            tuple(self.properties),
            self.severity(severity, self.span),
            doc,
            span=self.span,
        )
        check_spec(spec, self.findings)
        return spec

    def parameter(self, name: str, declared: _Param) -> Parameter:
        if declared.by not in (None, "identity", "equality"):
            kinds = ("identity", "equality")
            self.findings.unknown("SPEC-028", "way to tell values apart", str(declared.by), kinds, self.span)
        return Parameter(name, declared.type, declared.by, self.span)

    def severity(self, name: str | None, span: Span) -> Severity | None:
        from mopsus.spec.grammar import parse_severity

        return None if name is None else parse_severity(name, span, self.findings)

    def event(self, name: str, declared: _Event) -> Event:
        span = self.function_span(declared.function)
        names = _argument_names(declared.function)
        if declared.advice not in (None, "before", "after", "around"):
            self.findings.unknown("SPEC-014", "advice", str(declared.advice), ("before", "after", "around"), span)
        results = [result for result in (declared.returning, declared.raising) if result is not None]
        if results and (declared.advice != "after" or len(results) > 1):
            self.findings.error("SPEC-015", "'returning' or 'raising' needs advice='after', once", span)
        if any(result and result not in names for result in results):
            hint = "add it to the method's parameters"
            self.findings.error("SPEC-012", f"the method does not name '{results[0]}'", span, hint)
        condition, pointcut = self.pointcut(declared.pointcut, span)
        if declared.condition is not None:
            condition = self.condition(declared.condition, span)
        return Event(
            name,
            tuple([given for given in names if given not in results] + [given for given in names if given in results]),
            declared.creation,
            declared.advice,
            declared.returning,
            declared.raising,
            pointcut,
            condition,
            self.code(declared.function),
            declared.fields,
            span,
        )

    def pointcut(self, text: str, span: Span) -> tuple[Code | None, Any]:
        if not text:
            return None, None
        inner = Findings(Source(text, span.file))
        parsed = parse_pointcut(inner)
        for found in inner.errors:
            column = found.span.column if found.span else 1
            self.findings.error(found.code, f"{found.message} (column {column} of the pointcut)", span, found.hint)
        return parsed

    def condition(self, condition: Function | str, span: Span) -> Code:
        if isinstance(condition, str):
            inner = Findings(Source(f"condition({condition})", span.file))
            code, _ = parse_pointcut(inner)
            for found in inner.errors:
                self.findings.error(found.code, found.message, span, found.hint)
            return Code(code.text if code else condition, span)
        return Code(_lambda_text(condition) or condition.__name__, self.function_span(condition), condition)

    def property(self, declared: property, logics: Collection[str] | None) -> Property:
        span = self.line_span(declared._line)
        check_logic(declared.logic, span, logics, self.findings)
        formula, _ = normalise_as(declared.logic, declared.formula)
        if not formula:
            self.findings.error("SPEC-009", f"property '{declared.logic}' has no formula", span, "write the formula")
        handlers = []
        for handled in declared._handlers:
            code = None if handled.function is None else self.code(handled.function)
            at = self.line_span(handled.line)
            handlers.append(Handler(handled.category, code, self.severity(handled.severity, at), at))
        name = property_name(declared.logic, self.properties)
        return Property(name, declared.logic, formula, tuple(handlers), span)

    def code(self, function: Function) -> Code | None:
        """The function's body as text, with the function; None if the body does nothing."""
        if _does_nothing(function):
            return None
        text, span = self.body_text(function)
        return Code(text, span, function)

    def body_text(self, function: Function) -> tuple[str, Span]:
        span = self.function_span(function)
        try:
            lines, first = inspect.getsourcelines(function)
            tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            return function.__name__, span
        assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
        statements = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        begin, end = statements[0], statements[-1]
        at, last = first + begin.lineno - 1, first + (end.end_lineno or end.lineno) - 1
        if begin.lineno == tree.lineno:
            text = "; ".join(ast.unparse(statement) for statement in statements)
        else:
            text = textwrap.dedent("".join(lines[begin.lineno - 1 : end.end_lineno])).strip()
        return text, Span(span.file, at, 1, last, 1)

    def function_span(self, function: Function) -> Span:
        code = function.__code__
        return _line_span(self.findings.source, code.co_filename, code.co_firstlineno)

    def line_span(self, line: int) -> Span:
        return _line_span(self.findings.source, self.span.file, line)


def _line_span(source: Source, file: str, line: int) -> Span:
    """A whole line, without its indentation."""
    text = source.line(line)
    indent = len(text) - len(text.lstrip())
    return Span(file, line, indent + 1, line, max(len(text.rstrip()), indent + 1) + 1)


def _caller(depth: int) -> tuple[str, int]:
    frame = sys._getframe(depth)
    return frame.f_code.co_filename, frame.f_lineno


def _caller_line(depth: int) -> int:
    return _caller(depth + 1)[1]


def _diagnostic(code: str, message: str, hint: str, depth: int) -> Diagnostic:
    file, line = _caller(depth + 1)
    source = Source("".join(linecache.getlines(file)), file)
    return Diagnostic(code, message, _line_span(source, file, line), hint, source.line(line))


def _initialiser(make: Callable[[], Any]) -> Function:
    return lambda monitor: make()


def _argument_names(function: Function) -> list[str]:
    """The parameters after `self`."""
    code = function.__code__
    return list(code.co_varnames[1 : code.co_argcount])


def _does_nothing(function: Function) -> bool:
    return all(
        step.opname in _IDLE or (step.opname in _CONSTANT and step.argval is None)
        for step in dis.get_instructions(function)
    )


def _lambda_text(function: Function) -> str | None:
    """The body of a lambda as written, if it is one whose source is at hand and that is alone on its line."""
    if getattr(function, "__name__", "") != "<lambda>":
        return None
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    return ast.get_source_segment(text, found[0].body) if len(found) == 1 else None
