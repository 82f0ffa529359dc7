"""Specification files in XML, as THEMIS has them.

A file has specifications with an id and a class, whose children are methods that are called with their text; and
templates of such, with holes (`%name%`) that instances fill. Entities and document types are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from xml.parsers import expat

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load.build import Converter, Loaded, Synthesis, check_new, converted_monitor, formula_monitor
from mopsus.decentral.load.written import Origin, Written
from mopsus.decentral.specification import Monitor, Specification
from mopsus.logics.text import suggestion
from mopsus.model import Span

MAX_DEPTH = 20
"""No specification is nested deeper than four elements; this only bounds what a damaged file may do."""

FORMULA_CLASSES = ("LTL", "SpecLTL")
CONVERTER_CLASSES = ("RTLConv", "SpecRTLConv", "LamaConv", "SpecLamaConv")
"""Last parts of class names; the packages that they are in do not matter."""


def read_xml(data: bytes, file: str, synthesis: Synthesis, converters: Mapping[str, Converter]) -> Loaded:
    """The specification in `data`. Errors as those of `load_specification`."""
    root = _Reader(file, data).root
    if root.name != "specifications":
        raise root.error(f"<{root.name}> instead of <specifications>", hint="put all in <specifications>")
    templates: dict[str, _Element] = {}
    written: list[_Element] = []
    for element in root.children:
        match element.name:
            case "specification":
                written.append(element)
            case "template":
                name = element.attribute("id")
                check_new(name, templates, "template")
                templates[name.text] = element
            case "instanciate" | "instantiate":
                written += _instance(element, templates)
            case _:
                raise element.error(
                    f"<{element.name}> is not known here", hint="use <specification>, <template> or <instanciate>"
                )
    monitors: dict[str, Monitor] = {}
    for element in written:
        name = element.attribute("id")
        check_new(name, monitors, "specification")
        monitors[name.text] = _monitor(element, name, synthesis, converters)
    return Loaded(Specification(monitors))


@dataclass(slots=True)
class _Element:
    """An element with its place; `text` is what stands in it outside of other elements."""

    name: str
    tag: Written
    attributes: dict[str, str]
    children: list[_Element] = field(default_factory=list)
    pieces: list[tuple[str, int, int]] = field(default_factory=list)

    @property
    def text(self) -> Written:
        origins, text = list[Origin](), ""
        for piece, line, column in self.pieces:
            origins.append(Origin(len(text), line, column))
            text += piece
        if not origins:
            return Written("", self.tag.file, self.tag.lines, self.tag.origins)
        return Written(text, self.tag.file, self.tag.lines, tuple(origins)).stripped()

    def attribute(self, name: str) -> Written:
        if name not in self.attributes:
            raise self.error(f"<{self.name}> has no {name}", hint=f'write <{self.name} {name}="…">')
        origin = self.tag.origins[0]._replace(inserted=True)
        return Written(self.attributes[name], self.tag.file, self.tag.lines, (origin,))

    def error(self, message: str, *, hint: str = "", code: str = "DECENTRAL-032") -> DecentralError:
        return self.tag.error(message, hint=hint, code=code)

    def filled(self, values: Mapping[str, str]) -> _Element:
        """The element with the holes of all its texts filled."""
        text = self.text.filled(values) if not self.children else self.text
        return _Filled(
            self.name,
            self.tag,
            {name: self.attribute(name).filled(values).text for name in self.attributes},
            [child.filled(values) for child in self.children],
            given=text,
        )


@dataclass(slots=True)
class _Filled(_Element):
    """An element of an instance."""

    given: Written = field(kw_only=True)

    @property
    def text(self) -> Written:
        return self.given


class _Reader:
    """Makes elements of what the XML parser finds."""

    def __init__(self, file: str, data: bytes) -> None:
        self._file = file
        self._lines = tuple(data.decode("utf-8", "replace").splitlines())
        self._open: list[_Element] = []
        self._found: _Element | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = False
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            message, place = expat.ErrorString(error.code), (error.lineno, error.offset + 1)
            raise self._here(message, "DECENTRAL-031", *place) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not have, or the parser cannot use
            raise self._here(str(error), "DECENTRAL-031", 1, 1, "write the file in UTF-8") from None
        assert self._found is not None  # the parser refuses a file without an element
        self.root: _Element = self._found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line, column = self._place()
        if len(self._open) >= MAX_DEPTH:
            raise self._here("elements are nested too deeply", "DECENTRAL-031", line, column)
        tag = Written(f"<{name}", self._file, self._lines, (Origin(0, line, column),))
        element = _Element(name, tag, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._found = element
        self._open.append(element)

    def _end(self, name: str) -> None:
        element = self._open.pop()
        if element.children and (text := element.text).text:
            raise text.error(f"text between the elements of <{name}>", code="DECENTRAL-032", hint="remove it")

    def _text(self, data: str) -> None:
        self._open[-1].pieces.append((data, *self._place()))

    def _doctype(self, *_: object) -> None:
        raise self._here("a document type is not read", "DECENTRAL-031", *self._place(), hint="remove <!DOCTYPE …>")

    def _place(self) -> tuple[int, int]:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _here(self, message: str, code: str, line: int, column: int, hint: str = "") -> DecentralError:
        span = Span(self._file, line, column, line, column + 1)
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return DecentralError(message, hint=hint, code=code, place=span, line=text)


def _instance(element: _Element, templates: Mapping[str, _Element]) -> list[_Element]:
    """The specifications of a template with its holes filled."""
    name = element.attribute("template")
    template = templates.get(name.text)
    if template is None:
        raise name.error(
            f"there is no template '{name.text}' before this",
            code="DECENTRAL-035",
            hint=suggestion(name.text, templates),
        )
    values: dict[str, str] = {}
    for child in element.children:
        if child.name in values:
            raise child.error(f"'{child.name}' is given twice", code="DECENTRAL-035")
        values[child.name] = child.text.text
    wanted, inner = _template(template)
    for child in element.children:
        if child.name not in wanted:
            hint = suggestion(child.name, wanted)
            raise child.error(f"'{child.name}' is no argument of '{name.text}'", hint=hint, code="DECENTRAL-035")
    if missing := [each for each in wanted if each not in values]:
        raise element.error(
            f"template '{name.text}' needs a value for '{missing[0]}'",
            hint=f"write <{missing[0]}>…</{missing[0]}>",
            code="DECENTRAL-035",
        )
    return [each.filled(values) for each in inner]


def _template(template: _Element) -> tuple[list[str], list[_Element]]:
    """The arguments of a template, and the specifications in it."""
    arguments: list[str] = []
    inner: list[_Element] = []
    for child in template.children:
        if child.name == "arg":
            check_new(child.text, arguments, "argument")
            arguments.append(child.text.text)
        elif child.name == "specification":
            inner.append(child)
        else:
            raise child.error(f"<{child.name}> is not known in a template", hint="use <arg> or <specification>")
    return arguments, inner


def _monitor(element: _Element, name: Written, synthesis: Synthesis, converters: Mapping[str, Converter]) -> Monitor:
    kind = element.attribute("class")
    short = kind.text.rpartition(".")[2]
    for child in element.children:
        if child.children:
            raise child.children[0].error(f"<{child.name}> has text only")
    if kind.text in converters or short in converters:
        converter = converters[kind.text if kind.text in converters else short]
        return converted_monitor(name, converter([(each.name, each.text.text) for each in element.children]))
    if short in FORMULA_CLASSES:
        return formula_monitor(name, _called_once(element, "setLTL"), None, synthesis)
    if short in CONVERTER_CLASSES:
        return formula_monitor(name, _converted(element), None, synthesis)
    raise kind.error(
        f"class '{kind.text}' is not known",
        code="DECENTRAL-034",
        hint=suggestion(short, (*FORMULA_CLASSES, *CONVERTER_CLASSES, *converters)),
    )


def _called_once(element: _Element, method: str) -> Written:
    """The text of the one child, which must have this name; the last one counts, as a setter may be called again."""
    for child in element.children:
        if child.name != method:
            raise child.error(
                f"a specification of this class has no '{child.name}'", code="DECENTRAL-034", hint=f"use <{method}>"
            )
    if not element.children:
        raise element.error(f"<{method}> is missing", hint=f"write <{method}>…</{method}>")
    return element.children[-1].text


def _converted(element: _Element) -> Written:
    """The formula in the input of an external converter, where that is one that needs no converter."""
    formula: Written | None = None
    for child in element.children:
        if child.name not in ("arg", "line"):
            raise child.error(f"a converter has no '{child.name}'", code="DECENTRAL-034", hint="use <arg> and <line>")
        text = child.text
        if child.name == "line" and text.text.startswith("LTL="):
            # As many characters as there were, so that places stay right.
            formula = replace(text, text=" " * len("LTL=") + text.text[len("LTL=") :].partition(",ALPHABET")[0])
        elif child.name == "line":
            raise text.error(
                "this language needs an external converter",
                code="DECENTRAL-034",
                hint="write it as LTL=…, or give a converter for the class",
            )
    if formula is None:
        raise element.error("<line> is missing", hint="write <line>LTL=…</line>")
    return formula
