"""Stage 1: text in, specifications out, with every independent error found in one go."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mopsus.model import Code, Diagnostic, Event, Handler, Pointcut, Property, Severity, Span, Spec, Variable
from mopsus.model.text import printable
from mopsus.spec.check import check_logic, check_spec, check_unique_specs, read_modifiers
from mopsus.spec.errors import Findings, SpecError
from mopsus.spec.grammar import Meaning, Setting, read_header, read_item, read_pointcut, split_condition
from mopsus.spec.hml.script import Script, is_script, make_spec, read_script
from mopsus.spec.prop import is_property
from mopsus.spec.scan import SETTINGS, Item, RawFile, RawSpec, scan, scan_pointcut
from mopsus.spec.source import Source

if TYPE_CHECKING:
    from mopsus.spec.prop.tree import Automaton, Declared

MAX_SIZE = 4 * 1024 * 1024
"""No specification is larger than this many characters; a file that is was named by mistake."""


@dataclass(frozen=True, slots=True)
class SpecFile:
    """What a specification file says. `source` serves to place faults that later stages find."""

    imports: tuple[Code, ...]
    specs: dict[str, Spec]
    warnings: tuple[Diagnostic, ...]
    source: Source = field(repr=False)
    layout: Layout | Script | Automaton[Declared] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Layout:
    """The items that the parts of a file were read from, with their comments, for the formatter."""

    file: RawFile
    imports: tuple[Item, ...]
    specs: tuple[SpecLayout, ...]


@dataclass(frozen=True, slots=True)
class SpecLayout:
    """The items of one spec, in the order of the model's tuples."""

    raw: RawSpec
    settings: dict[str, Item] = field(default_factory=dict)
    variables: list[Item] = field(default_factory=list)
    events: list[Item] = field(default_factory=list)
    properties: list[tuple[Item, list[Item]]] = field(default_factory=list)


def parse(text: str, filename: str = "<string>") -> dict[str, Spec]:
    """The specifications in a text, by name, in the order written. Raises `SpecError` with every error found."""
    return parse_file(text, filename).specs


def load(path: str | os.PathLike[str]) -> dict[str, Spec]:
    """The specifications in a file, by name, in the order written. Raises `SpecError` with every error found."""
    return load_file(path).specs


def load_file(path: str | os.PathLike[str], *, logics: Collection[str] | None = None) -> SpecFile:
    """Like `load`, with the file's imports and warnings."""
    return parse_file(read_text(path), os.fspath(path), logics=logics)


def read_text(path: str | os.PathLike[str]) -> str:
    """What a file says; `SpecError` if it cannot be read."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            data = file.read(4 * MAX_SIZE + 1)  # a device has no end
        if len(data) > 4 * MAX_SIZE:
            message = f"cannot read {printable(name)}: it has more than {4 * MAX_SIZE:,} bytes"
            raise SpecError([Diagnostic("SPEC-029", message, hint="is it a specification?")])
        return data.decode("utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError([Diagnostic("SPEC-029", f"cannot read {name}: {reason}")]) from None
    except UnicodeDecodeError as error:
        raise SpecError([_not_utf8(name, error)]) from None
    except ValueError as error:  # a NUL byte in the name
        raise SpecError([Diagnostic("SPEC-029", f"cannot read {printable(name)}: {error}")]) from None


def parse_file(text: str, filename: str = "<string>", *, logics: Collection[str] | None = None) -> SpecFile:
    """Like `parse`, with the text's imports and warnings.

    A text whose file ends in `.hml` has forms about components, one whose file ends in `.prop` is a property of a
    debugged program. `logics` are the names that a property of any other may begin with; by default those of the
    installed logics.
    """
    if len(text) > MAX_SIZE:
        message = f"{filename} has {len(text)} characters"
        raise SpecError([Diagnostic("SPEC-029", message, hint="is it a specification?")])
    findings = Findings(Source(text, filename))
    if "\0" in text:
        at = findings.source.text.index("\0")
        hint = "save it as UTF-8; UTF-16 is full of them"
        findings.error_at("SPEC-029", f"{filename} has a NUL character", at, at + 1, hint)
        findings.finish()
    if is_script(filename):
        script = read_script(findings)
        spec = make_spec(script, findings)
        return SpecFile((), {spec.name: spec}, findings.finish(), findings.source, script)
    if is_property(filename):
        from mopsus.spec.prop.reader import read_property  # few files are
        from mopsus.spec.prop.spec import make_spec as make_property_spec

        automaton = read_property(findings)
        spec = make_property_spec(automaton, findings)
        return SpecFile((), {spec.name: spec}, findings.finish(), findings.source, automaton)
    raw = scan(findings)
    reader = _Reader(findings, logics)
    imports = tuple(filter(None, map(reader.import_line, raw.imports)))
    read = [reader.spec(spec, imports) for spec in raw.specs]
    specs = [spec for spec, _ in read if spec is not None]
    check_unique_specs(specs, findings)
    layout = Layout(raw, tuple(raw.imports), tuple(layout for _, layout in read))
    found = findings.finish()
    return SpecFile(imports, {spec.name: spec for spec in specs}, found, findings.source, layout)


def parse_pointcut(findings: Findings) -> tuple[Code | None, Pointcut | None]:
    """The condition and the rest of a pointcut that stands alone as the text of `findings.source`."""
    return split_condition(read_pointcut(scan_pointcut(findings), findings), findings)


def _not_utf8(name: str, error: UnicodeDecodeError) -> Diagnostic:
    before = error.object[: error.start].decode("utf-8", "replace")
    source = Source(before, name)
    span = source.span(len(source.text), len(source.text) + 1)
    message = f"{name} is not UTF-8: {error.reason}"
    return Diagnostic("SPEC-029", message, span, "save it as UTF-8", source.line(span.line))


class _Reader:
    """Puts the items of a spec together."""

    def __init__(self, findings: Findings, logics: Collection[str] | None) -> None:
        self.findings = findings
        self.logics = logics

    def import_line(self, item: Item) -> Code | None:
        lexeme = item.lexemes[0]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                statements = ast.parse(lexeme.text).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            statements = []
        if len(statements) != 1 or not isinstance(statements[0], (ast.Import, ast.ImportFrom)):
            hint = "write 'import module' or 'from module import name'"
            self.findings.error_at("SPEC-008", "not an import statement", lexeme.start, lexeme.end, hint)
            return None
        return Code(ast.unparse(statements[0]), self.findings.source.span(lexeme.start, lexeme.end))

    def spec(self, raw: RawSpec, imports: tuple[Code, ...]) -> tuple[Spec | None, SpecLayout]:
        header = read_header(raw.header, self.findings)
        parts = _Parts(SpecLayout(raw))
        for item in raw.items:
            self.add(parts, item, read_item(item, self.findings))
        if header is None:
            return None, parts.layout
        modifiers = read_modifiers(header.modifiers, self.findings)
        spec = Spec(
            header.name,
            header.parameters,
            modifiers,
            tuple(parts.variables),
            tuple(parts.events),
            tuple(parts.properties),
            parts.severity,
            parts.doc,
            imports,
            header.span,
        )
        if not parts.broken:
            check_spec(spec, self.findings, parts.places)
        return spec, parts.layout

    def add(self, parts: _Parts, item: Item, meaning: Meaning | None) -> None:
        """File a parsed item under what it is."""
        layout = parts.layout
        match meaning:
            case None:
                parts.broken = True
                if _is_property(item):
                    parts.lost_property = True
            case Variable():
                parts.variables.append(meaning)
                layout.variables.append(item)
            case (Event() as event, dict(places)):
                parts.events.append(event)
                parts.places |= {(event.name, name): span for name, span in places.items()}
                layout.events.append(item)
            case (Property() as prop, Span() as span):
                check_logic(prop.logic, span, self.logics, self.findings, SETTINGS)
                parts.properties.append(replace(prop, name=property_name(prop.logic, parts.properties)))
                parts.lost_property = False
                layout.properties.append((item, []))
            case Handler():
                self.add_handler(parts, item, meaning)
            case Setting():
                self.add_setting(parts, item, meaning)

    def add_handler(self, parts: _Parts, item: Item, handler: Handler) -> None:
        if parts.lost_property:
            return
        if not parts.properties:
            message = f"handler '@{handler.category}' belongs to no property"
            self.findings.error("SPEC-011", message, handler.span, "write it after the property that it handles")
            return
        last = parts.properties[-1]
        parts.properties[-1] = replace(last, handlers=(*last.handlers, handler))
        parts.layout.properties[-1][1].append(item)

    def add_setting(self, parts: _Parts, item: Item, setting: Setting) -> None:
        if setting.name in parts.layout.settings:
            self.findings.error("SPEC-035", f"'{setting.name}:' is given twice", setting.span, "keep one of them")
        parts.layout.settings[setting.name] = item
        if isinstance(setting.value, Severity):
            parts.severity = setting.value
        elif setting.value is not None:
            parts.doc = setting.value


class _Parts:
    """A spec while it is read. `lost_property`: handlers that follow belong to a property that was not understood."""

    def __init__(self, layout: SpecLayout) -> None:
        self.layout = layout
        self.severity: Severity | None = None
        self.doc = ""
        self.variables: list[Variable] = []
        self.events: list[Event] = []
        self.properties: list[Property] = []
        self.places: dict[tuple[str, str], Span] = {}
        self.broken = False
        self.lost_property = False


def property_name(logic: str, before: list[Property]) -> str:
    """A property's name: that of its logic, with a number from the second of the same logic on."""
    taken = {prop.name for prop in before}
    number = 1 + sum(prop.logic == logic for prop in before)
    name = logic if number == 1 else f"{logic}{number}"
    while name in taken:
        number += 1
        name = f"{logic}{number}"
    return name


def _is_property(item: Item) -> bool:
    return len(item.lexemes) > 1 and item.lexemes[0].type == "WORD" and item.lexemes[1].type == ":"
